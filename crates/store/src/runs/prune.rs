//! Runs that go: those of deleted vals, old ones, and the oldest when there are too many. Few at a time, so that new
//! ones can be written in between.

use hamlet_models::{RunError, RunStatus, Timestamp, ValId};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect, Statement,
    sea_query::{Expr, ExprTrait},
};
use uuid::Uuid;

use crate::{
    Store, StoreError,
    clock::now,
    entity::{deleted_val, last_run, run, run_log},
    rows,
    runs::IDS,
};

/// On PostgreSQL, how long ago a run must have begun to be called lost: another node may still be at it.
const LOST_AFTER_MS: i64 = 3_600_000;
/// How long after its deletion a run of a val may still be written by who was at it.
const LATE_MS: i64 = 3_600_000;
/// Pages that are given back to the file system in one go.
const VACUUM_PAGES: u32 = 2_000;

/// A run that may go.
struct Old {
    id: Uuid,
    val_id: Option<Uuid>,
    bytes: i64,
}

impl Store {
    /// Marks as lost what was queued or running when the last server died, and says how many those were. On
    /// PostgreSQL, where other nodes have runs of their own, only what began more than an hour ago.
    pub async fn lose_unfinished_runs(&self) -> Result<u64, StoreError> {
        let now = now().as_millis();
        let shared = self.runs().readers.get_database_backend() == DbBackend::Postgres;
        let before = if shared { now - LOST_AFTER_MS } else { i64::MAX };
        self.change_runs((now, before), |(now, before), tx| {
            Box::pin(lose_runs(*now, *before, tx))
        })
        .await
    }

    /// Deletes runs that began before `older_than` and runs of deleted vals, then the oldest ones until those that
    /// remain hold at most `keep_bytes`; says how many went. On SQLite their room goes back to the file system.
    pub async fn prune_runs(&self, older_than: Timestamp, keep_bytes: u64) -> Result<u64, StoreError> {
        let mut deleted = self.delete_runs_of_deleted_vals().await?;
        loop {
            let before = run::Column::StartedAt.lt(older_than.as_millis());
            let old = self.oldest_runs(Some(before)).await?;
            if old.is_empty() {
                break;
            }
            deleted += self.delete_runs(old).await?;
        }
        let mut too_many = self.bytes_of_runs().await? - i64::try_from(keep_bytes).unwrap_or(i64::MAX);
        while too_many > 0 {
            let mut old = self.oldest_runs(None).await?;
            let mut count = 0;
            while let (Some(run), true) = (old.get(count), too_many > 0) {
                too_many -= run.bytes;
                count += 1;
            }
            if count == 0 {
                break;
            }
            old.truncate(count);
            deleted += self.delete_runs(old).await?;
        }
        self.give_room_back().await?;
        Ok(deleted)
    }

    /// Deletes every run of a val.
    pub(crate) async fn delete_runs_of(&self, val_id: ValId) -> Result<u64, StoreError> {
        let mut deleted = 0;
        loop {
            let old = self.oldest_runs(Some(run::Column::ValId.eq(val_id.0))).await?;
            if old.is_empty() {
                return Ok(deleted);
            }
            deleted += self.delete_runs(old).await?;
        }
    }

    async fn delete_runs_of_deleted_vals(&self) -> Result<u64, StoreError> {
        let mut deleted = 0;
        for val in deleted_val::Entity::find().all(&self.vals().readers).await? {
            deleted += self.delete_runs_of(val.val_id.into()).await?;
            if val.deleted_at < now().as_millis() - LATE_MS {
                self.change_vals(
                    val.val_id,
                    |id, tx| {
                        Box::pin(async move {
                            deleted_val::Entity::delete_by_id(*id).exec(tx).await?;
                            Ok(())
                        })
                    },
                    |_, ()| (),
                )
                .await?;
            }
        }
        Ok(deleted)
    }

