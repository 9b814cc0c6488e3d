//! What versions import from elsewhere: locked when they are saved.

use std::{sync::Arc, time::Duration};

use hamlet_store::ValRecord;
use tokio::sync::Semaphore;

use super::{AuthorModules, RunService};

/// How long a save is held back to hear whether what it imports can be had.
const PATIENCE: Duration = Duration::from_secs(3);
/// Versions that wait to be locked; of more, what they import is locked when they run first.
const WAITING: usize = 64;

static TURNS: Semaphore = Semaphore::const_new(WAITING);

impl RunService {
    /// Has what a saved version imports from elsewhere locked, and answers what its author should know of that: nothing
    /// where all of it could be had before, which nobody waits for. What takes longer goes on.
    pub async fn lock_imports(&self, val: &Arc<ValRecord>) -> Vec<String> {
        // Most versions import nothing from elsewhere, and need not be compiled to know.
        if !["npm:", "jsr:", "http:", "https:"]
            .iter()
            .any(|scheme| val.code.contains(scheme))
        {
            return Vec::new();
        }
        let (Some(runtime), Ok(turn)) = (self.inner.runtime.clone(), TURNS.try_acquire()) else {
            return Vec::new();
        };
        let source = AuthorModules::new(self.inner.store.clone(), self.inner.links.clone(), val.owner.id);
        let imports = match runtime.imports(&self.inner.program(val), &source).await {
            Ok(Some(imports)) => imports,
            Ok(None) => return Vec::new(),
            Err(cause) => {
                tracing::error!(%cause, "what a version imports could not be looked for");
                return Vec::new();
            }
        };
        let known = imports.known;
        let locking = tokio::spawn(async move {
            let _turn = turn;
            let locked = runtime.lock(&imports, &source).await;
            if let Err(cause) = &locked {
                tracing::error!(%cause, "a version's imports could not be locked");
            }
            locked
        });
        if known {
            return Vec::new();
        }
        match tokio::time::timeout(PATIENCE, locking).await {
            Ok(Ok(Ok(warnings))) => warnings,
            // A fault of ours is in the log, and the first run tries again.
            Ok(Ok(Err(_)) | Err(_)) => Vec::new(),
            Err(_) => vec![format!(
                "what this imports from elsewhere is not there yet after {} s: it is still being fetched",
                PATIENCE.as_secs()
            )],
        }
    }
}
