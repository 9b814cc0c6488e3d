//! Writing runs: many at once, in as few statements as can be.

use std::{
    collections::HashMap,
    sync::{
        LazyLock, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use hamlet_models::RunId;
use sea_orm::{
    ActiveModelTrait, ConnectionTrait, DbBackend, EntityTrait, IntoActiveModel, Iterable, Statement,
    sea_query::{Expr, ExprTrait, Func, OnConflict, Query},
};
use uuid::Uuid;

use crate::{
    RunRecord, RunWrite, Store, StoreError,
    entity::{last_run, run, run_log},
    rows::{self, portions},
};

/// What a run takes beside its texts, indexes included.
const ROW_BYTES: usize = 640;

impl Store {
    /// Writes runs, each as it stands now, with the lines that it printed since. Of several writes of one run the
    /// last says how it stands.
    pub async fn write_runs(&self, writes: Vec<RunWrite>) -> Result<(), StoreError> {
        if writes.is_empty() {
            return Ok(());
        }
        let backend = self.runs().readers.get_database_backend();
        let statements = Batch::of(writes)?.statements(backend);
        self.change_runs(statements, |statements, tx| {
            Box::pin(async move {
                for statement in statements {
                    tx.execute_raw(statement.clone()).await?;
                }
                Ok(())
            })
        })
        .await
    }
}

/// What is to be written, with no row twice: PostgreSQL refuses to change one twice in a statement.
struct Batch {
    runs: Vec<run::Model>,
    logs: Vec<run_log::Model>,
    last_runs: Vec<last_run::Model>,
}

impl Batch {
    fn of(writes: Vec<RunWrite>) -> Result<Self, StoreError> {
        let mut places: HashMap<RunId, usize> = HashMap::with_capacity(writes.len());
        let mut merged: Vec<RunWrite> = Vec::with_capacity(writes.len());
        for mut write in writes {
            let id = write.record.id;
            match places.get(&id).and_then(|&place| merged.get_mut(place)) {
                Some(earlier) => {
                    earlier.record = write.record;
                    earlier.logs.append(&mut write.logs);
                    earlier.input = write.input.or(earlier.input.take());
                }
                None => {
                    places.insert(id, merged.len());
                    merged.push(write);
                }
            }
        }
        let mut batch = Self {
            runs: Vec::with_capacity(merged.len()),
            logs: Vec::new(),
            last_runs: Vec::new(),
        };
        let mut last_runs: HashMap<Uuid, last_run::Model> = HashMap::new();
        for RunWrite { record, logs, input } in merged {
            let lines = if logs.is_empty() {
                None
            } else {
                Some(rows::json_text(&logs)?)
            };
            let input = input.as_ref().map(rows::json_text).transpose()?;
            batch
                .runs
                .push(run_row(&record, lines.as_ref().map_or(0, String::len), input)?);
            if let Some(lines) = lines {
                let (run_id, seq) = (record.id.0, next_seq());
                batch.logs.push(run_log::Model { run_id, seq, lines });
            }
            if let Some(row) = last_run_row(&record) {
                let last = last_runs.entry(row.val_id).or_insert_with(|| row.clone());
                if (row.started_at, row.run_id) > (last.started_at, last.run_id) {
                    *last = row;
                }
            }
        }
        batch.last_runs.extend(last_runs.into_values());
        // The same order everywhere, so that two nodes never wait for each other.
        batch.runs.sort_unstable_by_key(|row| row.id);
        batch.last_runs.sort_unstable_by_key(|row| row.val_id);
        Ok(batch)
    }

    fn statements(self, backend: DbBackend) -> Vec<Statement> {
        let runs = inserts(backend, self.runs, run_conflict);
        let logs = inserts(backend, self.logs, log_conflict);
        let last_runs = inserts(backend, self.last_runs, last_run_conflict);
        runs.chain(logs).chain(last_runs).collect()
    }
}

/// Inserts of whole rows.
fn inserts<M, A>(
    backend: DbBackend,
    rows: Vec<M>,
    conflict: fn() -> OnConflict,
) -> impl Iterator<Item = Statement>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    portions(rows).map(move |rows| {
        let sql = insert_sql::<A::Entity>(backend, rows.len(), conflict);
        let values = rows.into_iter().flat_map(|row| {
            let mut row = row.into_active_model();
            <A::Entity as EntityTrait>::Column::iter().filter_map(move |column| row.take(column).into_value())
        });
        Statement::from_sql_and_values(backend, sql, values)
    })
}

/// The text of such an insert, which takes longer to make than to fill in: it is made once for each number of rows.
fn insert_sql<E: EntityTrait>(backend: DbBackend, rows: usize, conflict: fn() -> OnConflict) -> String {
    type Known = HashMap<(String, bool, usize), String>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let table = E::default().table_name().to_owned();
    let sql = known
        .entry((table, backend == DbBackend::Postgres, rows))
        .or_insert_with(|| {
            let mut insert = Query::insert();
            insert.into_table(E::default()).columns(E::Column::iter());
            for _ in 0..rows {
                insert.values_panic(E::Column::iter().map(|_| Expr::val(0)));
            }
            backend.build(insert.on_conflict(conflict())).sql
        });
    sql.clone()
}

/// The new row takes the place of the old; the size of the logs grows, and what it was given stays unless it comes now.
/// A row of an earlier start changes nothing: who wrote it has lost the run to another server, and didn't begin it.
fn run_conflict() -> OnConflict {
    use run::Column;
    let replaced =
        Column::iter().filter(|column| !matches!(column, Column::Id | Column::LogSize | Column::Input));
    let old = |column| Expr::col((run::Entity, column));
    let new = |column| Expr::col(("excluded", column));
    OnConflict::column(Column::Id)
        .update_columns(replaced)
        .value(Column::LogSize, old(Column::LogSize).add(new(Column::LogSize)))
        .value(
            Column::Input,
            Func::coalesce([new(Column::Input), old(Column::Input)]),
        )
        .action_and_where(new(Column::StartedAt).gte(old(Column::StartedAt)))
        .to_owned()
}

/// Lines are only ever met when a transaction is done again that had been committed after all.
fn log_conflict() -> OnConflict {
    OnConflict::columns([run_log::Column::RunId, run_log::Column::Seq])
        .do_nothing()
        .to_owned()
}

/// A run takes the place of one that began earlier, and of itself.
fn last_run_conflict() -> OnConflict {
    use last_run::Column;
    let old = |column| Expr::col((last_run::Entity, column));
    let new = |column| Expr::col(("excluded", column));
    let later = new(Column::StartedAt).gt(old(Column::StartedAt));
    let as_late = new(Column::StartedAt)
        .eq(old(Column::StartedAt))
        .and(new(Column::RunId).gte(old(Column::RunId)));
    OnConflict::column(Column::ValId)
        .update_columns([
            Column::RunId,
            Column::Status,
            Column::StartedAt,
            Column::DurationMs,
        ])
        .action_and_where(later.or(as_late))
        .to_owned()
}

fn run_row(record: &RunRecord, log_size: usize, input: Option<String>) -> Result<run::Model, StoreError> {
    let json_texts = (
        record.request.as_ref().map(rows::json_text).transpose()?,
        record.error.as_ref().map(rows::json_text).transpose()?,
        record.response.as_ref().map(rows::json_text).transpose()?,
    );
    let (request, error, response) = json_texts;
    let texts = [&request, &error, &response, &record.args, &record.return_value];
    let size = ROW_BYTES + texts.into_iter().flatten().map(String::len).sum::<usize>();
    Ok(run::Model {
        id: record.id.0,
        val_id: record.val_id.map(|id| id.0),
        owner_id: record.owner.id.0,
        owner_name: record.owner.username.to_string(),
        val_name: record.val_name.as_ref().map(ToString::to_string),
        version: record.version.map(i64::from),
        parent_id: record.parent_id.map(|id| id.0),
        replay_of: record.replay_of.map(|id| id.0),
        status: record.status.as_str().to_owned(),
        trigger: record.trigger.as_str().to_owned(),
        started_at: record.started_at.as_millis(),
        ended_at: record.ended_at.map(|time| time.as_millis()),
        duration_ms: record.duration_ms,
        cpu_ms: record.cpu_ms,
        memory_bytes: record.memory_bytes.and_then(|bytes| i64::try_from(bytes).ok()),
        size: rows::count(size),
        log_size: rows::count(log_size + input.as_ref().map_or(0, String::len)),
        phases: rows::json_text(&record.phases)?,
        truncated: rows::json_text(&record.truncated)?,
        request,
        error,
        // PostgreSQL can't keep this character; JSON never has it as it is.
        args: record.args.as_ref().map(|text| text.replace('\0', "")),
        return_value: record.return_value.as_ref().map(|text| text.replace('\0', "")),
        response,
        input,
    })
}

fn last_run_row(record: &RunRecord) -> Option<last_run::Model> {
    Some(last_run::Model {
        val_id: record.val_id?.0,
        run_id: record.id.0,
        status: record.status.as_str().to_owned(),
        started_at: record.started_at.as_millis(),
        duration_ms: record.duration_ms,
    })
}

/// A number above those given before, also by an earlier process: microseconds, or one more than the last.
fn next_seq() -> i64 {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX);
    let next = |last: i64| Ord::max(now, last + 1);
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
    next(last.unwrap_or_else(|last| last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_only_grow() {
        let numbers: Vec<_> = (0..10_000).map(|_| next_seq()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
