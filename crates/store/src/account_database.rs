//! The SQLite database that an account has for its own: one file, and no way out of it.

mod guard;
mod limits;
mod values;

use std::{path::Path, sync::Arc};

use hamlet_models::{SqlMode, SqlResult, SqlStatement};
use rusqlite::{
    Batch, Connection, OptionalExtension, Statement, fallible_iterator::FallibleIterator, hooks::AuthContext,
    limits::Limit,
};

pub use self::limits::{ANSWER_MAX_BYTES, SQL_MAX_BYTES, SqlError, SqlLimits, VALUE_MAX_BYTES};
use self::{guard::Guard, limits::unusable};

/// The most statements of a batch.
pub const BATCH_MAX_STATEMENTS: usize = 1_000;
/// How many instructions of SQLite's machine pass between two looks at the clock.
const CLOCK_EVERY: i32 = 10_000;
/// A database's pages, in bytes.
const PAGE_BYTES: u64 = 4_096;

/// One account's database, open. Its SQL is the account's own, which is not to be trusted with the memory or the time of
/// a process that does anything else: a limit holds only between two steps of SQLite's.
pub struct AccountDatabase {
    connection: Connection,
    guard: Arc<Guard>,
    limits: SqlLimits,
    before_write: fn(),
}

impl AccountDatabase {
    /// Opens the file, making it if it isn't there; its folder is. `before_write` is called before each statement that may write.
    pub fn open(path: &Path, limits: SqlLimits, before_write: fn()) -> Result<Self, SqlError> {
        let connection = Connection::open(path).map_err(unusable)?;
        // What is sorted or kept for later stays in memory, which is bounded; a file elsewhere would not be.
        connection
            .execute_batch(&format!(
                "pragma page_size = {PAGE_BYTES}; pragma journal_mode = wal; pragma synchronous = full;
                 pragma foreign_keys = on; pragma trusted_schema = off; pragma cell_size_check = on;
                 pragma max_page_count = {}; pragma cache_size = -4096; pragma temp_store = memory;",
                limits.database_bytes / PAGE_BYTES
            ))
            .map_err(unusable)?;
        // Every file that a database has is open after this.
        connection
            .query_row("select random() from sqlite_schema", [], |_| Ok(()))
            .optional()
            .map_err(unusable)?;
        for (limit, most) in [
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_MAX_BYTES),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        ] {
            connection.set_limit(limit, most).map_err(unusable)?;
        }
        let guard = Arc::new(Guard::new());
        let in_hook = guard.clone();
        connection
            .authorizer(Some(move |context: AuthContext<'_>| in_hook.authorize(&context)))
            .map_err(unusable)?;
        let in_hook = guard.clone();
        connection
            .progress_handler(CLOCK_EVERY, Some(move || in_hook.is_late()))
            .map_err(unusable)?;
        Ok(Self {
            connection,
            guard,
            limits,
            before_write,
        })
    }

    /// Writes what is in the log into the database itself, and empties the log.
    pub fn settle(&self) -> Result<(), SqlError> {
        self.guard.allow(self.limits.time);
        self.ours("pragma wal_checkpoint(truncate)")
    }

    /// Whether the connection can be used again: no transaction is left open on it.
    pub fn is_sound(&self) -> bool {
        self.connection.is_autocommit()
    }

    /// Runs one statement.
    pub fn execute(&self, statement: &SqlStatement, mode: SqlMode) -> Result<SqlResult, SqlError> {
        self.bounded(mode, || self.run(statement, &mut ANSWER_MAX_BYTES.clone()))
    }

    /// Runs statements in one transaction: all of them, or none.
    pub fn batch(&self, statements: &[SqlStatement], mode: SqlMode) -> Result<Vec<SqlResult>, SqlError> {
        if statements.len() > BATCH_MAX_STATEMENTS {
            return Err(SqlError::Refused(format!(
                "a batch has at most {BATCH_MAX_STATEMENTS} statements"
            )));
        }
        self.bounded(mode, || {
            self.ours(match mode {
                SqlMode::Write => "begin immediate",
                SqlMode::Deferred | SqlMode::Read => "begin deferred",
            })?;
            let mut room = ANSWER_MAX_BYTES;
            let results: Result<Vec<_>, _> = statements
                .iter()
                .map(|statement| self.run(statement, &mut room))
                .collect();
            let ended = match &results {
                Ok(_) => self.ours("commit"),
                // Some failures end the transaction by themselves.
                Err(_) if self.connection.is_autocommit() => Ok(()),
                Err(_) => self.ours("rollback"),
            };
            if ended.is_err() && !self.connection.is_autocommit() {
                self.ours("rollback")?;
            }
            ended.and(results)
        })
    }

    /// Does the work in its time, so that nothing in it can write if only reading was asked for.
    fn bounded<T>(&self, mode: SqlMode, work: impl FnOnce() -> Result<T, SqlError>) -> Result<T, SqlError> {
        self.guard.allow(self.limits.time);
        if mode != SqlMode::Read {
            return work();
        }
        self.ours("pragma query_only = on")?;
        let result = work();
        self.ours("pragma query_only = off")?;
        result
    }

    /// Runs a statement; `room` is what is left for the rows of its call.
    fn run(&self, statement: &SqlStatement, room: &mut usize) -> Result<SqlResult, SqlError> {
        let changes_before = self.connection.total_changes();
        let mut prepared = self.prepare(statement.sql())?;
        if let SqlStatement::WithArgs { args, .. } = statement {
            values::bind(&mut prepared, args)?;
        }
        let mut columns = Vec::new();
        let mut column_types = Vec::new();
        for column in prepared.columns() {
            let (name, declared) = (column.name(), column.decl_type().unwrap_or_default());
            take(room, name.len() + declared.len() + values::BASE_BYTES)?;
            columns.push(name.to_owned());
            column_types.push(declared.to_owned());
        }
        let is_write = !prepared.readonly();
        if is_write {
            (self.before_write)();
        }
        let mut rows = Vec::new();
        let mut cursor = prepared.raw_query();
        while let Some(row) = cursor.next().map_err(|error| self.limits.refused(&error))? {
            let mut values = Vec::with_capacity(columns.len());
            for index in 0..columns.len() {
                let value = row.get_ref(index).map_err(|error| self.limits.refused(&error))?;
                take(room, values::size_of(value))?;
                values.push(values::to_json(value));
            }
            rows.push(values);
        }
        drop(cursor);
        drop(prepared);
        let rowid = self.connection.last_insert_rowid();
        Ok(SqlResult {
            columns,
            column_types,
            rows,
            rows_affected: if is_write {
                self.connection.total_changes() - changes_before
            } else {
                0
            },
            last_insert_rowid: (rowid != 0).then_some(rowid),
        })
    }

    /// The one statement of this text.
    fn prepare(&self, sql: &str) -> Result<Statement<'_>, SqlError> {
        let mut statements = Batch::new(&self.connection, sql);
        let first = statements.next().map_err(|error| self.limits.refused(&error))?;
        let first =
            first.ok_or_else(|| SqlError::Refused("there is no statement in this text".to_owned()))?;
        match statements.next() {
            Ok(None) => Ok(first),
            Ok(Some(_)) | Err(_) => Err(SqlError::Refused(
                "there is more than one statement in this text: send a batch instead".to_owned(),
            )),
        }
    }

    /// Runs SQL of our own, which the account's rules don't bind.
    fn ours(&self, sql: &str) -> Result<(), SqlError> {
        self.guard
            .unbound(|| self.connection.execute_batch(sql))
            .map_err(|error| self.limits.refused(&error))
    }
}

/// Takes so many bytes from what is left for an answer.
fn take(room: &mut usize, bytes: usize) -> Result<(), SqlError> {
    *room = room.checked_sub(bytes).ok_or_else(SqlError::too_many_rows)?;
    Ok(())
}
