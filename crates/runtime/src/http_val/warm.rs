//! Which HTTP vals have a worker now: found by their program, started once for all requests that wait, retired when
//! nobody comes any more.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    connection::Connection,
    start::{Starting, Unready, start_detached},
};
use crate::{
    ProgramKey, RunRequest, RuntimeError,
    live_run::LiveRun,
    modules::Modules,
    shared::Shared,
    worker::{Doom, Worker},
};

/// Connections to one worker that are kept while nobody uses them.
const IDLE_CONNECTIONS: usize = 64;
/// How long a worker may take to end that has nothing left to do.
const ENDING: Duration = Duration::from_secs(1);

/// A worker that serves an HTTP val.
pub(crate) struct WarmWorker {
    pub(crate) worker: Arc<Worker>,
    pub(crate) modules: Arc<Modules>,
    pub(crate) socket: PathBuf,
    pub(crate) started: Started,
    idle: Mutex<Vec<Connection>>,
    last_used: Mutex<Instant>,
    /// It gets no new requests.
    detached: AtomicBool,
    /// It is not asked to end, once its last request has: one of them met a limit.
    condemned: AtomicBool,
}

/// When a worker became ready.
#[derive(Clone, Copy)]
pub(crate) struct Started {
    /// It had its job.
    pub(crate) given: Instant,
    /// It served.
    pub(crate) ready: Instant,
}

struct Slot {
    url: String,
    environment: Arc<[(String, String)]>,
    starting: Starting,
    ready: Option<Arc<WarmWorker>>,
}

impl Slot {
    fn serves(&self, request: &RunRequest) -> bool {
        let same_environment =
            Arc::ptr_eq(&self.environment, &request.environment) || self.environment == request.environment;
        same_environment && self.url == request.program.url
    }
}

/// The HTTP vals that have a worker.
pub(crate) struct WarmWorkers {
    slots: Mutex<HashMap<ProgramKey, Slot>>,
    /// Those that get no new requests and have old ones.
    leaving: Mutex<Vec<Arc<WarmWorker>>>,
    most: usize,
}

/// What there is for a request.
pub(crate) enum Found {
    /// A worker, on which the run has begun: whether it is alone there, and the how-manieth it is.
    Ready(Arc<WarmWorker>, bool, u64),
    /// A worker whose imports have to be looked at first.
    Check(Arc<WarmWorker>),
    /// One that is being started.
    Starting(Starting),
}

impl WarmWorkers {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            slots: Mutex::default(),
            leaving: Mutex::default(),
            most: most.max(1),
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<ProgramKey, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker for a request; starts one if there is none. `checked` is the worker whose imports were found good.
    pub(crate) fn find(
        &self,
        shared: &Arc<Shared>,
        request: &RunRequest,
        run: &Arc<LiveRun>,
        checked: Option<&Arc<WarmWorker>>,
    ) -> Found {
        let mut slots = self.slots();
        if let Some(slot) = slots.get(&request.program.key)
            && slot.serves(request)
        {
            match &slot.ready {
                None => return Found::Starting(slot.starting.clone()),
                Some(warm) if warm.worker.is_alive() => {
                    let good = !warm.modules.imports_vals()
                        || checked.is_some_and(|checked| Arc::ptr_eq(checked, warm));
                    if !good {
                        return Found::Check(warm.clone());
                    }
                    // Under the lock, so that it can't be retired between being found and being used.
                    let (alone, number) = warm.worker.runs().begin(run.clone());
                    return Found::Ready(warm.clone(), alone, number);
                }
                Some(_) => {}
            }
        }
        if let Some(slot) = slots.remove(&request.program.key) {
            self.let_go(slot);
        }
        if slots.len() >= self.most {
            self.evict_one(&mut slots);
        }
        let starting = start_detached(shared, request, run);
        let slot = Slot {
            url: request.program.url.clone(),
            environment: request.environment.clone(),
            starting: starting.clone(),
            ready: None,
        };
        slots.insert(request.program.key.clone(), slot);
        Found::Starting(starting)
    }

    fn let_go(&self, slot: Slot) {
        let Some(warm) = slot.ready else { return };
        warm.detached.store(true, Ordering::Release);
        self.leaving
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(warm);
    }

    fn evict_one(&self, slots: &mut HashMap<ProgramKey, Slot>) {
        let idle = slots.iter().filter_map(|(key, slot)| {
            let warm = slot.ready.as_ref().filter(|warm| warm.worker.runs().is_idle())?;
            Some((warm.last_used(), key.clone()))
        });
        if let Some((_, key)) = idle.min_by_key(|(used, _)| *used)
            && let Some(slot) = slots.remove(&key)
        {
            self.let_go(slot);
        }
    }

