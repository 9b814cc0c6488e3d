//! The runs of a worker: one for a script, any number for an HTTP val.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use hamlet_models::RunId;

use crate::live_run::LiveRun;

/// Ended runs whose late lines are still taken.
const RECENT_RUNS: usize = 1024;

/// Whose an id in a worker's line is.
pub(crate) enum Whose {
    /// A run that goes on, or that ended a while ago.
    Run(Arc<LiveRun>),
    /// A run's that has ended and whose time is over.
    Nobodys,
    /// No run's of late.
    Unknown,
}

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

    /// Whose run that is.
    pub(crate) fn whose(&self, id: RunId) -> Whose {
        if let Some(run) = self.active.get(&id) {
            return Whose::Run(run.clone());
        }
        match self.recent.iter().rev().find(|run| run.id == id) {
            Some(run) if run.is_past_its_time() => Whose::Nobodys,
            Some(run) => Whose::Run(run.clone()),
            None => Whose::Unknown,
        }
    }

    /// How many have ended.
    pub(crate) fn ended(&self) -> u64 {
        self.begun - self.active.len() as u64
    }

    /// How many have begun.
    pub(crate) fn begun(&self) -> u64 {
        self.begun
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
