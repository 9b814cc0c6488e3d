//! Workers that were started with a lock and wait for the next run with the same.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::worker::{Doom, Worker};

/// So long one waits: whoever runs a val is about to run it again, or leaves it for long.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// The workers, the longest waiting first.
pub(super) struct LockedWorkers {
    waiting: Mutex<VecDeque<Waiting>>,
    most: usize,
}

struct Waiting {
    lock: Arc<str>,
    worker: Arc<Worker>,
    since: Instant,
}

impl LockedWorkers {
    pub(super) fn new(most: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            most,
        }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self) -> usize {
        self.waiting().len()
    }

    /// Whether one more for this lock would be of use.
    pub(super) fn want(&self, lock: &str) -> bool {
        self.most > 0 && self.waiting().iter().all(|waiting| &*waiting.lock != lock)
    }

    pub(super) fn take(&self, lock: &str) -> Option<Arc<Worker>> {
        let mut waiting = self.waiting();
        let at = waiting.iter().position(|waiting| &*waiting.lock == lock)?;
        let worker = waiting.remove(at)?.worker;
        // One may have died meanwhile.
        worker.is_alive().then_some(worker)
    }

    /// Keeps one, and lets those go that waited longest.
    pub(super) fn keep(&self, lock: Arc<str>, worker: Arc<Worker>) {
        let since = Instant::now();
        let mut waiting = self.waiting();
        waiting.push_back(Waiting { lock, worker, since });
        let more = waiting.len().saturating_sub(self.most);
        waiting
            .drain(..more)
            .for_each(|waiting| waiting.worker.kill(Doom::Finished));
    }

    /// Lets those go that waited long.
    pub(super) fn sweep(&self) {
        self.waiting().retain(|waiting| {
            let kept = waiting.since.elapsed() < KEPT_FOR;
            if !kept {
                waiting.worker.kill(Doom::Finished);
            }
            kept
        });
    }

    pub(super) fn clear(&self) {
        self.waiting()
            .drain(..)
            .for_each(|waiting| waiting.worker.kill(Doom::Finished));
    }
}
