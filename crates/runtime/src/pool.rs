//! Blank workers, started before they are needed.

mod locked;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::{Semaphore, oneshot};

use crate::{
    RuntimeError,
    worker::{Doom, Duty, Nursery, Worker},
};
use locked::LockedWorkers;

/// So long a run has the machine for itself before the worker that it took is replaced.
const REFILL_DELAY: Duration = Duration::from_millis(8);
/// Without a cold run for so long, one blank worker is enough.
const IDLE_AFTER: Duration = Duration::from_secs(300);

type Handed = Result<Arc<Worker>, RuntimeError>;

/// The blank workers of a runtime.
pub(crate) struct Pool {
    nursery: Arc<Nursery>,
    target: usize,
    /// Started at once: more than there are cores would only slow each other down.
    starts_at_once: usize,
    /// Those that were started for one lock.
    locked: LockedWorkers,
    /// Turns to start one of those.
    turns: Semaphore,
    state: Mutex<State>,
    closed: AtomicBool,
}

struct State {
    ready: VecDeque<Arc<Worker>>,
    waiting: VecDeque<oneshot::Sender<Handed>>,
    starting: usize,
    last_taken: Instant,
}

impl Pool {
    pub(crate) fn new(nursery: Arc<Nursery>, target: usize) -> Self {
        let state = State {
            ready: VecDeque::new(),
            waiting: VecDeque::new(),
            starting: 0,
            last_taken: Instant::now(),
        };
        let starts_at_once = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        Self {
            nursery,
            target,
            starts_at_once,
            locked: LockedWorkers::new(target),
            turns: Semaphore::new(starts_at_once),
            state: Mutex::new(state),
            closed: AtomicBool::new(false),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ready(&self) -> usize {
        self.state().ready.len() + self.locked.count()
    }

    /// A blank worker, from the pool if it has one, else as soon as one is started.
    pub(crate) async fn take(self: &Arc<Self>) -> Handed {
        let waiting = {
            let mut state = self.state();
            state.last_taken = Instant::now();
            // One that died while it was blank is passed over.
            let ready = std::iter::from_fn(|| state.ready.pop_front()).find(|worker| worker.is_alive());
            if let Some(worker) = ready {
                drop(state);
                tokio::spawn(self.clone().refill_later());
                return Ok(worker);
            }
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back(sender);
            receiver
        };
        self.start_missing();
        waiting.await.unwrap_or(Err(RuntimeError::ShuttingDown))
    }

    /// A worker whose imports from elsewhere lead where the lock says. Deno reads a lock at its start, so that none can
    /// be ready for a lock's first run; for an evaluation, which may soon be asked for again, one is got ready then.
    pub(crate) async fn take_locked(self: &Arc<Self>, lock: &Arc<str>, duty: Duty) -> Handed {
        let worker = match self.locked.take(lock) {
            Some(worker) => worker,
            None => self.start_locked(lock).await?,
        };
        if duty == Duty::Evaluating {
            tokio::spawn(self.clone().get_ready(lock.clone()));
        }
        Ok(worker)
    }

    async fn start_locked(&self, lock: &str) -> Handed {
        let _turn = self.turns.acquire().await;
        if self.closed.load(Ordering::Acquire) {
            return Err(RuntimeError::ShuttingDown);
        }
        Worker::start(&self.nursery, Some(lock)).await
    }

    async fn get_ready(self: Arc<Self>, lock: Arc<str>) {
        tokio::time::sleep(REFILL_DELAY).await;
        if !self.locked.want(&lock) {
            return;
        }
        match self.start_locked(&lock).await {
            Ok(worker) => self.locked.keep(lock, worker),
            Err(RuntimeError::ShuttingDown) => {}
            Err(cause) => tracing::error!(%cause, "a worker could not be started before it is needed"),
        }
        if self.closed.load(Ordering::Acquire) {
            self.locked.clear();
        }
    }

    /// Starts the first worker, and the others once it is known that they can be.
    pub(crate) async fn prove(self: &Arc<Self>) -> Result<(), RuntimeError> {
        let worker = Worker::start(&self.nursery, None).await?;
        self.state().ready.push_back(worker.clone());
        worker.warm().await;
        self.start_missing();
        Ok(())
    }

    async fn refill_later(self: Arc<Self>) {
        tokio::time::sleep(REFILL_DELAY).await;
        self.start_missing();
    }

    /// Starts as many as are waited for or missing, as far as it is wise to start them at once.
    pub(crate) fn start_missing(self: &Arc<Self>) {
        let count = {
            let mut state = self.state();
            if self.closed.load(Ordering::Acquire) {
                state.waiting.clear();
                return;
            }
            let target = if state.last_taken.elapsed() > IDLE_AFTER {
                self.target.min(1)
            } else {
                self.target
            };
            let missing = (target + state.waiting.len()).saturating_sub(state.ready.len() + state.starting);
            let room = self.starts_at_once.saturating_sub(state.starting);
            let count = missing.min(room);
            state.starting += count;
            count
        };
        for _ in 0..count {
            tokio::spawn(self.clone().start_one());
        }
    }

    async fn start_one(self: Arc<Self>) {
        let mut handed = Worker::start(&self.nursery, None).await;
        let failed = handed.is_err();
        let mut kept = None;
        {
            let mut state = self.state();
            state.starting -= 1;
            while let Some(waiting) = state.waiting.pop_front() {
                // Whoever waited may have gone; then the next one gets it.
                match waiting.send(handed) {
                    Ok(()) => {
                        drop(state);
                        return self.start_missing();
                    }
                    Err(returned) => handed = returned,
                }
            }
            match handed {
                Ok(worker) if self.closed.load(Ordering::Acquire) => worker.kill(Doom::Finished),
                Ok(worker) => {
                    state.ready.push_back(worker.clone());
                    kept = Some(worker);
                }
                Err(cause) => tracing::error!(%cause, "a blank worker could not be started"),
            }
        }
        if let Some(worker) = kept {
            worker.warm().await;
        }
        // After a failure the next run tries again; trying on and on would only fill the log.
        if !failed {
            self.start_missing();
        }
    }

    /// Gives back what an idle instance does not need.
    pub(crate) fn shrink_if_idle(&self) {
        self.locked.sweep();
        let mut state = self.state();
        if state.last_taken.elapsed() > IDLE_AFTER {
            while state.ready.len() > 1 {
                if let Some(worker) = state.ready.pop_back() {
                    worker.kill(Doom::Finished);
                }
            }
        }
    }

    /// Ends the blank workers and starts no more.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.locked.clear();
        let mut state = self.state();
        state.waiting.clear();
        state
            .ready
            .drain(..)
            .for_each(|worker| worker.kill(Doom::Finished));
    }
}
