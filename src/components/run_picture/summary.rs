//! What the runs of a picture add up to, in words.

use hamlet_models::{BaseRun, Timestamp};
use leptos::prelude::*;

use crate::ui::{
    number::plural,
    time::{RelativeTime, duration},
};

/// What some runs add up to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary {
    runs: usize,
    over: usize,
    failed: usize,
    /// Half of the runs that are over took no longer, in milliseconds.
    p50: f64,
    /// 95 in 100 took no longer.
    p95: f64,
    since: Timestamp,
}

impl Summary {
    /// Adds up these runs, oldest first; `None` if there are none.
    pub(super) fn of(runs: &[BaseRun]) -> Option<Self> {
        let mut durations: Vec<f64> = runs.iter().filter_map(|run| run.duration_ms).collect();
        durations.sort_by(f64::total_cmp);
        Some(Self {
            runs: runs.len(),
            over: runs.iter().filter(|run| run.status.is_over()).count(),
            failed: runs.iter().filter(|run| run.status.is_failure()).count(),
            p50: percentile(&durations, 50),
            p95: percentile(&durations, 95),
            since: runs.first()?.run_start_at,
        })
    }

    /// The summary as a line of parts.
    pub(super) fn view(self) -> AnyView {
        let runs = plural(self.runs as u64, "run", "runs");
        let times = (self.over > 0).then(|| {
            view! {
                <span title="Half of these runs took no longer">"p50 " <b>{duration(self.p50)}</b></span>
                <span title="95 in 100 of these runs took no longer">"p95 " <b>{duration(self.p95)}</b></span>
                <span>{self.failures()}</span>
            }
            .into_any()
        });
        view! {
            <span>
                <b>{runs}</b>
                " since "
                <RelativeTime at=self.since.as_millis() />
            </span>
            {times}
        }
        .into_any()
    }

    fn failures(self) -> String {
        let percent = self.failed as f64 * 100.0 / self.over as f64;
        match self.failed {
            0 => "none failed".to_owned(),
            failed if percent < 1.0 => format!("{failed} failed (under 1 %)"),
            failed => format!("{failed} failed ({percent:.0} %)"),
        }
    }
}

/// The smallest value that so many percent of the sorted values don't exceed.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0.0)
}
