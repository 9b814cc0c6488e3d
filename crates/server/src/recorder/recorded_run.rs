//! One run on its way: what is known of it so far, and who waits to know more.

use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, atomic::Ordering},
};

use hamlet_models::{HttpResponse, LogLine, RunError, RunId, RunStatus};
use hamlet_runtime::{End, Outcome, RunEvents};
use hamlet_store::{KeptInput, RunRecord, RunWrite};
use tokio::sync::Notify;

use super::{Given, Shared};
use crate::clock::now;

/// What a run weighs beside its texts, about.
const RUN_BYTES: usize = 1_024;
/// What a log line weighs beside its message, about.
const LINE_BYTES: usize = 64;

/// A run that goes on, or whose end is not yet written. The runtime tells it what happens.
pub struct RecordedRun {
    id: RunId,
    /// What is handed to the writer.
    itself: Weak<Self>,
    shared: Arc<Shared>,
    given: Given,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    record: Arc<RunRecord>,
    logs: Vec<LogLine>,
    /// How many of the lines the store has.
    logs_written: usize,
    /// Whether the store has what the run was given, or is about to get it.
    given_written: bool,
    /// Whether the writer has been told of this run since it last took it.
    waits: bool,
    /// How much of this run the store hasn't got, about.
    unwritten_bytes: usize,
}

/// What the store hasn't got of a run.
pub(super) struct Unwritten {
    lines: Range<usize>,
    /// Whether that is also what it was given.
    input: bool,
    /// What it weighs, about.
    pub(super) bytes: usize,
}

/// What happened to a run since someone last looked.
pub struct Progress {
    /// What is known of it now.
    pub record: Arc<RunRecord>,
    /// The lines that the looker hasn't seen.
    pub lines: Vec<LogLine>,
}

impl RunEvents for RecordedRun {
    fn started(&self, _run: RunId) {
        self.update(0, |record, _| {
            if record.status == RunStatus::Queued {
                record.status = RunStatus::Running;
            }
        });
    }

    fn log(&self, _run: RunId, line: LogLine) {
        self.update(LINE_BYTES + line.message.len(), |_, logs| logs.push(line));
    }

    fn ended(&self, _run: RunId, outcome: &Outcome) {
        self.end(outcome);
    }
}

impl RecordedRun {
    pub(super) fn begin(shared: Arc<Shared>, record: RunRecord, given: Given) -> Arc<Self> {
        let text = given.head_bytes()
            + record.args.as_ref().map_or(0, String::len)
            + record.request.as_ref().map_or(0, |request| request.url.len());
        let run = Arc::new_cyclic(|itself| Self {
            id: record.id,
            itself: itself.clone(),
            shared: shared.clone(),
            given,
            state: Mutex::new(State {
                record: Arc::new(record),
                logs: Vec::new(),
                logs_written: 0,
                given_written: false,
                waits: true,
                unwritten_bytes: RUN_BYTES + text,
            }),
            changed: Notify::new(),
        });
        shared
            .waiting_bytes
            .fetch_add(RUN_BYTES + text, Ordering::Relaxed);
        shared.push(run.clone());
        run
    }

    /// Names the run.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// What is known of the run now.
    pub fn record(&self) -> Arc<RunRecord> {
        self.state().record.clone()
    }

    /// What it was given, as far as it has come.
    pub fn input(&self) -> Option<KeptInput> {
        let record = self.record();
        self.given.keep(record.request.as_ref())
    }

    /// What is known of the run now, and its lines from this one on.
    pub fn progress(&self, from_line: usize) -> Progress {
        let state = self.state();
        Progress {
            record: state.record.clone(),
            lines: state.logs.get(from_line..).unwrap_or_default().to_vec(),
        }
    }

    /// Waits until there is a line after the first `lines`, or the status is another than `status`.
    pub async fn until_changed(&self, lines: usize, status: RunStatus) {
        loop {
            let changed = self.changed.notified();
            {
                let state = self.state();
                if state.logs.len() > lines || state.record.status != status {
                    return;
                }
            }
            changed.await;
        }
    }

    /// Notes with which status an HTTP val, or Hamlet in its place, answered.
    pub fn answered(&self, status: u16) {
        self.update(0, |record, _| {
            if let Some(request) = &mut record.request {
                request.status = Some(status);
            }
        });
    }

