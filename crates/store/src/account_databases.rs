//! The SQLite database that each account has for its own: one file, and no way out of it.

mod account;
mod values;

use std::{path::PathBuf, sync::Arc, time::Duration};

use hamlet_models::{SqlMode, SqlResult, SqlStatement, UserId};
use moka::sync::Cache;
use tokio::sync::Mutex;

use account::Account;

/// The most statements of a batch.
const BATCH_MAX_STATEMENTS: usize = 1_000;
/// How many databases are kept open, and how long after their last use.
const OPEN_AT_ONCE: u64 = 64;
const OPEN_FOR: Duration = Duration::from_secs(60);

/// Why statements were not run.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// SQLite refused a statement, or a limit did: a sentence for who wrote it.
    #[error("{0}")]
    Refused(String),
    /// The statement writes where only reading was asked for.
    #[error("this statement writes, where only reading was asked for")]
    ReadOnly,
    /// Our own fault.
    #[error("the account's database can't be used: {0}")]
    Unusable(String),
}

/// Every account's database; cheap to clone.
#[derive(Clone)]
pub struct AccountDatabases {
    folder: Arc<PathBuf>,
    open: Cache<UserId, Arc<Mutex<Option<Account>>>>,
}

impl AccountDatabases {
    /// The databases in that folder, which is made when the first of them is.
    pub fn new(folder: PathBuf) -> Self {
        let open = Cache::builder()
            .max_capacity(OPEN_AT_ONCE)
            .time_to_idle(OPEN_FOR)
            .build();
        Self {
            folder: Arc::new(folder),
            open,
        }
    }

    /// Runs one statement in an account's database.
    pub async fn execute(
        &self,
        user: UserId,
        statement: SqlStatement,
        mode: SqlMode,
    ) -> Result<SqlResult, SqlError> {
        self.with(user, move |account| account.execute(&statement, mode))
            .await
    }

    /// Runs statements in one transaction of an account's database: all of them, or none.
    pub async fn batch(
        &self,
        user: UserId,
        statements: Vec<SqlStatement>,
        mode: SqlMode,
    ) -> Result<Vec<SqlResult>, SqlError> {
        if statements.len() > BATCH_MAX_STATEMENTS {
            return Err(SqlError::Refused(format!(
                "a batch has at most {BATCH_MAX_STATEMENTS} statements"
            )));
        }
        self.with(user, move |account| account.execute_batch(&statements, mode))
            .await
    }

    /// One call at a time for each account: those that wait take no thread.
    async fn with<T: Send + 'static>(
        &self,
        user: UserId,
        work: impl FnOnce(&mut Account) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, SqlError> {
        let mut account = self.open.get_with(user, Arc::default).lock_owned().await;
        let path = self.folder.join(format!("{user}.db"));
        tokio::task::spawn_blocking(move || {
            // Whatever goes wrong in our own code, the next call begins with a connection of its own.
            let mut open = match account.take() {
                Some(open) => open,
                None => Account::open(&path)?,
            };
            open.start_clock();
            let result = work(&mut open);
            if open.is_sound() {
                *account = Some(open);
            }
            result
        })
        .await
        .map_err(|error| SqlError::Unusable(error.to_string()))?
    }
}
