//! Runs and their logs: in a file of their own, so that a flood of them never holds up the vals.

use std::{collections::HashMap, sync::Arc};

use hamlet_models::{
    Author, HttpResponse, LastRun, LogLine, PageQuery, RunError, RunFilter, RunId, RunPhases, RunRequest, RunStatus,
    Timestamp, Trigger, Truncated, UserId, ValId, ValName, VersionNumber,
};

use crate::{Slice, Store, StoreError};

/// A run with everything that is kept of it, its logs aside.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Names the run for ever.
    pub id: RunId,
    /// The val; none for an evaluation.
    pub val_id: Option<ValId>,
    /// The val's owner; the caller for an evaluation.
    pub owner: Author,
    /// The val's name when it ran; none for an evaluation.
    pub val_name: Option<ValName>,
    /// The version that ran; none for an evaluation.
    pub version: Option<VersionNumber>,
    /// The run that started this one, if a run did.
    pub parent_id: Option<RunId>,
    /// How it stands.
    pub status: RunStatus,
    /// What started it.
    pub trigger: Trigger,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; none while it goes on.
    pub ended_at: Option<Timestamp>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<f64>,
    /// CPU time in milliseconds.
    pub cpu_ms: Option<f64>,
    /// The most memory that its worker held, in bytes.
    pub memory_bytes: Option<u64>,
    /// What was thrown.
    pub error: Option<RunError>,
    /// The request, for a run of an HTTP val.
    pub request: Option<RunRequest>,
    /// The arguments, as JSON text.
    pub args: Option<String>,
    /// What it returned, as JSON text.
    pub return_value: Option<String>,
    /// What an HTTP val answered to a request from its page.
    pub response: Option<HttpResponse>,
    /// Which parts were cut.
    pub truncated: Truncated,
    /// Where its time went.
    pub phases: RunPhases,
}

/// How a run stands now, and what it has printed since it was last written.
#[derive(Clone, Debug)]
pub struct RunWrite {
    /// The whole run: it takes the place of what was written before.
    pub record: Arc<RunRecord>,
    /// New lines; they follow those written before.
    pub logs: Vec<LogLine>,
}

/// Whose runs to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunScope {
    /// Those of one val.
    Val(ValId),
    /// Those of a user's vals, and the user's evaluations.
    User(UserId),
}

impl Store {
    /// Writes runs, each as it stands now, with the lines that it printed since.
    pub async fn write_runs(&self, writes: Vec<RunWrite>) -> Result<(), StoreError> {
        todo!()
    }

    /// The runs of the scope, newest first, without `args`, `return_value` and `response`, which may be large.
    pub async fn list_runs(
        &self,
        scope: RunScope,
        filter: &RunFilter,
        page: PageQuery,
    ) -> Result<Slice<RunRecord>, StoreError> {
        todo!()
    }

    /// The run of this id.
    pub async fn get_run(&self, id: RunId) -> Result<RunRecord, StoreError> {
        todo!()
    }

    /// What a run has printed so far, in order; nothing for a run that isn't there.
    pub async fn get_run_logs(&self, id: RunId) -> Result<Vec<LogLine>, StoreError> {
        todo!()
    }

    /// How the last run of each of these vals stands; vals that never ran are left out.
    pub async fn last_runs(&self, val_ids: &[ValId]) -> Result<HashMap<ValId, LastRun>, StoreError> {
        todo!()
    }

    /// Marks as lost what was queued or running when the last server died, and says how many those were.
    pub async fn lose_unfinished_runs(&self) -> Result<u64, StoreError> {
        todo!()
    }

    /// Deletes runs that began before `older_than`, then the oldest ones until those that remain hold at most
    /// `keep_bytes`; says how many went.
    pub async fn prune_runs(&self, older_than: Timestamp, keep_bytes: u64) -> Result<u64, StoreError> {
        todo!()
    }
}