    /// Keeps the answer itself, for a request from the val's page.
    pub fn keep_response(&self, response: HttpResponse, cut: bool) {
        self.update(response.body.len(), |record, _| {
            record.response = Some(response);
            record.truncated.response |= cut;
        });
    }

    /// Ends a run that the runtime did not take, or that nobody waits for any more; one that is over stays as it is.
    pub fn give_up(&self, status: RunStatus, error: RunError) {
        self.update(error.message.len() + self.given.body_bytes(), |record, _| {
            if !record.status.is_over() {
                record.status = status;
                record.error = Some(error);
                let ended_at = now();
                record.ended_at = Some(ended_at);
                record.duration_ms =
                    Some((ended_at.as_millis() - record.started_at.as_millis()).max(0) as f64);
            }
        });
    }

    fn end(&self, outcome: &Outcome) {
        let value = outcome
            .return_value
            .as_deref()
            .map(|value| cut(value, self.shared.most_value_bytes));
        let bytes = self.given.body_bytes()
            + value.map_or(0, str::len)
            + outcome.error.as_ref().map_or(0, |error| error.stack.len());
        self.update(bytes, |record, _| {
            if record.status.is_over() {
                return;
            }
            record.status = status_of(outcome.end);
            record.error.clone_from(&outcome.error);
            record.ended_at = Some(now());
            record.duration_ms = Some(outcome.duration_ms);
            record.cpu_ms = outcome.cpu_ms;
            record.memory_bytes = outcome.memory_bytes;
            record.phases = outcome.phases;
            record.return_value = value.map(str::to_owned);
            record.truncated.logs |= outcome.truncated.logs;
            record.truncated.error |= outcome.truncated.error;
            record.truncated.return_value |= outcome.truncated.return_value
                || value.map(str::len) < outcome.return_value.as_ref().map(String::len);
        });
    }

    /// Changes what is known, tells who watches, and hands the run to the writer unless that has it already.
    fn update(&self, bytes: usize, change: impl FnOnce(&mut RunRecord, &mut Vec<LogLine>)) {
        let wakes = {
            let mut state = self.state();
            let State { record, logs, .. } = &mut *state;
            change(Arc::make_mut(record), logs);
            let wakes = !std::mem::replace(&mut state.waits, true);
            let bytes = bytes + if wakes { RUN_BYTES } else { 0 };
            state.unwritten_bytes += bytes;
            // Under the lock: the writer must not take away what was not yet added.
            self.shared.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
            wakes
        };
        if wakes && let Some(run) = self.itself.upgrade() {
            self.shared.push(run);
        }
        self.changed.notify_waiters();
    }

    /// What the store hasn't got. From now on a change tells the writer again.
    pub(super) fn take_unwritten(&self) -> Unwritten {
        let mut state = self.state();
        state.waits = false;
        let lines = state.logs_written..state.logs.len();
        state.logs_written = lines.end;
        let input = !state.given_written && (self.given.is_whole() || state.record.status.is_over());
        state.given_written |= input;
        Unwritten {
            lines,
            input,
            bytes: std::mem::take(&mut state.unwritten_bytes),
        }
    }

    /// The run as it stands, with what was unwritten, as the store takes it.
    pub(super) fn write(&self, unwritten: &Unwritten) -> RunWrite {
        let (record, logs) = {
            let state = self.state();
            let lines = state.logs.get(unwritten.lines.clone());
            (state.record.clone(), lines.unwrap_or_default().to_vec())
        };
        let input = unwritten
            .input
            .then(|| self.given.keep(record.request.as_ref()))
            .flatten();
        RunWrite { record, logs, input }
    }

    /// Whether nothing more is to be written of it.
    pub(super) fn is_settled(&self) -> bool {
        let state = self.state();
        !state.waits && state.record.status.is_over()
    }

    /// Nothing panics while it holds this lock, so what it guards is whole even if it is poisoned.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning of a text, of at most that many bytes.
pub fn cut(text: &str, most_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(most_bytes)]
}

fn status_of(end: End) -> RunStatus {
    match end {
        End::Ok => RunStatus::Ok,
        End::Threw => RunStatus::Error,
        End::TimedOut => RunStatus::Timeout,
        End::OutOfMemory => RunStatus::OutOfMemory,
        End::Cancelled => RunStatus::Cancelled,
        End::Lost => RunStatus::Lost,
    }
}
