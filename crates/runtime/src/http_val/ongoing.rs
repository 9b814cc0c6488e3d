//! A request's run while it goes on. Whatever happens to it, it ends exactly once.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hamlet_models::{RunError, RunPhases};

use super::warm::{Started, WarmWorker};
use crate::{
    End, Outcome, RunRequest,
    admission::Place,
    live_run::LiveRun,
    outcome::{cut_error, millis},
    shared::Shared,
    worker::{Doom, error},
};

/// A run of an HTTP val that is not over; dropping it means that whoever waited for the answer has left.
pub(crate) struct Ongoing {
    pub(crate) shared: Arc<Shared>,
    pub(crate) run: Arc<LiveRun>,
    place: Option<Place>,
    worker: Option<OnWorker>,
    phases: RunPhases,
    /// When the part began that goes on now.
    since: Instant,
    over: bool,
}

struct OnWorker {
    warm: Arc<WarmWorker>,
    /// The CPU clock at the beginning, if the run was alone then, and the how-manieth it was.
    alone: Option<(Duration, u64)>,
}

impl Ongoing {
    pub(crate) fn new(shared: &Arc<Shared>, request: &RunRequest) -> Self {
        let run = Arc::new(LiveRun::new(request, shared.config.limits.log_kb));
        Self {
            shared: shared.clone(),
            since: run.asked,
            run,
            place: None,
            worker: None,
            phases: RunPhases::default(),
            over: true,
        }
    }

    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        millis(now.saturating_duration_since(std::mem::replace(&mut self.since, now)))
    }

    /// The outcome of a run that never had a place.
    pub(crate) fn refuse(&self, doom: Doom) -> Box<Outcome> {
        let (end, error) = doom.verdict(&self.shared.config.limits);
        Box::new(Outcome {
            duration_ms: millis(self.run.asked.elapsed()),
            ..Outcome::new(end, Some(error))
        })
    }

    /// The run has its place and begins.
    pub(crate) fn begin(&mut self, place: Place) {
        self.place = Some(place);
        self.over = false;
        self.phases.waited_ms = Some(self.lap());
        self.run.events.started(self.run.id);
    }

    /// The run has begun on a worker, which may have been started for it.
    pub(crate) fn on_worker(
        &mut self,
        warm: &Arc<WarmWorker>,
        alone: bool,
        number: u64,
        started: Option<Started>,
    ) {
        let limits = &self.shared.config.limits;
        let seen = Duration::from_nanos(warm.worker.cpu_seen.load(std::sync::atomic::Ordering::Relaxed));
        self.run.begin(Duration::from_secs(limits.wall_seconds), seen);
        self.worker = Some(OnWorker {
            warm: warm.clone(),
            alone: alone.then(|| (warm.worker.cpu_time(), number)),
        });
        let now = Instant::now();
        if let Some(started) = started {
            let given = started.given.max(self.since);
            self.phases.worker_ms = Some(millis(given.saturating_duration_since(self.since)));
            self.phases.module_ms = Some(millis(started.ready.saturating_duration_since(given)));
        } else {
            self.phases.worker_ms = Some(millis(now.saturating_duration_since(self.since)));
        }
        self.since = now;
    }

    /// The head of the answer has come.
    pub(crate) fn headed(&mut self) {
        self.phases.ran_ms = Some(self.lap());
    }

    /// The run is over.
    pub(crate) fn end(mut self, end: End, error: Option<RunError>) -> Outcome {
        self.finish(end, error)
    }

    fn finish(&mut self, end: End, error: Option<RunError>) -> Outcome {
        self.over = true;
        let last = self.lap();
        match self.phases.ran_ms {
            None if self.worker.is_some() => self.phases.ran_ms = Some(last),
            Some(_) => self.phases.sent_ms = Some(last),
            None => {}
        }
        let mut outcome = Outcome::new(end, None);
        if let Some(error) = error {
            let (error, cut) = cut_error(error, self.shared.config.limits.value_kb);
            outcome.truncated.error = cut;
            outcome.error = Some(error);
        }
        if let Some(OnWorker { warm, alone }) = self.worker.take() {
            let worker = &warm.worker;
            // What the val printed before its answer is in the pipe by now, and belongs before the run's end.
            worker.drain();
            let begun = worker.runs().end(self.run.id);
            outcome.cpu_ms = alone
                .filter(|(_, number)| *number == begun)
                .map(|(began, _)| millis(worker.cpu_time().saturating_sub(began)));
            let seen = worker.memory_seen.load(std::sync::atomic::Ordering::Relaxed);
            outcome.memory_bytes = (seen > 0).then_some(seen);
            warm.used();
        }
        outcome.truncated.logs = self.run.tell_cut();
        outcome.phases = self.phases;
        outcome.duration_ms = millis(self.run.asked.elapsed());
        self.place = None;
        self.run.events.ended(self.run.id, &outcome);
        outcome
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        if !self.over {
            let left = error(
                "CancelledError",
                "whoever waited for the answer left before it was complete".into(),
            );
            self.finish(End::Cancelled, Some(left));
        }
    }
}
