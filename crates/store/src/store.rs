//! The store: opening, looking after and closing it.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::StoreError;

/// Where the store is and what it is opened for.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// The folder of everything durable; made if it isn't there.
    pub data_dir: PathBuf,
    /// A PostgreSQL database (`postgres://…`) to use instead of SQLite files in `data_dir`.
    pub database_url: Option<String>,
    /// What opens it.
    pub role: StoreRole,
}

/// What opens a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreRole {
    /// A server. On SQLite it is the only one of its folder, and keeps what it reads in memory.
    Server,
    /// The command line, also beside a running server.
    Tool,
}

/// A handle on everything durable; cheap to clone.
#[derive(Clone)]
pub struct Store {}

/// Part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice<T> {
    /// The items.
    pub items: Vec<T>,
    /// Whether more follow.
    pub more: bool,
}

/// The SHA-256 of a token's, session's or link's secret: all that is kept of it.
pub type SecretHash = [u8; 32];

/// The hash under which a secret is kept and found.
pub fn hash_secret(secret: &str) -> SecretHash {
    Sha256::digest(secret.as_bytes()).into()
}

impl Store {
    /// Opens the store, making the folder (for its owner alone), the files and the tables that are missing.
    pub async fn open(config: &StoreConfig) -> Result<Self, StoreError> {
        todo!()
    }

    /// Asks each database a question, to see that it answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        todo!()
    }

    /// Waits for the writes under way and closes the files; what is asked of the store afterwards fails.
    pub async fn close(&self) -> Result<(), StoreError> {
        todo!()
    }
}
