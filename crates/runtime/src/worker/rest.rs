//! Whether a worker rests while it has no run.

use std::time::{Duration, Instant};

/// What was seen of a worker when it had no run.
#[derive(Default)]
pub(crate) struct Rest {
    cpu: Duration,
    begun: u64,
    restless_since: Option<Instant>,
}

impl Rest {
    /// Notes what its CPU clock shows and how many runs it has begun, and answers how long it has worked without a
    /// run: at every look, for one that rests uses no time at all. What a run used since the last look says nothing.
    pub(crate) fn look(&mut self, now: Instant, cpu: Duration, begun: u64) -> Duration {
        let worked = std::mem::replace(&mut self.cpu, cpu) != cpu;
        if std::mem::replace(&mut self.begun, begun) == begun {
            self.restless_since = worked.then(|| self.restless_since.unwrap_or(now));
        }
        self.restless_since
            .map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_that_nobody_asked_for_counts() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut rest = Rest::default();
        let mut seconds = 0;
        let mut look = |cpu: u64, begun| {
            seconds += 1;
            rest.look(start + second * seconds, Duration::from_millis(cpu), begun)
        };
        assert_eq!(look(5, 1), Duration::ZERO, "its run");
        assert_eq!(look(6, 1), Duration::ZERO, "the first work without one");
        assert_eq!(look(7, 1), second);
        assert_eq!(look(9, 2), second * 2, "another run tells nothing");
        assert_eq!(look(10, 2), second * 3);
        assert_eq!(look(10, 2), Duration::ZERO, "it rests");
        assert_eq!(look(11, 2), Duration::ZERO);
    }
}
