//! How much mail may wait for one owner's vals: anyone may send some, and the disk is everybody's.

use std::collections::{HashMap, HashSet};

use hamlet_models::UserId;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect,
    sea_query::{Expr, ExprTrait, Query},
};
use uuid::Uuid;

use super::is_of_val;
use crate::{
    Store, StoreError,
    entity::{queued_email, val},
};

/// The most messages that wait for an account's vals: what vals that take a second each work off in minutes, and the slowest ones in hours.
pub const MAIL_MAX_MESSAGES: i64 = 1_000;
/// The most bytes of those: ten of the largest messages.
pub const MAIL_MAX_BYTES: i64 = 300_000_000;

impl Store {
    /// Refused if a message of that many bytes is more than may wait for this user's vals.
    pub async fn must_have_room_for_email(&self, owner: UserId, bytes: u64) -> Result<(), StoreError> {
        let (messages, waiting) = waiting(owner.0, &self.vals().readers).await?;
        must_fit(messages + 1, waiting.saturating_add_unsigned(bytes))
    }
}

/// Refused if these are more than may wait for an owner of theirs.
pub(super) async fn must_have<D: ConnectionTrait>(
    new: &[queued_email::Model],
    db: &D,
) -> Result<(), StoreError> {
    let vals: HashSet<Uuid> = new.iter().map(|email| email.val_id).collect();
    let owners: Vec<(Uuid, Uuid)> = val::Entity::find()
        .select_only()
        .columns([val::Column::Id, val::Column::OwnerId])
        .filter(val::Column::Id.is_in(vals))
        .into_tuple()
        .all(db)
        .await?;
    let owners: HashMap<Uuid, Uuid> = owners.into_iter().collect();
    for owner in owners.values().copied().collect::<HashSet<_>>() {
        let (mut messages, mut bytes) = waiting(owner, db).await?;
        let theirs = new
            .iter()
            .filter(|email| owners.get(&email.val_id) == Some(&owner));
        for email in theirs {
            messages += 1;
            bytes = bytes.saturating_add(email.size);
        }
        must_fit(messages, bytes)?;
    }
    Ok(())
}

/// How many messages wait for the vals of an owner, and how many bytes those have.
async fn waiting<D: ConnectionTrait>(owner: Uuid, db: &D) -> Result<(i64, i64), StoreError> {
    let size = Expr::col(queued_email::Column::Size.as_column_ref());
    let waiting = Query::select()
        .expr(Expr::col(queued_email::Column::Id.as_column_ref()).count())
        .expr(size.sum().cast_as("bigint"))
        .from(queued_email::Entity)
        .inner_join(val::Entity, is_of_val())
        .and_where(val::Column::OwnerId.eq(owner))
        .to_owned();
    let Some(row) = db.query_one(&waiting).await? else {
        return Ok((0, 0));
    };
    let (messages, bytes): (i64, Option<i64>) = row.try_get_many_by_index()?;
    Ok((messages, bytes.unwrap_or(0)))
}

fn must_fit(messages: i64, bytes: i64) -> Result<(), StoreError> {
    if messages > MAIL_MAX_MESSAGES || bytes > MAIL_MAX_BYTES {
        Err(StoreError::TooMuchMail)
    } else {
        Ok(())
    }
}
