//! The time now, as often as relative times need it.

use std::time::Duration;

use leptos::prelude::*;

/// How often relative times are written anew.
const TICK: Duration = Duration::from_secs(5);

/// The time now, which everything that shows a relative time shares.
#[derive(Clone, Copy)]
pub struct Clock(RwSignal<i64>);

impl Clock {
    /// Starts a clock that ticks as long as its owner lives, and rests while the page is hidden.
    pub fn start() -> Self {
        let now = RwSignal::new(now());
        let ticking = set_interval_with_handle(
            move || {
                if !document().hidden() {
                    now.set(self::now());
                }
            },
            TICK,
        );
        if let Ok(ticking) = ticking {
            on_cleanup(move || ticking.clear());
        }
        Self(now)
    }

    /// The time now in milliseconds since 1970, to a few seconds; tracked.
    pub fn get(self) -> i64 {
        self.0.get()
    }
}

/// The time now in milliseconds since 1970.
pub fn now() -> i64 {
    js_sys::Date::now() as i64
}
