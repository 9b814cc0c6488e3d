//! Vals: what there is to say of them beside the code of their older versions.

pub(crate) mod rows;

mod list;
mod names;

use std::sync::Arc;

use hamlet_models::{
    Author, NewSchedule, NewVal, NewVersion, Privacy, PutVal, Timestamp, UserId, Username, ValId, ValKind,
    ValName, ValUpdate, VersionNumber,
};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, IntoActiveModel,
    QueryFilter, Set,
    sea_query::{Expr, ExprTrait, OnConflict},
};

use crate::{
    Store, StoreError,
    clock::{new_id, now},
    diff::all_lines,
    entity::{deleted_val, user, val, version},
    error::{is_missing_parent, is_unique_conflict},
    vals::{
        names::{TRIES, made_up_name},
        rows::{Which, load_record, lock_head, of_id},
    },
    versions::Save,
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

/// A val to insert.
struct Insert {
    record: ValRecord,
    /// Whether the name is one that was made up.
    made_up: bool,
    /// Kept also where the kind has no use for it yet.
    schedule: Option<NewSchedule>,
}

impl Store {
    /// Makes a val with version 0; refused when its owner has one of that name. Without a name, a readable one is
    /// made up.
    pub async fn create_val(&self, owner: UserId, new: &NewVal) -> Result<Arc<ValRecord>, StoreError> {
        let generation = self.caches().vals.generation();
        let insert = new_insert(self.get_user(owner).await?.author(), new);
        self.change_vals(
            insert,
            |insert, tx| {
                Box::pin(async move {
                    let record = insert_val(insert, tx).await?;
                    record.ok_or_else(|| StoreError::NameTaken(insert.record.name.to_string()))
                })
            },
            move |caches, val| caches.vals.set(generation, val.id, val.clone()),
        )
        .await
    }

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
        let caches = self.caches();
        let (username, name) = (username.to_ascii_lowercase(), name.to_ascii_lowercase());
        // No name has a slash in it.
        let key = format!("{username}/{name}");
        if let Some(id) = caches.val_names.get(&key)
            && let Some(val) = caches.vals.get(&id)
            && val.name.as_str().eq_ignore_ascii_case(&name)
            && val.owner.username.as_str().eq_ignore_ascii_case(&username)
        {
            return Ok(val);
        }
        // What can't be a name is nobody's; PostgreSQL would refuse some of it as text.
        if username.parse::<Username>().is_err() || name.parse::<ValName>().is_err() {
            return Err(StoreError::NotFound("val"));
        }
        let hint = caches.val_names.ticket(&key);
        let named = Expr::col((user::Entity, user::Column::UsernameKey))
            .eq(username)
            .and(Expr::col((val::Entity, val::Column::NameKey)).eq(name));
        let val = load_record(&self.vals().readers, named, Which::Latest).await?;
        let val = val.ok_or(StoreError::NotFound("val"))?;
        caches.val_names.fill(hint, key, val.id);
        if caches.vals.is_on() {
            // Once more by id, which is what is kept in memory and brought up to date.
            return self.get_val(val.id).await;
        }
        Ok(Arc::new(val))
    }

    /// Makes a val of this name, or saves a new version of the one there is.
    pub async fn put_val(&self, owner: UserId, put: &PutVal) -> Result<Arc<ValRecord>, StoreError> {
        let generation = self.caches().vals.generation();
        let author = self.get_user(owner).await?.author();
        let before = match self.find_val(author.username.as_str(), put.name.as_str()).await {
            Ok(val) => Some(val),
            Err(StoreError::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        let save = Save::new(
            owner,
            &NewVersion::of_code(put.code.as_str()),
            None,
            before.as_deref(),
        )
        .await;
        let new = NewVal {
            name: Some(put.name.clone()),
            ..NewVal::of_code(put.code.as_str())
        };
        self.change_vals(
            (new_insert(author, &new), save),
            |(insert, save), tx| {
                Box::pin(async move {
                    if let Some(val) = insert_val(insert, tx).await? {
                        return Ok(val);
                    }
                    let column = |column| Expr::col((val::Entity, column));
                    let named = column(val::Column::OwnerId)
                        .eq(insert.record.owner.id.0)
                        .and(column(val::Column::NameKey).eq(insert.record.name.key()));
                    Ok(save.write(lock_head(tx, named).await?, tx).await?.val)
                })
            },
            move |caches, val: &Arc<ValRecord>| caches.vals.set(generation, val.id, val.clone()),
        )
        .await
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

fn new_insert(owner: Author, new: &NewVal) -> Insert {
    let (id, created_at) = new_id();
    let kind = new.kind.unwrap_or_default();
    let schedule = new.schedule.clone().filter(|_| kind == ValKind::Interval);
    let record = ValRecord {
        id: id.into(),
        owner,
        name: new
            .name
            .clone()
            .unwrap_or_else(|| made_up_name(seed(id.as_u128()), 0)),
        kind,
        privacy: new.privacy.unwrap_or_default(),
        readme: new.readme.clone().filter(|readme| !readme.is_empty()),
        callable: false,
        schedule: schedule.map(|schedule| ScheduleRecord {
            cron: schedule.cron,
            timezone: schedule.timezone,
            paused: schedule.paused,
            last_run_at: None,
        }),
        version: 0,
        latest: 0,
        code: new.code.as_str().into(),
        created_at,
        updated_at: created_at,
        version_created_at: created_at,
    };
    Insert {
        record,
        made_up: new.name.is_none(),
        schedule: new.schedule.clone(),
    }
}

/// The random part of an id.
fn seed(id: u128) -> u64 {
    (id as u64) & (u64::MAX >> 2)
}

/// Inserts a val with its version 0; nothing if the name is taken.
async fn insert_val(insert: &Insert, tx: &DatabaseTransaction) -> Result<Option<Arc<ValRecord>>, StoreError> {
    let mut record = insert.record.clone();
    let tries = if insert.made_up { TRIES } else { 1 };
    for attempt in 0..tries {
        if attempt > 0 {
            record.name = made_up_name(seed(record.id.0.as_u128()), attempt);
        }
        if insert_val_row(&record, insert.schedule.as_ref(), tx).await? {
            insert_first_version(&record, tx).await?;
            return Ok(Some(Arc::new(record)));
        }
    }
    Ok(None)
}

/// Whether the row could be inserted: not if the name is taken.
async fn insert_val_row(
    record: &ValRecord,
    schedule: Option<&NewSchedule>,
    tx: &DatabaseTransaction,
) -> Result<bool, StoreError> {
    let row = val::Model {
        id: record.id.0,
        owner_id: record.owner.id.0,
        name: record.name.to_string(),
        name_key: record.name.key(),
        kind: record.kind.as_str().to_owned(),
        privacy: record.privacy.as_str().to_owned(),
        callable: record.callable,
        version: 0,
        next_version: 1,
        created_at: record.created_at.as_millis(),
        updated_at: record.updated_at.as_millis(),
        cron: schedule.map(|schedule| schedule.cron.clone()),
        timezone: schedule.map(|schedule| schedule.timezone.clone()),
        paused: schedule.is_some_and(|schedule| schedule.paused),
        last_run_at: None,
        readme: record.readme.clone(),
    };
    let name = [val::Column::OwnerId, val::Column::NameKey];
    let inserted = val::Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::columns(name).do_nothing().to_owned())
        .exec_without_returning(tx)
        .await;
    match inserted {
        Ok(rows) => Ok(rows > 0),
        Err(error) if is_missing_parent(&error) => Err(StoreError::NotFound("user")),
        Err(error) => Err(error.into()),
    }
}

async fn insert_first_version(record: &ValRecord, tx: &DatabaseTransaction) -> Result<(), StoreError> {
    let row = version::Model {
        val_id: record.id.0,
        version: 0,
        author_id: record.owner.id.0,
        created_at: record.version_created_at.as_millis(),
        message: None,
        size: crate::rows::count(record.code.len()),
        lines_added: crate::rows::count(all_lines(&record.code).added),
        lines_removed: 0,
        code: record.code.to_string(),
    };
    version::Entity::insert(row.into_active_model())
        .exec_without_returning(tx)
        .await?;
    Ok(())
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
    if let Some(schedule) = &update.schedule {
        let schedule = schedule.as_ref();
        row.cron
            .set_if_not_equals(schedule.map(|schedule| schedule.cron.clone()));
        row.timezone
            .set_if_not_equals(schedule.map(|schedule| schedule.timezone.clone()));
        row.paused
            .set_if_not_equals(schedule.is_some_and(|schedule| schedule.paused));
    }
}

/// Writes what was set in the row; refused when its owner has another val of that name.
pub(crate) async fn save_row<D: ConnectionTrait>(row: val::ActiveModel, db: &D) -> Result<(), StoreError> {
    let (id, name) = (row.id.clone().unwrap(), row.name.clone().unwrap());
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
