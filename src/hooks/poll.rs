//! Looking again while someone watches.

use std::time::Duration;

use leptos::prelude::*;

/// Calls `look` at this pace as long as the page is shown, and as soon as it is shown again.
pub fn use_poll(pace: Duration, look: impl Fn() + Clone + 'static) {
    let again = look.clone();
    let ticking = set_interval_with_handle(
        move || {
            if !document().hidden() {
                look();
            }
        },
        pace,
    );
    if let Ok(ticking) = ticking {
        on_cleanup(move || ticking.clear());
    }
    // The event bubbles from the document to the window.
    let shown = window_event_listener_untyped("visibilitychange", move |_| {
        if !document().hidden() {
            again();
        }
    });
    on_cleanup(move || shown.remove());
}
