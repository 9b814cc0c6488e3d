//! Making vals.

use std::{collections::HashSet, slice, sync::Arc};

use hamlet_models::{Author, NewSchedule, NewVal, NewVersion, PutVal, Scopes, Timestamp, UserId, ValKind};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
    prelude::Uuid,
    sea_query::{Expr, ExprTrait, OnConflict},
};

use crate::{
    Store, StoreError, Ticks,
    clock::new_id,
    diff::all_lines,
    entity::{val, version},
    error::is_missing_parent,
    rows::{count, portions, scopes_text},
    vals::{
        ScheduleRecord, ValRecord,
        names::{TRIES, made_up_name},
        rows::lock_head,
    },
    versions::Save,
};

/// A val to insert.
struct Insert {
    record: ValRecord,
    /// Whether the name is one that was made up.
    made_up: bool,
}

impl Store {
    /// Makes a val with version 0; refused when its owner has one of that name. Without a name, a readable one is
    /// made up.
    pub async fn create_val(&self, owner: UserId, new: &NewVal) -> Result<Arc<ValRecord>, StoreError> {
        let generation = self.caches().vals.generation();
        let insert = new_insert(self.get_user(owner).await?.author(), new);
        self.change_vals_shared(
            insert,
            |inserts, tx| {
                Box::pin(async move {
                    let made = insert_vals(inserts, tx).await?.into_iter().zip(inserts);
                    Ok(made
                        .map(|(val, insert)| val.ok_or_else(|| insert.name_taken()))
                        .collect())
                })
            },
            move |caches, val: &Arc<ValRecord>| caches.vals.set(generation, val.id, val.clone()),
        )
        .await
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
                    let made = insert_vals(slice::from_ref(insert), tx).await?.pop();
                    if let Some(val) = made.flatten() {
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
        grants: Scopes::default(),
        schedule: schedule.map(|schedule| ScheduleRecord {
            next_run_at: next_tick(&schedule, created_at),
            cron: schedule.cron,
            timezone: schedule.timezone,
            paused: schedule.paused,
            catch_up: schedule.catch_up,
            overlap: schedule.overlap,
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
    }
}

/// When a schedule that is set now ticks first.
fn next_tick(schedule: &NewSchedule, now: Timestamp) -> Option<Timestamp> {
    let ticks = Ticks::parse(&schedule.cron, &schedule.timezone).ok()?;
    ticks.next(now, now).filter(|_| !schedule.paused)
}

/// The random part of an id.
fn seed(id: u128) -> u64 {
    (id as u64) & (u64::MAX >> 2)
}

impl Insert {
    fn name_taken(&self) -> StoreError {
        StoreError::NameTaken(self.record.name.to_string())
    }
}

/// Inserts vals with their versions 0; none for those whose names are taken.
async fn insert_vals(
    inserts: &[Insert],
    tx: &DatabaseTransaction,
) -> Result<Vec<Option<Arc<ValRecord>>>, StoreError> {
    let mut records: Vec<_> = inserts.iter().map(|insert| insert.record.clone()).collect();
    let mut made = vec![false; inserts.len()];
    for attempt in 0..TRIES {
        let mut open: Vec<usize> = (0..inserts.len()).filter(|&n| !made[n]).collect();
        if attempt > 0 {
            open.retain(|&n| inserts[n].made_up);
            for &n in &open {
                records[n].name = made_up_name(seed(records[n].id.0.as_u128()), attempt);
            }
        }
        if open.is_empty() {
            break;
        }
        for portion in portions(open) {
            insert_portion(&records, &portion, &mut made, tx).await?;
        }
    }
    let records: Vec<_> = records.into_iter().map(Arc::new).collect();
    let there: Vec<usize> = (0..inserts.len()).filter(|&n| made[n]).collect();
    for portion in portions(there) {
        let rows = portion
            .iter()
            .map(|&n| first_version(&records[n]).into_active_model());
        version::Entity::insert_many(rows)
            .exec_without_returning(tx)
            .await?;
    }
    Ok(records
        .into_iter()
        .zip(made)
        .map(|(record, made)| made.then_some(record))
        .collect())
}

/// Inserts the rows of these vals, as far as their names are free, and notes for which they were.
async fn insert_portion(
    records: &[ValRecord],
    portion: &[usize],
    made: &mut [bool],
    tx: &DatabaseTransaction,
) -> Result<(), StoreError> {
    let rows = portion.iter().map(|&n| val_row(&records[n]).into_active_model());
    let name = [val::Column::OwnerId, val::Column::NameKey];
    let inserted = val::Entity::insert_many(rows)
        .on_conflict(OnConflict::columns(name).do_nothing().to_owned())
        .exec_without_returning(tx)
        .await;
    let inserted = match inserted {
        Ok(rows) => usize::try_from(rows).unwrap_or(usize::MAX),
        Err(error) if is_missing_parent(&error) => return Err(StoreError::NotFound("user")),
        Err(error) => return Err(error.into()),
    };
    let there = if inserted == portion.len() {
        None
    } else {
        let ids = portion.iter().map(|&n| records[n].id.0);
        Some(find_ids(ids, tx).await?)
    };
    for &n in portion {
        made[n] = there
            .as_ref()
            .is_none_or(|there| there.contains(&records[n].id.0));
    }
    Ok(())
}

/// Which of these vals there are.
async fn find_ids(
    ids: impl Iterator<Item = Uuid>,
    tx: &DatabaseTransaction,
) -> Result<HashSet<Uuid>, StoreError> {
    let ids = val::Entity::find()
        .select_only()
        .column(val::Column::Id)
        .filter(val::Column::Id.is_in(ids))
        .into_tuple()
        .all(tx)
        .await?;
    Ok(ids.into_iter().collect())
}

fn val_row(record: &ValRecord) -> val::Model {
    let schedule = record.schedule.as_ref();
    val::Model {
        id: record.id.0,
        owner_id: record.owner.id.0,
        name: record.name.to_string(),
        name_key: record.name.key(),
        kind: record.kind.as_str().to_owned(),
        privacy: record.privacy.as_str().to_owned(),
        callable: record.callable,
        grants: scopes_text(record.grants),
        version: 0,
        next_version: 1,
        created_at: record.created_at.as_millis(),
        updated_at: record.updated_at.as_millis(),
        cron: schedule.map(|schedule| schedule.cron.clone()),
        timezone: schedule.map(|schedule| schedule.timezone.clone()),
        paused: schedule.is_some_and(|schedule| schedule.paused),
        catch_up: schedule.is_some_and(|schedule| schedule.catch_up),
        overlap: schedule.is_some_and(|schedule| schedule.overlap),
        next_run_at: schedule
            .and_then(|schedule| schedule.next_run_at)
            .map(Timestamp::as_millis),
        running_until: None,
        last_run_at: None,
        readme: record.readme.clone(),
    }
}

fn first_version(record: &ValRecord) -> version::Model {
    version::Model {
        val_id: record.id.0,
        version: 0,
        author_id: record.owner.id.0,
        created_at: record.version_created_at.as_millis(),
        message: None,
        size: count(record.code.len()),
        lines_added: count(all_lines(&record.code).added),
        lines_removed: 0,
        code: record.code.to_string(),
    }
}
