//! Steps back and forward in the browser's history.

use leptos::{ev, prelude::*};

/// Lets a page take back a step before the router hears of it.
#[derive(Clone, Copy)]
pub struct Steps {
    guard: StoredValue<Option<Callback<(), bool>>>,
}

impl Steps {
    /// Listens from now on. A window calls its listeners in the order in which they came: this one goes ahead of the
    /// router's, so it must be there before a router is.
    pub fn watch() -> Self {
        let guard = StoredValue::new(None::<Callback<(), bool>>);
        let listening = window_event_listener(ev::popstate, move |event| {
            let guard = guard.try_get_value().flatten();
            if guard.is_some_and(|takes_back| takes_back.run(())) {
                event.stop_immediate_propagation();
            }
        });
        on_cleanup(move || listening.remove());
        Self { guard }
    }

    /// Calls `takes_back` after each step as long as the owner lives; if it answers true, the router is told nothing.
    pub fn guard(self, takes_back: impl Fn() -> bool + Send + Sync + 'static) {
        self.guard.set_value(Some(Callback::new(move |()| takes_back())));
        // The app may be gone with the page.
        on_cleanup(move || _ = self.guard.try_set_value(None));
    }
}
