//! The cache of remote modules, which all workers read and none may change, and what programs were locked to of it.

mod fetch;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use moka::future::Cache;
use tokio::sync::Semaphore;

use crate::{
    BoxError, ImportLock, ModuleSource, ProgramKey, compile::RemoteImport, sandbox::Cgroups, worker::Launch,
};
use fetch::Fetcher;
pub(crate) use fetch::Missing;

/// How many bytes of locks are kept at hand.
const LOCK_BYTES: u64 = 32 << 20;
/// Imports that are known to have been had; beyond it all are looked at again.
const MOST_KNOWN: usize = 100_000;
/// Programs that are locked at once without being run: runs come first.
const SAVES_AT_ONCE: usize = 2;

/// Sees to it that modules are in the cache before a worker needs them, and that what was chosen once stays chosen.
pub(crate) struct Stock {
    fetcher: Fetcher,
    /// What programs are locked to, where all of it is in the cache.
    locks: Cache<LockKey, Arc<Locked>>,
    /// Imports that were had without a lock, and in which round: what a registry has newly told may lead them to what
    /// isn't there.
    known: Mutex<HashMap<RemoteImport, u64>>,
    /// Counts how often registries were asked.
    round: AtomicU64,
    saves: Semaphore,
}

/// What a program's imports from elsewhere came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locked {
    /// The lock, if any of it could be had.
    pub(crate) lock: Option<Arc<str>>,
    /// What is not there now.
    pub(crate) missing: Vec<Missing>,
}

/// Whose lock it is.
#[derive(Clone, PartialEq, Eq, Hash)]
enum LockKey {
    Program(ProgramKey),
    /// Code that is kept nowhere shares what it imports with all that import the same.
    Imports(Vec<RemoteImport>),
}

/// What is not kept at hand.
enum Unfit {
    Incomplete(Arc<Locked>),
    Fault(BoxError),
}

impl Stock {
    /// `folder` is there already, for this alone.
    pub(crate) fn new(launch: Launch, cgroups: Option<Arc<Cgroups>>, folder: PathBuf) -> Self {
        let locks = Cache::builder()
            .max_capacity(LOCK_BYTES)
            .weigher(|_: &LockKey, locked: &Arc<Locked>| {
                let size = locked.lock.as_ref().map_or(0, |lock| lock.len()) + 512;
                u32::try_from(size).unwrap_or(u32::MAX)
            })
            .build();
        Self {
            fetcher: Fetcher::new(launch, cgroups, folder),
            locks,
            known: Mutex::default(),
            round: AtomicU64::new(0),
            saves: Semaphore::new(SAVES_AT_ONCE),
        }
    }

    /// What a program's imports are locked to, all of it fetched: locked now, if it wasn't yet.
    pub(crate) async fn locked(
        &self,
        source: &dyn ModuleSource,
        program: &ProgramKey,
        imports: &[RemoteImport],
    ) -> Result<Arc<Locked>, BoxError> {
        let key = match program {
            ProgramKey::Version(..) => LockKey::Program(program.clone()),
            ProgramKey::Code(_) => LockKey::Imports(imports.to_vec()),
        };
        let make = async {
            let locked = self.lock(source, program, imports).await;
            let locked = Arc::new(locked.map_err(Unfit::Fault)?);
            if locked.missing.is_empty() {
                Ok(locked)
            } else {
                Err(Unfit::Incomplete(locked))
            }
        };
        self.locks
            .try_get_with(key, make)
            .await
            .or_else(|unfit| match &*unfit {
                Unfit::Incomplete(locked) => Ok(locked.clone()),
                Unfit::Fault(cause) => Err(cause.to_string().into()),
            })
    }

    /// As [`Stock::locked`], for a program that nobody waits to run.
    pub(crate) async fn locked_at_leisure(
        &self,
        source: &dyn ModuleSource,
        program: &ProgramKey,
        imports: &[RemoteImport],
    ) -> Result<Arc<Locked>, BoxError> {
        let _turn = self.saves.acquire().await?;
        self.locked(source, program, imports).await
    }

    async fn lock(
        &self,
        source: &dyn ModuleSource,
        program: &ProgramKey,
        imports: &[RemoteImport],
    ) -> Result<Locked, BoxError> {
        let kept = source.lock(program).await?;
        if kept.is_none() {
            self.round.fetch_add(1, Ordering::AcqRel);
        }
        let text = kept.as_ref().map(|kept| &*kept.text);
        let fetched = self.fetcher.fetch(imports, text).await?;
        let was_had = |import: &&RemoteImport| {
            let missing = |missing: &Missing| missing.specifier == import.specifier;
            !fetched.missing.iter().any(missing)
        };
        // Without this lock it may lead to what isn't there: only that it can be had is known.
        self.note(imports.iter().filter(was_had), u64::MAX);
        let made = match (kept, fetched.lock) {
            (Some(kept), _) if kept.complete => {
                return Ok(Locked {
                    lock: Some(kept.text),
                    missing: fetched.missing,
                });
            }
            (_, Some(lock)) => Arc::from(lock),
            (kept, None) => {
                return Ok(Locked {
                    lock: kept.map(|kept| kept.text),
                    missing: fetched.missing,
                });
            }
        };
        let complete = fetched.missing.is_empty();
        let lock = ImportLock {
            text: Arc::clone(&made),
            complete,
        };
        let in_force = source.keep_lock(program, lock).await?.text;
        let missing = if in_force == made {
            fetched.missing
        } else {
            // Another server was first.
            self.fetcher.fetch(imports, Some(&in_force)).await?.missing
        };
        Ok(Locked {
            lock: Some(in_force),
            missing,
        })
    }

    /// Whether all of it was had before, be it in another version.
    pub(crate) fn knows(&self, imports: &[RemoteImport]) -> bool {
        let known = self.known();
        imports.iter().all(|import| known.contains_key(import))
    }

    /// Fetches what an import that only shows at run time asks for. What can't be had is left to the worker, whose
    /// import then fails with Deno's own words.
    pub(crate) async fn fetch(&self, mut imports: Vec<RemoteImport>) {
        let round = self.round.load(Ordering::Acquire);
        {
            let known = self.known();
            imports.retain(|import| known.get(import) != Some(&round));
        }
        if imports.is_empty() {
            return;
        }
        match self.fetcher.fetch(&imports, Some(NO_LOCK)).await {
            Ok(fetched) if fetched.missing.is_empty() => self.note(imports.iter(), round),
            Ok(_) => {}
            Err(cause) => tracing::error!(%cause, "remote modules could not be fetched"),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<RemoteImport, u64>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note<'a>(&self, imports: impl Iterator<Item = &'a RemoteImport>, round: u64) {
        let mut known = self.known();
        if known.len() > MOST_KNOWN {
            known.clear();
        }
        known.extend(imports.map(|import| (import.clone(), round)));
    }
}

/// Says nothing of any import, and asks no registry.
const NO_LOCK: &str = r#"{"version":"5"}"#;
