//! What an account's statements may use, and how they are refused.

use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use serde::{Deserialize, Serialize};

/// The most bytes of rows and of columns' names that one call answers.
pub const ANSWER_MAX_BYTES: usize = 16 << 20;
/// The most bytes of one value.
pub const VALUE_MAX_BYTES: i32 = 16 << 20;
/// The most bytes of the text of one statement.
pub const SQL_MAX_BYTES: i32 = 1 << 20;

/// Why statements were not run.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum SqlError {
    /// SQLite refused a statement, or a limit did: a sentence for who wrote it.
    #[error("{0}")]
    Refused(String),
    /// The statement writes where only reading was asked for.
    #[error("this statement writes, where only reading was asked for")]
    ReadOnly,
    /// What ran the statements ended before it had answered.
    #[error(
        "what ran these statements ended before it answered: look whether they were done before sending them again"
    )]
    Lost,
    /// Our own fault.
    #[error("the account's database can't be used: {0}")]
    Unusable(String),
}

impl SqlError {
    /// More was answered than one call may.
    pub fn too_many_rows() -> Self {
        Self::Refused(format!(
            "the rows are larger than the {} MB that one call answers: add a limit",
            ANSWER_MAX_BYTES >> 20
        ))
    }
}

/// What the statements of one call may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlLimits {
    /// How long they may take together.
    pub time: Duration,
    /// The most bytes that SQLite may hold.
    pub memory_bytes: u64,
    /// The most bytes that the database may have.
    pub database_bytes: u64,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            memory_bytes: 256 << 20,
            database_bytes: 1 << 30,
        }
    }
}

impl SqlLimits {
    /// Has SQLite refuse to hold more memory. This binds every connection of the process from now on, so it is for one
    /// that does nothing else.
    pub fn bind_memory(&self) -> Result<(), SqlError> {
        let connection = Connection::open_in_memory().map_err(unusable)?;
        connection
            .pragma_update(None, "hard_heap_limit", self.memory_bytes.cast_signed())
            .map_err(unusable)
    }

    /// The refusal of statements that took too long.
    pub fn too_slow(&self) -> SqlError {
        SqlError::Refused(format!(
            "the statements ran longer than the {} s that they may take",
            self.time.as_secs()
        ))
    }

    /// The refusal of statements that needed too much memory.
    pub fn too_greedy(&self) -> SqlError {
        SqlError::Refused(format!(
            "the statements need more memory than the {} MB that they may take",
            self.memory_bytes >> 20
        ))
    }

    /// The refusal of statements that the database has no room for.
    pub fn full(&self) -> SqlError {
        SqlError::Refused(format!(
            "the database is full: an account's database has at most {} MB",
            self.database_bytes >> 20
        ))
    }

    /// What SQLite said, in our words where a limit did.
    pub(super) fn refused(&self, error: &rusqlite::Error) -> SqlError {
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => self.too_slow(),
            Some(ErrorCode::OutOfMemory) => self.too_greedy(),
            Some(ErrorCode::DiskFull) => self.full(),
            Some(ErrorCode::TooBig) => SqlError::Refused(format!(
                "{error}: a value has at most {} MB, and the text of a statement {} MB",
                VALUE_MAX_BYTES >> 20,
                SQL_MAX_BYTES >> 20
            )),
            Some(ErrorCode::AuthorizationForStatementDenied) => SqlError::Refused(
                "this statement is not allowed here: an account's database can't attach files, set pragmas, make \
                 temporary tables or begin transactions of its own (send a batch instead)"
                    .to_owned(),
            ),
            Some(ErrorCode::ReadOnly) => SqlError::ReadOnly,
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => unusable(error),
            _ => SqlError::Refused(error.to_string()),
        }
    }
}

pub(super) fn unusable(error: impl std::fmt::Display) -> SqlError {
    SqlError::Unusable(error.to_string())
}
