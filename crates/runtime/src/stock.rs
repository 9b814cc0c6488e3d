//! The cache of remote modules, which all workers read and none may change: what a val imports is fetched into it by a
//! process that runs nothing of what it fetches.

use std::{
    collections::HashSet,
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::PathBuf,
    process::Stdio,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::Semaphore;

use crate::{
    remove::remove_folder,
    worker::{Launch, Purpose},
};

/// Processes that fetch at once.
const TURNS: usize = 4;
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Imports that are known to be in the cache; beyond it all are looked at again.
const MOST_KNOWN: usize = 100_000;

/// Sees to it that modules are in the cache before a worker needs them.
pub(crate) struct Stock {
    launch: Launch,
    folder: PathBuf,
    /// Import statements whose modules are there, with all that those import.
    known: Mutex<HashSet<String>>,
    turns: Semaphore,
    next: AtomicU64,
}

impl Stock {
    /// `folder` is there already, for this alone.
    pub(crate) fn new(launch: Launch, folder: PathBuf) -> Self {
        Self {
            launch,
            folder,
            known: Mutex::default(),
            turns: Semaphore::new(TURNS),
            next: AtomicU64::new(0),
        }
    }

    /// Fetches what these import statements ask for and is not there yet. What can't be had is left to the worker,
    /// whose import then fails with Deno's own words.
    pub(crate) async fn fetch(&self, statements: Vec<String>) {
        let missing = self.missing(statements);
        if missing.is_empty() {
            return;
        }
        let Ok(_turn) = self.turns.acquire().await else {
            return;
        };
        // Another run may have fetched it meanwhile.
        let missing = self.missing(missing);
        if missing.is_empty() || self.fetch_now(&missing).await || missing.len() == 1 {
            return;
        }
        // One that can't be had must not keep the others from being fetched.
        for statement in missing {
            self.fetch_now(&[statement]).await;
        }
    }

    fn known(&self) -> MutexGuard<'_, HashSet<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn missing(&self, mut statements: Vec<String>) -> Vec<String> {
        let known = self.known();
        statements.retain(|statement| !known.contains(statement));
        statements
    }

    /// Says whether all of it is there now.
    async fn fetch_now(&self, statements: &[String]) -> bool {
        let folder = self
            .folder
            .join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        let fetched = self.fetch_from(&folder, statements).await;
        // What is left is removed at the next start.
        let _ = remove_folder(&folder);
        match fetched {
            Ok(true) => {
                let mut known = self.known();
                if known.len() > MOST_KNOWN {
                    known.clear();
                }
                known.extend(statements.iter().cloned());
                true
            }
            Ok(false) => false,
            Err(cause) => {
                tracing::error!(%cause, "remote modules could not be fetched");
                false
            }
        }
    }

    async fn fetch_from(&self, folder: &PathBuf, statements: &[String]) -> io::Result<bool> {
        fs::DirBuilder::new().mode(0o700).create(folder)?;
        let module = folder.join("imports.mjs");
        fs::write(&module, statements.join("\n"))?;
        let lock = self.launch.lock_to_fetch(folder);
        let mut command =
            self.launch
                .command(&lock, &Purpose::Fetch(module), Stdio::null(), Stdio::null())?;
        match tokio::time::timeout(PATIENCE, command.status()).await {
            Ok(status) => Ok(status?.success()),
            Err(_) => Ok(false),
        }
    }
}
