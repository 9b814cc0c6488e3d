//! Connections: SQLite files with their settings, or a pool of PostgreSQL connections.

use std::{path::PathBuf, time::Duration};

use sea_orm::{
    ConnectOptions, Database, DatabaseConnection, DbErr,
    sqlx::{
        self, Connection,
        sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
    },
};

use crate::writer::BoxFuture;

/// How long to wait while another process writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// Connections to PostgreSQL that one process holds at most.
const POSTGRES_CONNECTIONS: u32 = 16;

/// An SQLite file and how it is kept.
#[derive(Clone, Debug)]
pub(crate) struct SqliteFile {
    pub(crate) path: PathBuf,
    /// Whether a commit waits for the disk. Without, a commit may be undone when the machine loses its power, but
    /// never when a process dies, and the file is sound either way.
    pub(crate) durable: bool,
    /// Whether room that is freed can be given back to the file system.
    pub(crate) shrinks: bool,
    /// Connections that read at once.
    pub(crate) readers: u32,
}

impl SqliteFile {
    /// The one connection that writes.
    pub(crate) async fn connect_writer(&self) -> Result<DatabaseConnection, DbErr> {
        let mut options = self.options(16);
        options
            .max_connections(1)
            .min_connections(1)
            .map_sqlx_sqlite_before_acquire(|connection, _| is_sound(connection));
        Database::connect(options).await
    }

    /// The connections that read.
    pub(crate) async fn connect_readers(&self) -> Result<DatabaseConnection, DbErr> {
        let mut options = self.options(4);
        options.max_connections(self.readers).min_connections(1);
        Database::connect(options).await
    }

    fn options(&self, cache_mb: u32) -> ConnectOptions {
        let file = self.clone();
        // The name is put in below: an address can't hold every path.
        let mut options = ConnectOptions::new("sqlite:hamlet.db");
        options
            .sqlx_logging(false)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .map_sqlx_sqlite_opts(move |options| file.settings(options, cache_mb));
        options
    }

    fn settings(&self, options: SqliteConnectOptions, cache_mb: u32) -> SqliteConnectOptions {
        let synchronous = if self.durable {
            SqliteSynchronous::Full
        } else {
            SqliteSynchronous::Normal
        };
        let auto_vacuum = if self.shrinks {
            SqliteAutoVacuum::Incremental
        } else {
            SqliteAutoVacuum::None
        };
        options
            .filename(&self.path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(synchronous)
            .auto_vacuum(auto_vacuum)
            .busy_timeout(BUSY_TIMEOUT)
            .foreign_keys(true)
            // What a statement that fails half-way would need to undo itself goes here, not into a file.
            .pragma("temp_store", "MEMORY")
            .pragma("cache_size", format!("-{}", cache_mb * 1_024))
            .pragma("wal_autocheckpoint", "4000")
            .pragma("journal_size_limit", "67108864")
            .row_buffer_size(128)
    }
}

/// Whether a connection may be used: one that is still in a transaction, because SQLite ended that by itself and the
/// driver doesn't know, never may again.
fn is_sound(connection: &mut sqlx::SqliteConnection) -> BoxFuture<'_, Result<bool, sqlx::Error>> {
    let sound = !connection.is_in_transaction();
    Box::pin(async move { Ok(sound) })
}

/// A pool of connections to PostgreSQL.
pub(crate) async fn connect_postgres(url: &str) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(POSTGRES_CONNECTIONS)
        .min_connections(1)
        .sqlx_logging(false)
        .set_application_name("hamlet")
        .test_before_acquire(false)
        .test_before_acquire_if_idle_for(Duration::from_secs(10));
    Database::connect(options).await
}
