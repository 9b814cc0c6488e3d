//! Keeps what runs leave behind: in memory while they go on, in the store soon after.
//!
//! A run is handed to the writer when it changes, at most once until it is written. The writer takes everything that
//! waits every [`INTERVAL`], so a run that begins and ends within one interval costs one row, and one that goes on is
//! written as running and again when it is over.
//!
//! Memory is bounded by making new runs wait, never by dropping: while more than [`MOST_WAITING_BYTES`] wait for the
//! disk, [`Recorder::begin`] waits for room, at most [`LONGEST_WAIT`], and is then refused. What runs that go on may
//! add is bounded by their own limits.

mod given;
mod recorded_run;
mod writer;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hamlet_models::RunId;
use hamlet_store::{RunRecord, Store, StoreError};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::timeout,
};

pub use given::{Given, GivenRequest, as_text, without_tokens};
pub use recorded_run::{Progress, RecordedRun, cut};

/// How long a change may wait in memory before it is written.
const INTERVAL: Duration = Duration::from_millis(50);
/// This many waiting runs are written without waiting for the interval's end.
const BATCH_RUNS: usize = 2_000;
/// More than this waiting for the disk makes new runs wait.
const MOST_WAITING_BYTES: usize = 64 << 20;
/// How long a new run waits for room.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long the last write may take when the server ends.
const LAST_WRITE: Duration = Duration::from_secs(20);
/// How often old runs are looked for.
const PRUNE_EVERY: Duration = Duration::from_secs(60 * 60);

/// How much of runs is kept, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Of a return value, this many bytes are kept.
    pub value_bytes: usize,
    /// Runs older than this are dropped.
    pub age: Duration,
    /// When runs take more than this, the oldest are dropped.
    pub bytes: u64,
}

/// The disk is too slow for the runs that come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("runs come faster than they can be recorded: try again in a moment")]
pub struct TooManyRuns;

/// A handle to the recorder; clones are the same recorder.
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

struct Shared {
    store: Store,
    /// How much of a return value is kept.
    most_value_bytes: usize,
    waiting: Mutex<Waiting>,
    /// Something waits where nothing did.
    some: Notify,
    /// What waits shall be written now.
    hurry: Notify,
    /// What was written made room.
    room: Notify,
    waiting_bytes: AtomicUsize,
    /// The number of the last batch that was written.
    written: watch::Sender<u64>,
    /// Whether old runs have been looked for.
    pruned: watch::Sender<bool>,
}

#[derive(Default)]
struct Waiting {
    /// Every run that goes on, or whose end is not yet written.
    live: HashMap<RunId, Arc<RecordedRun>>,
    /// Runs that changed since they were last written, each once.
    changed: Vec<Arc<RecordedRun>>,
    /// The number of the last batch that was taken for writing.
    taken: u64,
}

impl Recorder {
    /// Starts recording. Runs that an earlier server left unfinished are lost, and said to be.
    pub async fn start(store: Store, retention: Retention) -> Result<Self, StoreError> {
        let lost = store.lose_unfinished_runs().await?;
        if lost > 0 {
            tracing::warn!(
                runs.lost = lost,
                "the server before this one died while runs went on"
            );
        }
        let shared = Arc::new(Shared {
            store,
            most_value_bytes: retention.value_bytes,
            waiting: Mutex::default(),
            some: Notify::new(),
            hurry: Notify::new(),
            room: Notify::new(),
            waiting_bytes: AtomicUsize::new(0),
            written: watch::Sender::new(0),
            pruned: watch::Sender::new(false),
        });
        let tasks = vec![
            tokio::spawn(writer::write_batches(shared.clone())),
            tokio::spawn(writer::prune(shared.clone(), retention)),
        ];
        Ok(Self {
            shared,
            tasks: Arc::new(Mutex::new(tasks)),
        })
    }

    /// Takes down a run that begins, and what it is given. Waits while too much waits for the disk.
    pub async fn begin(&self, record: RunRecord, given: Given) -> Result<Arc<RecordedRun>, TooManyRuns> {
        if self.shared.is_full() {
            timeout(LONGEST_WAIT, self.shared.until_room())
                .await
                .map_err(|_| TooManyRuns)?;
        }
        Ok(RecordedRun::begin(self.shared.clone(), record, given))
    }

    /// A run that goes on, or whose end is not yet written.
    pub fn find(&self, id: RunId) -> Option<Arc<RecordedRun>> {
        self.shared.waiting().live.get(&id).cloned()
    }

    /// Returns when the store has everything that happened before the call.
    pub async fn flush(&self) {
        let mut written = self.shared.written.subscribe();
        let batch = {
            let waiting = self.shared.waiting();
            if waiting.changed.is_empty() {
                waiting.taken
            } else {
                waiting.taken + 1
            }
        };
        if *written.borrow() >= batch {
            return;
        }
        self.shared.hurry.notify_one();
        // The sender lives as long as `self`.
        let _ = written.wait_for(|&done| done >= batch).await;
    }

    /// Returns once old runs were looked for since the start.
    pub async fn pruned(&self) {
        let mut pruned = self.shared.pruned.subscribe();
        // The sender lives as long as `self`.
        let _ = pruned.wait_for(|&pruned| pruned).await;
    }

    /// Writes what waits and stops recording. To be called when no run goes on any more.
    pub async fn shutdown(&self) {
        if timeout(LAST_WRITE, self.flush()).await.is_err() {
            tracing::error!("the store did not take the last runs in time: they are lost");
        }
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        for task in tasks.drain(..) {
            task.abort();
        }
    }
}

impl Shared {
    /// Nothing panics while it holds this lock, so what it guards is whole even if it is poisoned.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a run to the writer; the caller has made sure that it isn't there already.
    fn push(&self, run: Arc<RecordedRun>) {
        let count = {
            let mut waiting = self.waiting();
            waiting.live.insert(run.id(), run.clone());
            waiting.changed.push(run);
            waiting.changed.len()
        };
        if count == 1 {
            self.some.notify_one();
        } else if count == BATCH_RUNS {
            self.hurry.notify_one();
        }
    }

    fn is_full(&self) -> bool {
        self.waiting_bytes.load(Ordering::Relaxed) > MOST_WAITING_BYTES
    }

    async fn until_room(&self) {
        loop {
            let room = self.room.notified();
            if !self.is_full() {
                return;
            }
            room.await;
        }
    }
}
