//! The outbox: messages that were to be sent and could not be. Of those that were sent, what they said.

mod retries;

use bytes::Bytes;
use hamlet_models::{EmailContent, EmailId, OutboxEmail, PageQuery, RunId, UserId};
use object_store::{ObjectStoreExt, path::Path};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect,
};
use uuid::Uuid;

pub use retries::WaitingEmail;

use crate::{Slice, Store, StoreError, clock::new_id, entity::outbox, objects::failed, rows};

/// The folder of their bytes among the objects.
pub(crate) const FOLDER: &str = "outbox";
/// The most messages that an account's outbox keeps; the oldest go first.
const KEPT: u64 = 100;
/// The most messages that were sent of which is kept what they said; the oldest go first.
const SENT_KEPT: u64 = 1_000;

impl Store {
    /// Keeps a message in its sender's outbox; `message` is all of it, as it would be sent, and `failure` says why it was
    /// not, if there was something to send it by: it is then tried again, by [`Store::list_due_emails`].
    pub async fn keep_email(
        &self,
        user_id: UserId,
        run_id: Option<RunId>,
        content: &EmailContent,
        message: Vec<u8>,
        failure: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut row = row_of(user_id, run_id, content)?;
        if let Some(failure) = failure {
            row.failure = Some(failure.to_owned());
            let created_at = rows::time(row.created_at);
            row.next_attempt_at = retries::next_attempt(created_at, created_at, row.attempts);
        }
        self.objects()
            .put(&path(row.id), Bytes::from(message).into())
            .await
            .map_err(failed)?;
        let dropped = self
            .change_vals(row, |row, tx| Box::pin(insert(row, tx)), |_, _| ())
            .await?;
        for id in dropped {
            self.drop_email(id).await;
        }
        Ok(())
    }

    /// Notes that a message was sent, and what it said.
    pub async fn note_sent_email(
        &self,
        user_id: UserId,
        run_id: Option<RunId>,
        content: &EmailContent,
    ) -> Result<(), StoreError> {
        let mut row = row_of(user_id, run_id, content)?;
        row.sent_at = Some(row.created_at);
        self.change_vals(row, |row, tx| Box::pin(insert(row, tx)), |_, _| ())
            .await
            .map(drop)
    }

    /// An account's outbox, newest first.
    pub async fn list_outbox(
        &self,
        user_id: UserId,
        page: PageQuery,
    ) -> Result<Slice<OutboxEmail>, StoreError> {
        let rows = waiting(user_id)
            .offset(page.offset)
            .limit(page.limit + 1)
            .all(&self.vals().readers)
            .await?;
        Slice::cut(rows, page.limit).try_map(listed)
    }

    /// What a run of this account sent or put into its outbox, the first first.
    pub async fn list_emails_of_run(
        &self,
        user_id: UserId,
        run: RunId,
    ) -> Result<Vec<OutboxEmail>, StoreError> {
        let rows = of_user(user_id)
            .filter(outbox::Column::RunId.eq(run.0))
            .all(&self.vals().readers)
            .await?;
        rows.into_iter().rev().map(listed).collect()
    }

    /// A message of an account's outbox, as it would be sent.
    pub async fn get_email(&self, user_id: UserId, id: EmailId) -> Result<Bytes, StoreError> {
        let row = waiting(user_id).filter(outbox::Column::Id.eq(id.0));
        let row = row.one(&self.vals().readers).await?;
        let row = row.ok_or(StoreError::NotFound("message"))?;
        let object = self.objects().get(&path(row.id)).await.map_err(failed)?;
        object.bytes().await.map_err(failed)
    }

    /// Deletes a message of an account's outbox.
    pub async fn delete_email(&self, user_id: UserId, id: EmailId) -> Result<(), StoreError> {
        self.change_vals(
            (user_id, id),
            |(user_id, id), tx| {
                Box::pin(async move {
                    let deleted = outbox::Entity::delete_many()
                        .filter(outbox::Column::UserId.eq(user_id.0))
                        .filter(outbox::Column::Id.eq(id.0))
                        .filter(outbox::Column::SentAt.is_null())
                        .exec(tx)
                        .await?;
                    match deleted.rows_affected {
                        0 => Err(StoreError::NotFound("message")),
                        _ => Ok(()),
                    }
                })
            },
            |_, ()| (),
        )
        .await?;
        self.drop_email(id.0).await;
        Ok(())
    }

    async fn drop_email(&self, id: Uuid) {
        if let Err(error) = self.objects().delete(&path(id)).await {
            tracing::warn!(%error, "the bytes of a message could not be deleted");
        }
    }
}

/// Inserts a row; answers those that have to go for it.
async fn insert(row: &outbox::Model, tx: &DatabaseTransaction) -> Result<Vec<Uuid>, StoreError> {
    outbox::Entity::insert(row.clone().into_active_model())
        .exec_without_returning(tx)
        .await?;
    trim(row.user_id.into(), row.sent_at.is_some(), tx).await
}

/// Deletes the oldest of an account's messages of which there are too many, those that were sent or those that wait;
/// answers which.
async fn trim(user_id: UserId, sent: bool, tx: &DatabaseTransaction) -> Result<Vec<Uuid>, StoreError> {
    let (kind, kept) = if sent {
        (outbox::Column::SentAt.is_not_null(), SENT_KEPT)
    } else {
        (outbox::Column::SentAt.is_null(), KEPT)
    };
    // An offset needs a limit; one more than may be goes for each that comes.
    let old = of_user(user_id)
        .filter(kind)
        .offset(kept)
        .limit(kept)
        .all(tx)
        .await?;
    let old: Vec<Uuid> = old.into_iter().map(|row| row.id).collect();
    outbox::Entity::delete_many()
        .filter(outbox::Column::Id.is_in(old.clone()))
        .exec(tx)
        .await?;
    Ok(old)
}

fn of_user(user_id: UserId) -> sea_orm::Select<outbox::Entity> {
    outbox::Entity::find()
        .filter(outbox::Column::UserId.eq(user_id.0))
        .order_by_desc(outbox::Column::CreatedAt)
        .order_by_desc(outbox::Column::Id)
}

fn waiting(user_id: UserId) -> sea_orm::Select<outbox::Entity> {
    of_user(user_id).filter(outbox::Column::SentAt.is_null())
}

fn row_of(
    user_id: UserId,
    run_id: Option<RunId>,
    content: &EmailContent,
) -> Result<outbox::Model, StoreError> {
    let (id, created_at) = new_id();
    Ok(outbox::Model {
        id,
        user_id: user_id.0,
        run_id: run_id.map(|run| run.0),
        content: rows::json_text(content)?,
        created_at: created_at.as_millis(),
        sent_at: None,
        failure: None,
        attempts: 0,
        next_attempt_at: None,
    })
}

fn listed(row: outbox::Model) -> Result<OutboxEmail, StoreError> {
    Ok(OutboxEmail {
        id: row.id.into(),
        created_at: rows::time(row.created_at),
        run_id: row.run_id.map(RunId::from),
        sent_at: row.sent_at.map(rows::time),
        failure: row.failure,
        next_attempt_at: row.next_attempt_at.map(rows::time),
        content: serde_json::from_str(&row.content)
            .map_err(|error| StoreError::Unreadable(error.to_string()))?,
    })
}

fn path(id: Uuid) -> Path {
    Path::from_iter([FOLDER.to_owned(), id.to_string()])
}
