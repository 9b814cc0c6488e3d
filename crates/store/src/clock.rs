//! What time it is, and ids that follow it.

use std::time::{SystemTime, UNIX_EPOCH};

use hamlet_models::Timestamp;
use uuid::Uuid;

/// The time now, to the millisecond.
pub(crate) fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// A new id and the time that is written in it: what is made later sorts later by either, also within a millisecond.
pub(crate) fn new_id() -> (Uuid, Timestamp) {
    let id = Uuid::now_v7();
    let millis = id.get_timestamp().map(|time| {
        let (seconds, nanos) = time.to_unix();
        i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000) + i64::from(nanos / 1_000_000)
    });
    (id, millis.map_or_else(now, Timestamp::from_millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_their_times_only_grow() {
        let made: Vec<_> = (0..10_000).map(|_| new_id()).collect();
        for pair in made.windows(2) {
            assert!(pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1, "{pair:?}");
        }
        let apart = now().as_millis() - made[0].1.as_millis();
        assert!((0..60_000).contains(&apart), "{apart} ms from the clock");
    }
}
