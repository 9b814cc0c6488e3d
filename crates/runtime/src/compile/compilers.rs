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
    serve::{COMPILE, MEMORY_MB},
    syntax_error,
    words::{Ask, CODE_MAX_BYTES},
};
use crate::{GaveUp, Helper};

/// How long compiling may take, with the start of the process.
const PATIENCE: Duration = Duration::from_secs(20);
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
    idle: Mutex<Option<Helper>>,
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
        made.unwrap_or_else(|why| Err(told_of(&why, url)))
    }

    /// Has a process ready for the first code.
    pub(crate) fn make_ready(&self) {
        let mut idle = self.0.idle();
        if idle.is_none() {
            match Helper::start(&self.0.launcher, COMPILE, self.0.strict) {
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
    ) -> Result<Result<T, RunError>, GaveUp> {
        if ask.code().len() > CODE_MAX_BYTES {
            return Err(GaveUp::TooMuch);
        }
        let ask = serde_json::to_vec(ask).map_err(io::Error::from)?;
        let turn = self.0.turns.get_with(group, Arc::default);
        let _turn = turn.lock().await;
        let _seat = self.0.seats.acquire().await.map_err(io::Error::other)?;
        let kept = self.0.idle().take().and_then(Helper::alive);
        let mut process = match kept {
            Some(process) => process,
            None => Helper::start(&self.0.launcher, COMPILE, self.0.strict)?,
        };
        let answer = process.ask(ask.into(), PATIENCE).await?;
        *self.0.idle() = Some(process);
        Ok(serde_json::from_slice(&answer).map_err(io::Error::from)?)
    }
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Option<Helper>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of the code of this address that was not compiled.
pub(super) fn told_of(why: &GaveUp, url: &str) -> RunError {
    let why = match why {
        GaveUp::TooMuch => format!(
            "the code can't be compiled: it takes more than {MEMORY_MB} MB of memory, nests too deeply, or meets a fault of \
             the compiler"
        ),
        GaveUp::TooLong => format!(
            "the code can't be compiled: it takes more than {} s",
            PATIENCE.as_secs()
        ),
        GaveUp::Lost(cause) => {
            tracing::error!(%cause, "a process that compiles could not be used");
            "the code could not be compiled".to_owned()
        }
    };
    syntax_error(url, 1, 1, &why)
}
