//! One account's database, open.

use std::{
    fs::DirBuilder,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use hamlet_models::{SqlMode, SqlResult, SqlStatement};
use rusqlite::{
    Batch, Connection, ErrorCode, Statement,
    fallible_iterator::FallibleIterator,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
};

use super::{SqlError, values};

/// How long the statements of one call may take together.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// The most bytes that an account's database may have.
const DATABASE_MAX_BYTES: u64 = 1 << 30;
/// The most bytes of rows and of columns' names that one call answers.
const ANSWER_MAX_BYTES: usize = 16 << 20;
/// The most bytes of one value, and of one statement.
const VALUE_MAX_BYTES: i32 = 16 << 20;
const SQL_MAX_BYTES: i32 = 1 << 20;
/// How many instructions of SQLite's machine pass between two looks at the clock.
const CLOCK_EVERY: i32 = 10_000;
/// A database's pages, in bytes.
const PAGE_BYTES: u64 = 4_096;

/// Pragmas that only look, or that stay in the account's own file.
const PRAGMAS: [&str; 15] = [
    "foreign_key_check",
    "foreign_key_list",
    "foreign_keys",
    "freelist_count",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "optimize",
    "page_count",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
    "user_version",
];

/// One open database.
pub(super) struct Account {
    connection: Connection,
    guard: Arc<Guard>,
}

/// What the hooks of a connection need to know.
struct Guard {
    /// Whether the statement that runs is ours, not the account's.
    ours: AtomicBool,
    /// When to stop.
    deadline: Mutex<Instant>,
}

impl Account {
    /// Opens the file, making it if it isn't there. Its clock has run out until it is started.
    pub(super) fn open(path: &Path) -> Result<Self, SqlError> {
        if let Some(folder) = path.parent() {
            make_folder(folder).map_err(unusable)?;
        }
        let connection = Connection::open(path).map_err(unusable)?;
        connection
            .execute_batch(&format!(
                "pragma page_size = {PAGE_BYTES}; pragma journal_mode = wal; pragma synchronous = full;
                 pragma foreign_keys = on; pragma trusted_schema = off; pragma cell_size_check = on;
                 pragma max_page_count = {}; pragma cache_size = -4096;",
                DATABASE_MAX_BYTES / PAGE_BYTES
            ))
            .map_err(unusable)?;
        for (limit, most) in [
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_MAX_BYTES),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        ] {
            connection.set_limit(limit, most).map_err(unusable)?;
        }
        let guard = Arc::new(Guard {
            ours: AtomicBool::new(false),
            deadline: Mutex::new(Instant::now()),
        });
        let in_hook = guard.clone();
        connection
            .authorizer(Some(move |context: AuthContext<'_>| in_hook.authorize(&context)))
            .map_err(unusable)?;
        let in_hook = guard.clone();
        connection
            .progress_handler(CLOCK_EVERY, Some(move || in_hook.is_late()))
            .map_err(unusable)?;
        Ok(Self { connection, guard })
    }

    /// Gives the statements that come the whole of their time.
    pub(super) fn start_clock(&self) {
        let mut deadline = self.guard.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        *deadline = Instant::now() + TIME_LIMIT;
    }

    /// Whether the connection can be used again: no transaction is left open on it.
    pub(super) fn is_sound(&self) -> bool {
        self.connection.is_autocommit()
    }

    /// Runs one statement.
    pub(super) fn execute(&self, statement: &SqlStatement, mode: SqlMode) -> Result<SqlResult, SqlError> {
        self.bounded(mode, || self.run(statement, &mut ANSWER_MAX_BYTES.clone()))
    }

    /// Runs statements in one transaction.
    pub(super) fn execute_batch(
        &self,
        statements: &[SqlStatement],
        mode: SqlMode,
    ) -> Result<Vec<SqlResult>, SqlError> {
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

    /// Does the work, so that nothing in it can write if only reading was asked for.
    fn bounded<T>(&self, mode: SqlMode, work: impl FnOnce() -> Result<T, SqlError>) -> Result<T, SqlError> {
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
        let mut rows = Vec::new();
        let mut cursor = prepared.raw_query();
        while let Some(row) = cursor.next().map_err(|error| refused(&error))? {
            let mut values = Vec::with_capacity(columns.len());
            for index in 0..columns.len() {
                let value = row.get_ref(index).map_err(|error| refused(&error))?;
                take(room, values::size_of(value))?;
                values.push(values::to_json(value));
            }
            rows.push(values);
        }
        drop(cursor);
        let is_write = !prepared.readonly();
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
        let first = statements.next().map_err(|error| refused(&error))?;
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
        self.guard.ours.store(true, Ordering::Relaxed);
        let done = self
            .connection
            .execute_batch(sql)
            .map_err(|error| refused(&error));
        self.guard.ours.store(false, Ordering::Relaxed);
        done
    }
}

impl Guard {
    fn authorize(&self, context: &AuthContext<'_>) -> Authorization {
        let allowed = self.ours.load(Ordering::Relaxed)
            || match context.action {
                AuthAction::Attach { .. }
                | AuthAction::Detach { .. }
                | AuthAction::Transaction { .. }
                | AuthAction::Savepoint { .. } => false,
                // They would be in another file, which has no largest size, and go with this connection.
                AuthAction::CreateTempTable { .. }
                | AuthAction::CreateTempIndex { .. }
                | AuthAction::CreateTempTrigger { .. }
                | AuthAction::CreateTempView { .. } => false,
                AuthAction::Pragma { pragma_name, .. } => {
                    PRAGMAS.contains(&pragma_name.to_ascii_lowercase().as_str())
                }
                AuthAction::Function { function_name } => !["load_extension", "fts3_tokenizer"]
                    .contains(&function_name.to_ascii_lowercase().as_str()),
                _ => true,
            };
        if allowed {
            Authorization::Allow
        } else {
            Authorization::Deny
        }
    }

    fn is_late(&self) -> bool {
        Instant::now() > *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A folder that only its owner can look into.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Takes so many bytes from what is left for an answer.
fn take(room: &mut usize, bytes: usize) -> Result<(), SqlError> {
    *room = room.checked_sub(bytes).ok_or_else(|| {
        SqlError::Refused(format!(
            "the rows are larger than the {} MB that one call answers: add a limit",
            ANSWER_MAX_BYTES >> 20
        ))
    })?;
    Ok(())
}

fn refused(error: &rusqlite::Error) -> SqlError {
    let sentence = match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => format!(
            "the statements ran longer than the {} s that they may take",
            TIME_LIMIT.as_secs()
        ),
        Some(ErrorCode::DiskFull) => format!(
            "the database is full: an account's database has at most {} MB",
            DATABASE_MAX_BYTES >> 20
        ),
        Some(ErrorCode::AuthorizationForStatementDenied) => {
            "this statement is not allowed here: an account's database can't attach files, set pragmas, make temporary \
             tables or begin transactions of its own (send a batch instead)"
                .to_owned()
        }
        Some(ErrorCode::ReadOnly) => return SqlError::ReadOnly,
        Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => return unusable(error),
        _ => error.to_string(),
    };
    SqlError::Refused(sentence)
}

fn unusable(error: impl std::fmt::Display) -> SqlError {
    SqlError::Unusable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_statement_is_stopped() {
        let folder = tempfile::tempdir().expect("a folder");
        // Its clock is not started.
        let account = Account::open(&folder.path().join("alone.db")).expect("a database");
        let endless =
            "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
        let stopped = account
            .execute(&SqlStatement::Bare(endless.into()), SqlMode::Deferred)
            .expect_err("stopped");
        assert!(stopped.to_string().contains("10 s"), "{stopped}");
    }
}
