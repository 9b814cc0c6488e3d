//! What versions import: looked for when they are saved, and locked where it comes from elsewhere.

use std::{sync::Arc, time::Duration};

use hamlet_runtime::{Imports, Runtime};
use hamlet_store::ValRecord;
use tokio::{sync::Semaphore, task::JoinHandle};

use super::{AuthorModules, RunService};

/// How long a save is held back to hear whether what it imports can be had.
const PATIENCE: Duration = Duration::from_secs(3);
/// Versions that wait to be locked; of more, what they import is locked when they run first.
const WAITING: usize = 64;

static TURNS: Semaphore = Semaphore::const_new(WAITING);

/// What an import of anything but a bare word begins with.
const BEGINNINGS: [&str; 6] = ["npm:", "jsr:", "http:", "https:", "./", "/v/"];

impl RunService {
    /// Looks for what a saved version imports, and has what comes from elsewhere locked; answers what its author should
    /// know of that. Nobody waits for what could be had before.
    pub async fn lock_imports(&self, val: &Arc<ValRecord>) -> Vec<String> {
        // Most versions import nothing, and need not be compiled to know.
        if !BEGINNINGS.iter().any(|beginning| val.code.contains(beginning)) {
            return Vec::new();
        }
        let (Some(runtime), Ok(turn)) = (self.inner.runtime.clone(), TURNS.try_acquire()) else {
            return Vec::new();
        };
        let source = AuthorModules::new(self.inner.store.clone(), self.inner.links.clone(), val.owner.id);
        let mut imports = match runtime
            .imports(val.owner.id.0, &self.inner.program(val), &source)
            .await
        {
            Ok(Some(imports)) => imports,
            Ok(None) => return Vec::new(),
            Err(cause) => {
                tracing::error!(%cause, "what a version imports could not be looked for");
                return Vec::new();
            }
        };
        let mut warnings = std::mem::take(&mut imports.missing);
        if imports.is_remote() {
            let known = imports.known;
            // What takes longer than anyone waits goes on.
            let locking = tokio::spawn(async move {
                let _turn = turn;
                lock(runtime, imports, source).await
            });
            if !known {
                warnings.extend(patiently(locking).await);
            }
        }
        warnings
    }
}

async fn patiently(locking: JoinHandle<Vec<String>>) -> Vec<String> {
    match tokio::time::timeout(PATIENCE, locking).await {
        Ok(warnings) => warnings.unwrap_or_default(),
        Err(_) => vec![format!(
            "what this imports from elsewhere is not there yet after {} s: it is still being fetched",
            PATIENCE.as_secs()
        )],
    }
}

/// Locks what comes from elsewhere; gives a sentence for each import that could not be had.
async fn lock(runtime: Runtime, imports: Imports, source: AuthorModules) -> Vec<String> {
    match runtime.lock(&imports, &source).await {
        Ok(warnings) => warnings,
        // A fault of ours; the first run tries again.
        Err(cause) => {
            tracing::error!(%cause, "a version's imports could not be locked");
            Vec::new()
        }
    }
}
