//! The processes that compile. A few lines of code may ask a compiler for more memory than the machine has, or for
//! minutes: a process of its own has limits for both, and ends alone.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hamlet_models::RunError;
use moka::sync::Cache;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::{
    process::{Process, Unable},
    words::{Ask, CODE_MAX_BYTES},
};

/// How long it is known who has code compiled now, after they asked.
const KNOWN_FOR: Duration = Duration::from_secs(60);

/// What compiles vals; cheap to clone.
#[derive(Clone)]
pub struct Compilers(Arc<Shared>);

struct Shared {
    launcher: PathBuf,
    /// Whether a process must have the whole of its lock.
    strict: bool,
    /// The one that is kept when there is nothing to do.
    idle: Mutex<Option<Process>>,
    /// As many at once as the machine has cores, and two at least: nobody's code keeps everybody's waiting.
    seats: Semaphore,
    /// Held by whoever has code compiled now: one at a time of each.
    turns: Cache<Uuid, Arc<tokio::sync::Mutex<()>>>,
}

impl Compilers {
    /// Starts no process before there is code for it. `launcher` is a program that calls [`serve_compiler`] with what
    /// follows [`COMPILE`], its first argument; `strict` says whether it must be locked in wholly.
    ///
    /// [`serve_compiler`]: crate::serve_compiler
    /// [`COMPILE`]: crate::COMPILE
    pub fn new(launcher: PathBuf, strict: bool) -> Self {
        let seats = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        Self(Arc::new(Shared {
            launcher,
            strict,
            idle: Mutex::default(),
            seats: Semaphore::new(seats),
            turns: Cache::builder().time_to_idle(KNOWN_FOR).build(),
        }))
    }

    /// A val's code as JavaScript, for who takes no types: its imports of vals lead to this instance, which is at
    /// `origin` for whoever asked, and the others stay as they are. `group` is whose code it is: of each, one is compiled
    /// at a time.
    pub async fn javascript(
        &self,
        group: Uuid,
        code: &str,
        url: &str,
        origin: &str,
    ) -> Result<String, RunError> {
        let made = self.ask(group, &Ask::JavaScript { code, url, origin }).await;
        made.unwrap_or_else(|unable| Err(unable.told_of(url)))
    }

    /// Has a process ready for the first code.
    pub(crate) fn make_ready(&self) {
        let mut idle = self.0.idle();
        if idle.is_none() {
            match Process::start(&self.0.launcher, self.0.strict) {
                Ok(process) => *idle = Some(process),
                Err(cause) => tracing::warn!(%cause, "a process that compiles could not be started"),
            }
        }
    }

    /// Asks a process. A caller that leaves ends the one that it asked.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        group: Uuid,
        ask: &Ask<&str>,
    ) -> Result<Result<T, RunError>, Unable> {
        if ask.code().len() > CODE_MAX_BYTES {
            return Err(Unable::TooMuch);
        }
        let ask = serde_json::to_vec(ask).map_err(io::Error::from)?;
        let turn = self.0.turns.get_with(group, Arc::default);
        let _turn = turn.lock().await;
        let _seat = self.0.seats.acquire().await.map_err(io::Error::other)?;
        let kept = self.0.idle().take().and_then(Process::alive);
        let mut process = match kept {
            Some(process) => process,
            None => Process::start(&self.0.launcher, self.0.strict)?,
        };
        let answer = process.ask(ask.into()).await?;
        *self.0.idle() = Some(process);
        Ok(serde_json::from_slice(&answer).map_err(io::Error::from)?)
    }
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Option<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
