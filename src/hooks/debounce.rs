//! Waiting for someone to stop typing.

use std::time::Duration;

use leptos::prelude::*;

/// A signal that follows another, but only once that has stayed the same for a while.
pub fn debounced(source: Signal<String>, wait: Duration) -> Signal<String> {
    let settled = RwSignal::new(source.get_untracked());
    Effect::new(move |waiting: Option<Option<TimeoutHandle>>| {
        let value = source.get();
        if let Some(Some(waiting)) = waiting {
            waiting.clear();
        }
        let settle = move || {
            // The page may be gone by now.
            if settled.try_get_untracked().is_some_and(|old| old != value) {
                settled.set(value);
            }
        };
        set_timeout_with_handle(settle, wait).ok()
    });
    settled.into()
}
