//! Work that can wait.

use std::time::Duration;

use leptos::prelude::*;

/// How long to wait where a browser doesn't tell when it is idle.
const WAIT: Duration = Duration::from_millis(200);

/// Calls `act` once the browser has nothing better to do.
pub fn when_idle(act: impl Fn() + 'static) {
    if js_sys::Reflect::has(&window(), &"requestIdleCallback".into()) == Ok(true) {
        request_idle_callback(act);
    } else {
        set_timeout(act, WAIT);
    }
}
