//! Vals: what there is to say of them beside the code of their older versions.

pub(crate) mod rows;

mod create;
mod list;
mod names;

use std::sync::Arc;

use hamlet_models::{
    Author, Privacy, Scopes, Timestamp, UserId, Username, ValId, ValKind, ValName, ValUpdate, VersionNumber,
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, IntoActiveModel,
    QueryFilter, Set,
    sea_query::{Expr, ExprTrait},
};

use crate::{
    Store, StoreError,
    clock::now,
    entity::{deleted_val, user, val},
    error::is_unique_conflict,
    rows as values,
    schedules::{forget_claims, is_replanned, plan},
    vals::rows::{Which, find_id, load_record, lock_head, of_id},
};

/// A val with the code of one of its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValRecord {
    /// Names the val for ever.
    pub id: ValId,
    /// Whose it is.
    pub owner: Author,
    /// What its owner calls it.
    pub name: ValName,
    /// What starts it.
    pub kind: ValKind,
    /// Who may see it.
    pub privacy: Privacy,
    /// A text about it, in Markdown.
    pub readme: Option<String>,
    /// Whether others may call it through `/v1/run`.
    pub callable: bool,
    /// What its runs may do beside the usual.
    pub grants: Scopes,
    /// When it runs; vals of kind interval only.
    pub schedule: Option<ScheduleRecord>,
    /// The version whose code this is.
    pub version: VersionNumber,
    /// The latest version.
    pub latest: VersionNumber,
    /// The code of `version`.
    pub code: Arc<str>,
    /// When the val was made.
    pub created_at: Timestamp,
    /// When the val was last changed.
    pub updated_at: Timestamp,
    /// When `version` was saved.
    pub version_created_at: Timestamp,
}

impl ValRecord {
    /// How many bytes its texts take.
    pub(crate) fn texts_len(&self) -> usize {
        self.code.len() + self.readme.as_ref().map_or(0, String::len)
    }
}

/// When a val runs by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRecord {
    /// A cron expression or an interval, as its owner wrote it.
    pub cron: String,
    /// The IANA name of the time zone in which it is read.
    pub timezone: String,
    /// Whether it is held back.
    pub paused: bool,
    /// Whether a tick that was missed while no server was there runs once.
    pub catch_up: bool,
    /// Whether a tick runs also while the run of the last one goes on.
    pub overlap: bool,
    /// When it runs next; none while it is paused.
    pub next_run_at: Option<Timestamp>,
    /// When it last ran; none before the first time.
    pub last_run_at: Option<Timestamp>,
}

/// Which vals a list may show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValScope {
    /// Only vals of this user.
    pub owner: Option<UserId>,
    /// Who looks: they find all of their own vals, and the public ones of others.
    pub viewer: Option<UserId>,
}

impl Store {
    /// The val of this id, with its latest code.
    pub async fn get_val(&self, id: ValId) -> Result<Arc<ValRecord>, StoreError> {
        let vals = &self.caches().vals;
        if let Some(val) = vals.get(&id) {
            return Ok(val);
        }
        let ticket = vals.ticket(&id);
        let val = load_record(&self.vals().readers, of_id(id), Which::Latest).await?;
        let val = Arc::new(val.ok_or(StoreError::NotFound("val"))?);
        vals.fill(ticket, id, val.clone());
        Ok(val)
    }

    /// The val of this owner and name, in any case, with its latest code.
    pub async fn find_val(&self, username: &str, name: &str) -> Result<Arc<ValRecord>, StoreError> {
        // What can't be a name is nobody's; PostgreSQL would refuse some of it as text.
        if username.parse::<Username>().is_err() || name.parse::<ValName>().is_err() {
            return Err(StoreError::NotFound("val"));
        }
        let (username, name) = (username.to_ascii_lowercase(), name.to_ascii_lowercase());
        let caches = self.caches();
        let named = Expr::col((user::Entity, user::Column::UsernameKey))
            .eq(username.as_str())
            .and(Expr::col((val::Entity, val::Column::NameKey)).eq(name.as_str()));
        if !caches.vals.is_on() {
            let val = load_record(&self.vals().readers, named, Which::Latest).await?;
            return Ok(Arc::new(val.ok_or(StoreError::NotFound("val"))?));
        }
        // By its id in the end, which is what is kept in memory and brought up to date. No name has a slash in it.
        let key = format!("{username}/{name}");
        if let Some(id) = caches.val_names.get(&key)
            && let Ok(val) = self.get_val(id).await
            && val.name.as_str().eq_ignore_ascii_case(&name)
            && val.owner.username.as_str().eq_ignore_ascii_case(&username)
        {
            return Ok(val);
        }
        let hint = caches.val_names.ticket(&key);
        let id = find_id(&self.vals().readers, named).await?;
        caches.val_names.fill(hint, key, id);
        self.get_val(id).await
    }

