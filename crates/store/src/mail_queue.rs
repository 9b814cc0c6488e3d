//! Mail that came: kept before its sender is told so, until its val has run.

mod room;

pub use room::{MAIL_MAX_BYTES, MAIL_MAX_MESSAGES};

use bytes::Bytes;
use hamlet_models::{Timestamp, UserId, ValId};
use object_store::{ObjectStoreExt, path::Path};
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter,
    sea_query::{Expr, ExprTrait, Query},
};
use uuid::Uuid;

use crate::{
    Store, StoreError, Turns,
    clock::{new_id, now},
    entity::{queued_email, val},
    error::is_missing_parent,
    objects::{Upload, failed},
    rows,
};

/// The folder of their bytes among the objects.
pub(crate) const FOLDER: &str = "mail";

/// A message that is on its way in; given up, nothing is left of it.
pub struct IncomingEmail {
    store: Store,
    id: Uuid,
    upload: Upload,
    size: usize,
}

/// A message whose val is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedEmail {
    /// The val that it came for.
    pub val_id: ValId,
    /// Whose that is.
    pub owner: UserId,
    /// When it came.
    pub received_at: Timestamp,
    id: Uuid,
}

impl Store {
    /// Begins to take a message.
    pub fn begin_email(&self) -> IncomingEmail {
        let (id, _) = new_id();
        IncomingEmail {
            store: self.clone(),
            id,
            upload: self.begin_object(path(id)),
            size: 0,
        }
    }

    /// Messages that nobody has claimed at this time, so many as these turns take.
    pub async fn list_queued_emails(
        &self,
        now: Timestamp,
        turns: &Turns,
    ) -> Result<Vec<QueuedEmail>, StoreError> {
        let db = &self.vals().readers;
        let waiting = Query::select()
            .from(queued_email::Entity)
            .inner_join(val::Entity, is_of_val())
            .cond_where(unclaimed(now))
            .to_owned();
        let (id, since) = (queued_email::Column::Id, queued_email::Column::ReceivedAt);
        let taken = turns.take(db, waiting, id, since).await?;
        let queued = taken.into_iter().map(|taken| QueuedEmail {
            val_id: taken.val_id.into(),
            owner: taken.owner_id.into(),
            received_at: rows::time(taken.since),
            id: taken.id,
        });
        Ok(queued.collect())
    }

    /// Claims a message until then: of all who try, one gets it.
    pub async fn claim_email(
        &self,
        email: &QueuedEmail,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.set_claim(
            unclaimed(now).add(queued_email::Column::Id.eq(email.id)),
            Some(until),
        )
        .await
    }

    /// Lets a claimed message be claimed again after that time.
    pub async fn return_email(&self, email: &QueuedEmail, after: Timestamp) -> Result<(), StoreError> {
        let this = Condition::all().add(queued_email::Column::Id.eq(email.id));
        self.set_claim(this, Some(after)).await.map(drop)
    }

    /// Lets every message be claimed: who had claimed them is gone.
    pub async fn return_emails(&self) -> Result<(), StoreError> {
        let claimed = Condition::all().add(queued_email::Column::ClaimedUntil.is_not_null());
        self.set_claim(claimed, None).await.map(drop)
    }

    /// The message as it was written.
    pub async fn read_email(&self, email: &QueuedEmail) -> Result<Bytes, StoreError> {
        let object = self.objects().get(&path(email.id)).await.map_err(failed)?;
        object.bytes().await.map_err(failed)
    }

    /// Takes a message out of the queue: its val has run.
    pub async fn finish_email(&self, email: &QueuedEmail) -> Result<(), StoreError> {
        self.change_vals(
            email.id,
            |id, tx| {
                Box::pin(async move {
                    queued_email::Entity::delete_by_id(*id).exec(tx).await?;
                    Ok(())
                })
            },
            |_, ()| (),
        )
        .await?;
        self.delete_email_bytes(email.id).await;
        Ok(())
    }

    /// What stays behind goes with the next sweep.
    async fn delete_email_bytes(&self, id: Uuid) {
        if let Err(error) = self.objects().delete(&path(id)).await {
            tracing::warn!(%error, "the bytes of a message could not be deleted");
        }
    }

    async fn set_claim(&self, which: Condition, until: Option<Timestamp>) -> Result<bool, StoreError> {
        self.change_vals(
            (which, until),
            |(which, until), tx| {
                Box::pin(async move {
                    let until = Expr::value(until.map(Timestamp::as_millis));
                    let changed = queued_email::Entity::update_many()
                        .col_expr(queued_email::Column::ClaimedUntil, until)
                        .filter(which.clone())
                        .exec(tx)
                        .await?;
                    Ok(changed.rows_affected > 0)
                })
            },
            |_, _| (),
        )
        .await
    }
}

impl IncomingEmail {
    /// Adds bytes.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        self.size += bytes.len();
        self.upload.write(bytes).await
    }

    /// Queues the message for these vals, all or none: refused if more would wait for an owner of theirs than may. Once
    /// this is answered, it is not lost any more.
    pub async fn queue(self, vals: &[ValId]) -> Result<(), StoreError> {
        self.upload.finish().await?;
        let received_at = now().as_millis();
        let mut queued = Vec::with_capacity(vals.len());
        for (index, val) in vals.iter().enumerate() {
            let id = if index == 0 { self.id } else { new_id().0 };
            if index > 0 {
                self.store
                    .objects()
                    .copy(&path(self.id), &path(id))
                    .await
                    .map_err(failed)?;
            }
            queued.push(queued_email::Model {
                id,
                val_id: val.0,
                received_at,
                size: rows::count(self.size),
                claimed_until: None,
            });
        }
        let ids: Vec<Uuid> = queued.iter().map(|row| row.id).collect();
        let done = self
            .store
            .change_vals(queued, |rows, tx| Box::pin(insert(rows, tx)), |_, ()| ())
            .await;
        if done.as_ref().is_err_and(StoreError::is_refusal) {
            for id in ids {
                self.store.delete_email_bytes(id).await;
            }
        }
        done
    }
}

async fn insert(rows: &[queued_email::Model], tx: &DatabaseTransaction) -> Result<(), StoreError> {
    room::must_have(rows, tx).await?;
    let rows = rows.iter().map(|row| row.clone().into_active_model());
    match queued_email::Entity::insert_many(rows)
        .exec_without_returning(tx)
        .await
    {
        Ok(_) => Ok(()),
        Err(error) if is_missing_parent(&error) => Err(StoreError::NotFound("val")),
        Err(error) => Err(error.into()),
    }
}

fn unclaimed(now: Timestamp) -> Condition {
    let free = Condition::any()
        .add(queued_email::Column::ClaimedUntil.is_null())
        .add(queued_email::Column::ClaimedUntil.lte(now.as_millis()));
    Condition::all().add(free)
}

/// Whether a message is one for a val, of each of both that there are.
fn is_of_val() -> Expr {
    let val_id = Expr::col(val::Column::Id.as_column_ref());
    val_id.eq(Expr::col(queued_email::Column::ValId.as_column_ref()))
}

fn path(id: Uuid) -> Path {
    Path::from_iter([FOLDER.to_owned(), id.to_string()])
}
