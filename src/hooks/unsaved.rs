//! A word before unsaved work is left behind.

use leptos::{ev, prelude::*};

/// While `unsaved` holds, the browser asks before the page is closed or reloaded.
pub fn use_unsaved_guard(unsaved: Signal<bool>) {
    let leaving = window_event_listener(ev::beforeunload, move |event| {
        if unsaved.get_untracked() {
            event.prevent_default();
            // Older browsers ask only for a value.
            event.set_return_value("unsaved");
        }
    });
    on_cleanup(move || leaving.remove());
}