    async fn oldest_runs(&self, which: Option<Expr>) -> Result<Vec<Old>, StoreError> {
        let mut select = run::Entity::find();
        if let Some(which) = which {
            select = select.filter(which);
        }
        let rows: Vec<(Uuid, Option<Uuid>, i64, i64)> = select
            .select_only()
            .columns([
                run::Column::Id,
                run::Column::ValId,
                run::Column::Size,
                run::Column::LogSize,
            ])
            .order_by_asc(run::Column::StartedAt)
            .order_by_asc(run::Column::Id)
            .limit(IDS as u64)
            .into_tuple()
            .all(&self.runs().readers)
            .await?;
        let old = |(id, val_id, size, log_size)| Old {
            id,
            val_id,
            bytes: size + log_size,
        };
        Ok(rows.into_iter().map(old).collect())
    }

    /// How many bytes all runs hold with their logs, about.
    async fn bytes_of_runs(&self) -> Result<i64, StoreError> {
        let bytes = Expr::col(run::Column::Size).add(Expr::col(run::Column::LogSize));
        let sum: Option<Option<i64>> = run::Entity::find()
            .select_only()
            .column_as(bytes.sum().cast_as("bigint"), "bytes")
            .into_tuple()
            .one(&self.runs().readers)
            .await?;
        Ok(sum.flatten().unwrap_or(0))
    }

    async fn delete_runs(&self, old: Vec<Old>) -> Result<u64, StoreError> {
        self.change_runs(old, |old, tx| Box::pin(remove_runs(old, tx)))
            .await
    }

    async fn give_room_back(&self) -> Result<(), StoreError> {
        if self.runs().readers.get_database_backend() != DbBackend::Sqlite {
            return Ok(());
        }
        let mut free = i64::MAX;
        loop {
            let left: i64 = self
                .change_runs((), |(), tx| {
                    Box::pin(async move {
                        tx.execute_unprepared(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})"))
                            .await?;
                        let asked = Statement::from_string(DbBackend::Sqlite, "PRAGMA freelist_count");
                        let row = tx.query_one_raw(asked).await?;
                        Ok(row.map(|row| row.try_get_by_index(0)).transpose()?.unwrap_or(0))
                    })
                })
                .await?;
            if left == 0 || left >= free {
                return Ok(());
            }
            free = left;
        }
    }
}

async fn lose_runs(now: i64, before: i64, tx: &DatabaseTransaction) -> Result<u64, StoreError> {
    let unfinished = || {
        RunStatus::ALL
            .into_iter()
            .filter(|status| !status.is_over())
            .map(RunStatus::as_str)
    };
    let lost = RunStatus::Lost.as_str();
    let error = RunError {
        name: "Lost".to_owned(),
        message: "the server stopped before this run had ended".to_owned(),
        stack: String::new(),
    };
    let runs = run::Entity::update_many()
        .col_expr(run::Column::Status, Expr::value(lost))
        .col_expr(run::Column::EndedAt, Expr::value(now))
        .col_expr(run::Column::Error, Expr::value(rows::json_text(&error)?))
        .filter(run::Column::Status.is_in(unfinished()))
        .filter(run::Column::StartedAt.lt(before))
        .exec(tx)
        .await?;
    last_run::Entity::update_many()
        .col_expr(last_run::Column::Status, Expr::value(lost))
        .filter(last_run::Column::Status.is_in(unfinished()))
        .filter(last_run::Column::StartedAt.lt(before))
        .exec(tx)
        .await?;
    Ok(runs.rows_affected)
}

async fn remove_runs(old: &[Old], tx: &DatabaseTransaction) -> Result<u64, StoreError> {
    let ids = || old.iter().map(|run| run.id);
    run_log::Entity::delete_many()
        .filter(run_log::Column::RunId.is_in(ids()))
        .exec(tx)
        .await?;
    last_run::Entity::delete_many()
        .filter(last_run::Column::ValId.is_in(old.iter().filter_map(|run| run.val_id)))
        .filter(last_run::Column::RunId.is_in(ids()))
        .exec(tx)
        .await?;
    Ok(run::Entity::delete_many()
        .filter(run::Column::Id.is_in(ids()))
        .exec(tx)
        .await?
        .rows_affected)
}
