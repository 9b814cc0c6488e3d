//! The time on this machine's clock, as the wire writes it.

use std::time::{Duration, SystemTime};

use hamlet_models::Timestamp;

/// Now.
pub fn now() -> Timestamp {
    after(Duration::ZERO)
}

/// That long from now.
pub fn after(duration: Duration) -> Timestamp {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.saturating_add(duration).as_millis()).unwrap_or(i64::MAX))
}
