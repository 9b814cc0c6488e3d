//! The accounts' databases. Each that is in use is served by a process of its own: SQL is the account's, and may ask for
//! more memory or time than SQLite refuses by itself.

mod frames;
mod process;
mod serve;
mod trial;

use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::PathBuf,
    sync::{Arc, Weak},
    time::Duration,
};

use bytes::Bytes;
use futures_util::future::join_all;
use hamlet_models::UserId;
use hamlet_store::{SqlError, SqlLimits};
use moka::{policy::EvictionPolicy, sync::Cache};
use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore, oneshot};

pub use self::frames::{Ask, Refusal};
pub(crate) use self::{
    frames::CALL_MAX_BYTES,
    serve::{SERVE_ACCOUNT, serve_account},
    trial::{TRY_ACCOUNT, try_account, try_out},
};
use self::{
    frames::Orders,
    process::{Ended, Process},
};

/// How many databases are kept open, and how many calls run at once.
const OPEN_AT_ONCE: usize = 64;
/// How long a database is kept open after its last use, and how often that is looked after.
const OPEN_FOR: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long statements that write may go on beyond their time: a commit is one step, however much it writes.
const WRITE_GRACE: Duration = Duration::from_secs(5);

/// Every account's database; cheap to clone.
#[derive(Clone)]
pub struct AccountDatabases(Arc<Shared>);

/// A database's process, if one runs; held by the call that it runs.
type Slot = Arc<Mutex<Option<Process>>>;

struct Shared {
    launcher: PathBuf,
    folder: PathBuf,
    limits: SqlLimits,
    /// Whether a process must have the whole of its lock.
    strict: bool,
    open: Cache<UserId, Slot>,
    places: Semaphore,
}

impl AccountDatabases {
    /// The databases in that folder, which is made when the first of them is. `launcher` is this program.
    pub fn new(launcher: PathBuf, folder: PathBuf, limits: SqlLimits, strict: bool) -> Self {
        let open = Cache::builder()
            .max_capacity(OPEN_AT_ONCE as u64)
            .time_to_idle(OPEN_FOR)
            .eviction_policy(EvictionPolicy::lru())
            .eviction_listener(|_, slot: Slot, _| {
                tokio::spawn(async move {
                    if let Some(process) = slot.lock().await.take() {
                        process.end().await;
                    }
                });
            })
            .build();
        let shared = Arc::new(Shared {
            launcher,
            folder,
            limits,
            strict,
            open,
            places: Semaphore::new(OPEN_AT_ONCE),
        });
        tokio::spawn(look_after(Arc::downgrade(&shared)));
        Self(shared)
    }

    /// Runs what the body of a request asks for in an account's database, and answers the JSON of it.
    pub async fn call(&self, user: UserId, ask: Ask, body: Bytes) -> Result<Bytes, Refusal> {
        // One call at a time for each account: those that wait hold no place.
        let slot = self.0.open.get_with(user, Arc::default).lock_owned().await;
        let (here, caller) = oneshot::channel();
        let shared = self.0.clone();
        // It goes on if its caller leaves, as far as it has to.
        let answer = tokio::spawn(async move { shared.call(user, slot, ask, &body, caller).await }).await;
        drop(here);
        answer.map_err(unusable)?
    }

    /// Ends the processes that have nothing to do; the others end with the server.
    pub async fn close(&self) {
        let idle = self
            .0
            .open
            .iter()
            .filter_map(|(_, slot)| slot.try_lock_owned().ok()?.take());
        let ends: Vec<_> = idle.map(Process::end).collect();
        join_all(ends).await;
    }
}

impl Shared {
    async fn call(
        &self,
        user: UserId,
        mut slot: OwnedMutexGuard<Option<Process>>,
        ask: Ask,
        body: &[u8],
        caller: oneshot::Receiver<()>,
    ) -> Result<Bytes, Refusal> {
        let _place = self.places.acquire().await.map_err(unusable)?;
        // One that ended when it had nothing to do is no loss.
        let kept = slot.take().and_then(Process::alive);
        let mut process = match kept {
            Some(process) => process,
            None => self.start(user).await?,
        };
        match process.call(ask, body, caller).await {
            Ended::Well(answer) => {
                *slot = Some(process);
                answer
            }
            Ended::Badly(error) => {
                tracing::debug!(user.id = %user, %error, "the process of an account's database is given up");
                Err(error.into())
            }
        }
    }

    async fn start(&self, user: UserId) -> Result<Process, SqlError> {
        make_folder(&self.folder).map_err(unusable)?;
        let orders = Orders {
            path: self.folder.join(format!("{user}.db")),
            limits: self.limits,
            strict: self.strict,
        };
        Process::start(&self.launcher, &orders).await
    }
}

/// Closes in time what is not used, for as long as the databases are.
async fn look_after(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        match shared.upgrade() {
            Some(shared) => shared.open.run_pending_tasks(),
            None => return,
        }
    }
}

/// A folder that only its owner can look into.
fn make_folder(folder: &std::path::Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn unusable(error: impl std::fmt::Display) -> SqlError {
    SqlError::Unusable(error.to_string())
}
