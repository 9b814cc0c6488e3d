//! The runs of a worker: one for a script, any number for an HTTP val.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use hamlet_models::RunId;

use crate::live_run::LiveRun;

/// Ended runs whose late lines are still taken.
const RECENT_RUNS: usize = 1024;

/// The runs that a worker has, and those it had lately.
#[derive(Default)]
pub(crate) struct Runs {
    active: HashMap<RunId, Arc<LiveRun>>,
    recent: VecDeque<Arc<LiveRun>>,
    latest: Option<Arc<LiveRun>>,
    begun: u64,
}

impl Runs {
    /// A run begins; says whether it is the only one now, and how many have begun.
    pub(crate) fn begin(&mut self, run: Arc<LiveRun>) -> (bool, u64) {
        let alone = self.active.is_empty();
        self.begun += 1;
        self.latest = Some(run.clone());
        self.active.insert(run.id, run);
        (alone, self.begun)
    }

    /// A run has ended; its late lines are still taken. Says how many have begun.
    pub(crate) fn end(&mut self, id: RunId) -> u64 {
        if let Some(run) = self.active.remove(&id) {
            if self.recent.len() == RECENT_RUNS {
                self.recent.pop_front();
            }
            self.recent.push_back(run);
        }
        self.begun
    }

    /// Whether no run goes on.
    pub(crate) fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// The runs that go on.
    pub(crate) fn active(&self) -> Vec<Arc<LiveRun>> {
        self.active.values().cloned().collect()
    }

    /// The run of that id, if it goes on.
    pub(crate) fn find_active(&self, id: RunId) -> Option<Arc<LiveRun>> {
        self.active.get(&id).cloned()
    }

    /// The run of that id, if it goes on or ended a while ago.
    pub(crate) fn find(&self, id: RunId) -> Option<Arc<LiveRun>> {
        self.active
            .get(&id)
            .or_else(|| self.recent.iter().rev().find(|run| run.id == id))
            .cloned()
    }

    /// The run that began last: what is printed past the console goes to it.
    pub(crate) fn latest(&self) -> Option<Arc<LiveRun>> {
        self.latest.clone()
    }

    /// No more late lines will come.
    pub(crate) fn forget_recent(&mut self) -> VecDeque<Arc<LiveRun>> {
        std::mem::take(&mut self.recent)
    }
}
