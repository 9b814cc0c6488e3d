//! A logarithmic scale of durations.

use hamlet_models::BaseRun;

/// From one whole power of ten milliseconds to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    lowest: i32,
    highest: i32,
}

impl Scale {
    /// The powers of ten around the durations of these runs: at least one apart.
    pub(super) fn of(runs: &[BaseRun]) -> Self {
        let logs = runs
            .iter()
            .filter_map(|run| run.duration_ms)
            .map(|ms| ms.max(0.1).log10());
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
            (low.min(log), high.max(log))
        });
        if low > high {
            return Self {
                lowest: 0,
                highest: 3,
            };
        }
        let lowest = low.floor() as i32;
        Self {
            lowest,
            highest: (high.ceil() as i32).max(lowest + 1),
        }
    }

    /// How far up the scale a duration is: 0 to 1.
    pub(super) fn share(self, ms: f64) -> f64 {
        let log = ms.max(0.1).log10();
        ((log - f64::from(self.lowest)) / f64::from(self.highest - self.lowest)).clamp(0.0, 1.0)
    }

    /// The whole powers of ten on the scale, at most five of them.
    pub(super) fn steps(self) -> impl Iterator<Item = f64> {
        let every = if self.highest - self.lowest > 4 { 2 } else { 1 };
        (self.lowest..=self.highest)
            .step_by(every)
            .map(|power| 10f64.powi(power))
    }
}