    /// A start that is over: its worker is found from now on, or nobody waits for it any more.
    pub(super) fn settle(
        &self,
        key: &ProgramKey,
        starting: &Starting,
        made: &Result<Arc<WarmWorker>, Unready>,
    ) {
        let mut slots = self.slots();
        let is_this = |slot: &Slot| slot.starting.ptr_eq(starting);
        match (made, slots.get_mut(key)) {
            (Ok(warm), Some(slot)) if is_this(slot) => slot.ready = Some(warm.clone()),
            (Ok(warm), _) => {
                warm.detached.store(true, Ordering::Release);
                self.leaving
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(warm.clone());
            }
            (Err(_), Some(slot)) if is_this(slot) => {
                slots.remove(key);
            }
            (Err(_), _) => {}
        }
    }

    /// The worker gets no new requests, and is ended when it has none left.
    pub(crate) fn condemn(&self, key: &ProgramKey, warm: &Arc<WarmWorker>) {
        warm.condemned.store(true, Ordering::Release);
        self.detach(key, warm);
    }

    /// The worker gets no new requests: it has imports that are no longer right.
    pub(crate) fn detach(&self, key: &ProgramKey, warm: &Arc<WarmWorker>) {
        let mut slots = self.slots();
        let is_this = |slot: &Slot| slot.ready.as_ref().is_some_and(|ready| Arc::ptr_eq(ready, warm));
        if slots.get(key).is_some_and(is_this)
            && let Some(slot) = slots.remove(key)
        {
            self.let_go(slot);
        }
    }

    /// Retires what was not used for `warm_time` and what has been let go; to be called now and then.
    pub(crate) fn sweep(&self, warm_time: Duration) {
        {
            let mut slots = self.slots();
            let gone: Vec<ProgramKey> = slots
                .iter()
                .filter(|(_, slot)| {
                    slot.ready
                        .as_ref()
                        .is_some_and(|warm| warm.is_over(warm_time) || warm.has_overstayed())
                })
                .map(|(key, _)| key.clone())
                .collect();
            for slot in gone
                .iter()
                .filter_map(|key| slots.remove(key))
                .collect::<Vec<_>>()
            {
                self.let_go(slot);
            }
        }
        let idle: Vec<Arc<WarmWorker>> = {
            let mut leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
            leaving
                .extract_if(.., |warm| warm.worker.runs().is_idle())
                .collect()
        };
        for warm in idle {
            warm.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
            if warm.condemned.load(Ordering::Acquire) || warm.has_overstayed() {
                warm.worker.kill(Doom::Finished);
            } else {
                // What its last request left behind has the rest of that one's time.
                let latest = warm.worker.runs().latest();
                let deadline = latest.and_then(|run| run.deadline.get().copied());
                let last_moment = deadline.into_iter().fold(Instant::now() + ENDING, Ord::max);
                tokio::spawn(async move { warm.worker.retire(last_moment).await });
            }
        }
    }
}

impl WarmWorker {
    /// A worker that serves.
    pub(crate) fn new(worker: Arc<Worker>, modules: Arc<Modules>, given: Instant) -> Self {
        Self {
            socket: worker.dir.join("http"),
            worker,
            modules,
            started: Started {
                given,
                ready: Instant::now(),
            },
            idle: Mutex::default(),
            last_used: Mutex::new(Instant::now()),
            detached: AtomicBool::new(false),
            condemned: AtomicBool::new(false),
        }
    }

    pub(crate) fn last_used(&self) -> Instant {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn used(&self) {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether what a request left behind went on for too long.
    fn has_overstayed(&self) -> bool {
        self.worker.overstayed.load(Ordering::Relaxed)
    }

    fn is_over(&self, warm_time: Duration) -> bool {
        !self.worker.is_alive() || (self.worker.runs().is_idle() && self.last_used().elapsed() >= warm_time)
    }

    /// A connection that nobody uses.
    pub(crate) fn connection(&self) -> Option<Connection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps a connection for the next request.
    pub(crate) fn keep(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_CONNECTIONS && !self.detached.load(Ordering::Acquire) {
            idle.push(connection);
        }
    }

    /// Whether the vals that it has imported, also while it served, are still those that an import would lead to now.
    pub(crate) async fn is_current(&self, request: &RunRequest) -> Result<bool, RuntimeError> {
        for (reference, key) in self.modules.imported().iter() {
            let found = request
                .modules
                .module(reference)
                .await
                .map_err(RuntimeError::Modules)?;
            if found.map(|program| program.key) != *key {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
