//! Sending again what a relay did not take for now: what is due, and which server tries it.

use bytes::Bytes;
use hamlet_models::{EmailContent, EmailId, Timestamp, UserId};
use object_store::ObjectStoreExt;
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
    sea_query::{Expr, SimpleExpr},
};
use uuid::Uuid;

use super::{path, trim};
use crate::{Store, StoreError, clock, entity::outbox, objects::failed, rows};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// How long to wait after each try; after later ones as after the last. All but the first are longer than a try takes:
/// whoever claims a message is done with it before it is due again.
const GAPS_MS: [i64; 5] = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 4 * HOUR_MS];
/// How old a message may be that is still tried.
const TRIED_FOR_MS: i64 = 72 * HOUR_MS;

/// A message that a relay did not take, and that is to be tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingEmail {
    /// Names the message.
    pub id: EmailId,
    /// Who sends it.
    pub user_id: UserId,
    created_at: Timestamp,
    attempts: i32,
}

impl Store {
    /// Messages that are to be tried again at this time, the longest due first.
    pub async fn list_due_emails(&self, now: Timestamp, limit: u64) -> Result<Vec<WaitingEmail>, StoreError> {
        let due = outbox::Entity::find()
            .select_only()
            .columns([
                outbox::Column::Id,
                outbox::Column::UserId,
                outbox::Column::CreatedAt,
                outbox::Column::Attempts,
            ])
            .filter(due(now))
            .order_by_asc(outbox::Column::NextAttemptAt)
            .order_by_asc(outbox::Column::Id)
            .limit(limit)
            .into_tuple()
            .all(&self.vals().readers)
            .await?;
        let waiting = |(id, user_id, created_at, attempts): (Uuid, Uuid, i64, i32)| WaitingEmail {
            id: id.into(),
            user_id: user_id.into(),
            created_at: rows::time(created_at),
            attempts,
        };
        Ok(due.into_iter().map(waiting).collect())
    }

    /// Claims a message for one more try, by saying when the next is: of all who claim it, one gets it. Nobody gets one
    /// that is too old by now; it stays in the outbox, and is not tried again.
    pub async fn claim_due_email(&self, email: &WaitingEmail, now: Timestamp) -> Result<bool, StoreError> {
        let attempts = email.attempts.saturating_add(1);
        let next = next_attempt(email.created_at, now, attempts);
        let claimed = self
            .set_retry(
                due(now).add(outbox::Column::Id.eq(email.id.0)),
                vec![
                    (outbox::Column::Attempts, Expr::value(attempts)),
                    (outbox::Column::NextAttemptAt, Expr::value(next)),
                ],
            )
            .await?;
        Ok(claimed && now.as_millis() <= last_attempt(email.created_at))
    }

    /// Whom a message is from and to, and all of it as it is to be sent.
    pub async fn read_waiting_email(
        &self,
        email: &WaitingEmail,
    ) -> Result<(EmailContent, Bytes), StoreError> {
        let row = outbox::Entity::find()
            .filter(this(email.id))
            .one(&self.vals().readers)
            .await?;
        let row = row.ok_or(StoreError::NotFound("message"))?;
        let object = self.objects().get(&path(row.id)).await.map_err(failed)?;
        Ok((rows::json(&row.content)?, object.bytes().await.map_err(failed)?))
    }

    /// Notes why a message could not be sent this time either, and that it is not tried again if it is refused for good.
    pub async fn note_failed_email(
        &self,
        email: &WaitingEmail,
        failure: &str,
        for_good: bool,
    ) -> Result<(), StoreError> {
        let mut changes = vec![(outbox::Column::Failure, Expr::value(failure))];
        if for_good {
            changes.push((outbox::Column::NextAttemptAt, Expr::value(None::<i64>)));
        }
        self.set_retry(this(email.id), changes).await.map(drop)
    }

    /// Notes that a message that waited was sent: it is in the outbox no more.
    pub async fn finish_waiting_email(&self, email: &WaitingEmail) -> Result<(), StoreError> {
        let dropped = self
            .change_vals(
                (email.id, email.user_id),
                |(id, user_id), tx| {
                    Box::pin(async move {
                        let sent_at = Expr::value(clock::now().as_millis());
                        let changes = vec![
                            (outbox::Column::SentAt, sent_at),
                            (outbox::Column::Failure, Expr::value(None::<String>)),
                            (outbox::Column::NextAttemptAt, Expr::value(None::<i64>)),
                        ];
                        change(this(*id), changes, tx).await?;
                        trim(*user_id, true, tx).await
                    })
                },
                |_, _: &Vec<Uuid>| (),
            )
            .await?;
        for id in dropped.into_iter().chain([email.id.0]) {
            self.drop_email(id).await;
        }
        Ok(())
    }

    async fn set_retry(
        &self,
        which: Condition,
        changes: Vec<(outbox::Column, SimpleExpr)>,
    ) -> Result<bool, StoreError> {
        self.change_vals(
            (which, changes),
            |(which, changes), tx| Box::pin(change(which.clone(), changes.clone(), tx)),
            |_, _| (),
        )
        .await
    }
}

/// When to try again what was tried so many times since it was kept; `None` if never.
pub(super) fn next_attempt(created_at: Timestamp, now: Timestamp, attempts: i32) -> Option<i64> {
    let tries = usize::try_from(attempts).unwrap_or(usize::MAX);
    let gap = GAPS_MS[tries.min(GAPS_MS.len() - 1)];
    let next = now.as_millis().saturating_add(gap);
    (next <= last_attempt(created_at)).then_some(next)
}

fn last_attempt(created_at: Timestamp) -> i64 {
    created_at.as_millis().saturating_add(TRIED_FOR_MS)
}

fn due(now: Timestamp) -> Condition {
    Condition::all()
        .add(outbox::Column::NextAttemptAt.lte(now.as_millis()))
        .add(outbox::Column::SentAt.is_null())
}

fn this(id: EmailId) -> Condition {
    Condition::all()
        .add(outbox::Column::Id.eq(id.0))
        .add(outbox::Column::SentAt.is_null())
}

async fn change(
    which: Condition,
    changes: Vec<(outbox::Column, SimpleExpr)>,
    tx: &DatabaseTransaction,
) -> Result<bool, StoreError> {
    let update = changes
        .into_iter()
        .fold(outbox::Entity::update_many(), |update, (column, value)| {
            update.col_expr(column, value)
        });
    let changed = update.filter(which).exec(tx).await?;
    Ok(changed.rows_affected > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_grow_and_end_after_three_days() {
        let kept = Timestamp::from_millis(1_000_000);
        let (mut now, mut gaps) = (kept, Vec::new());
        while let Some(next) = next_attempt(kept, now, i32::try_from(gaps.len()).expect("few")) {
            gaps.push((next - now.as_millis()) / MINUTE_MS);
            now = Timestamp::from_millis(next);
        }
        assert_eq!(gaps[..6], [1, 5, 30, 120, 240, 240]);
        let hours = (now.as_millis() - kept.as_millis()) / HOUR_MS;
        assert!((68..72).contains(&hours), "{hours} hours");
    }
}