    /// Changes what is given of a val; refused when its owner has another of the new name.
    pub async fn update_val(&self, id: ValId, update: &ValUpdate) -> Result<Arc<ValRecord>, StoreError> {
        let generation = self.caches().vals.generation();
        self.change_vals(
            (id, update.clone()),
            |(id, update), tx| Box::pin(change_val(*id, update, tx)),
            move |caches, val: &Arc<ValRecord>| caches.vals.set(generation, id, val.clone()),
        )
        .await
    }

    /// Notes when a scheduled val last ran.
    pub async fn set_schedule_ran(&self, id: ValId, at: Timestamp) -> Result<(), StoreError> {
        self.change_vals(
            (id, at),
            |(id, at), tx| {
                Box::pin(async move {
                    let done = val::Entity::update_many()
                        .col_expr(val::Column::LastRunAt, Expr::value(at.as_millis()))
                        .filter(val::Column::Id.eq(id.0))
                        .exec(tx)
                        .await?;
                    if done.rows_affected == 0 {
                        Err(StoreError::NotFound("val"))
                    } else {
                        Ok(())
                    }
                })
            },
            move |caches, ()| caches.vals.remove(&id),
        )
        .await
    }

    /// Deletes a val with its versions; its runs follow soon after.
    pub async fn delete_val(&self, id: ValId) -> Result<(), StoreError> {
        self.change_vals(
            id,
            |id, tx| Box::pin(remove_val(*id, tx)),
            move |caches, ()| caches.vals.remove(&id),
        )
        .await?;
        let store = self.clone();
        tokio::spawn(async move {
            // What this leaves behind goes with the next pruning.
            if let Err(error) = store.delete_runs_of(id).await {
                tracing::warn!(%error, val.id = %id, "the runs of a deleted val could not be deleted");
            }
        });
        Ok(())
    }
}

async fn change_val(
    id: ValId,
    update: &ValUpdate,
    tx: &DatabaseTransaction,
) -> Result<Arc<ValRecord>, StoreError> {
    let mut row = lock_head(tx, of_id(id)).await?.row.into_active_model();
    apply(&mut row, update);
    if row.is_changed() {
        row.updated_at = Set(now().as_millis());
        save_row(row, tx).await?;
    }
    let val = load_record(tx, of_id(id), Which::Latest).await?;
    Ok(Arc::new(val.ok_or(StoreError::NotFound("val"))?))
}

/// Sets what an update says otherwise than the row.
pub(crate) fn apply(row: &mut val::ActiveModel, update: &ValUpdate) {
    if let Some(name) = &update.name {
        row.name.set_if_not_equals(name.to_string());
        row.name_key.set_if_not_equals(name.key());
    }
    if let Some(readme) = &update.readme {
        row.readme
            .set_if_not_equals(Some(readme.clone()).filter(|readme| !readme.is_empty()));
    }
    if let Some(privacy) = update.privacy {
        row.privacy.set_if_not_equals(privacy.as_str().to_owned());
    }
    if let Some(kind) = update.kind {
        row.kind.set_if_not_equals(kind.as_str().to_owned());
    }
    if let Some(callable) = update.callable {
        row.callable.set_if_not_equals(callable);
    }
    if let Some(grants) = update.grants {
        row.grants.set_if_not_equals(values::scopes_text(grants));
    }
    if let Some(schedule) = &update.schedule {
        let schedule = schedule.as_ref();
        row.cron
            .set_if_not_equals(schedule.map(|schedule| schedule.cron.clone()));
        row.timezone
            .set_if_not_equals(schedule.map(|schedule| schedule.timezone.clone()));
        row.paused
            .set_if_not_equals(schedule.is_some_and(|schedule| schedule.paused));
        row.catch_up
            .set_if_not_equals(schedule.is_some_and(|schedule| schedule.catch_up));
        row.overlap
            .set_if_not_equals(schedule.is_some_and(|schedule| schedule.overlap));
    }
    if is_replanned(row) {
        plan(row, now());
    }
}

/// Writes what was set in the row; refused when its owner has another val of that name.
pub(crate) async fn save_row<D: ConnectionTrait>(row: val::ActiveModel, db: &D) -> Result<(), StoreError> {
    let (id, name) = (row.id.clone().unwrap(), row.name.clone().unwrap());
    if is_replanned(&row) {
        forget_claims(id, db).await?;
    }
    let saved = val::Entity::update_many()
        .set(row)
        .filter(val::Column::Id.eq(id))
        .exec(db)
        .await;
    match saved {
        Ok(_) => Ok(()),
        Err(error) if is_unique_conflict(&error) => Err(StoreError::NameTaken(name)),
        Err(error) => Err(error.into()),
    }
}

async fn remove_val(id: ValId, tx: &DatabaseTransaction) -> Result<(), StoreError> {
    let deleted = val::Entity::delete_by_id(id.0).exec(tx).await?;
    if deleted.rows_affected == 0 {
        return Err(StoreError::NotFound("val"));
    }
    let row = deleted_val::Model {
        val_id: id.0,
        deleted_at: now().as_millis(),
    };
    deleted_val::Entity::insert(row.into_active_model())
        .exec_without_returning(tx)
        .await?;
    Ok(())
}
