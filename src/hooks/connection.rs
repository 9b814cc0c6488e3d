//! Coming back by itself after the server or the network was gone.

use std::time::Duration;

use leptos::{ev, prelude::*, task::spawn_local};

use crate::api::ApiClient;

/// The first wait before the server is asked again; each later one is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait.
const LAST_WAIT: Duration = Duration::from_secs(30);

/// Whether the server can be reached, and a call to those who wait for it.
#[derive(Clone, Copy)]
pub struct Connection {
    api: ApiClient,
    /// How often the server came back.
    restored: RwSignal<u32>,
    wait: StoredValue<Duration>,
}

impl Connection {
    /// Watches the client: once a request got no answer, the server is asked again with growing waits, and at once
    /// when the browser says that it is online again.
    pub fn watch(api: ApiClient) -> Self {
        let connection = Self {
            api,
            restored: RwSignal::new(0),
            wait: StoredValue::new(FIRST_WAIT),
        };
        let reachable = api.reachable();
        Effect::new(move |before: Option<bool>| {
            let now = reachable.get();
            match (before, now) {
                (Some(false), true) => {
                    connection.wait.set_value(FIRST_WAIT);
                    connection.restored.update(|times| *times += 1);
                }
                (_, false) => connection.retry_later(),
                (_, true) => {}
            }
            now
        });
        let online = window_event_listener(ev::online, move |_| {
            if !reachable.get_untracked() {
                connection.retry();
            }
        });
        on_cleanup(move || online.remove());
        connection
    }

    /// Whether the last request got an answer; tracked.
    pub fn is_up(self) -> bool {
        self.api.reachable().get()
    }

    /// Changes each time the server comes back; tracked.
    pub fn restored(self) -> u32 {
        self.restored.get()
    }

    /// Asks the server now whether it is there.
    pub fn retry(self) {
        spawn_local(async move {
            // Any answer shows that it is back; the client notes it.
            let _ = self.api.get_instance().await;
        });
    }

    fn retry_later(self) {
        let Some(wait) = self.wait.try_get_value() else {
            return;
        };
        self.wait.set_value(LAST_WAIT.min(wait * 2));
        set_timeout(
            move || {
                // The app may be gone by now, or the server back.
                if self.wait.try_get_value().is_none() || self.api.reachable().get_untracked() {
                    return;
                }
                spawn_local(async move {
                    if self
                        .api
                        .get_instance()
                        .await
                        .is_err_and(|error| error.is_offline())
                    {
                        self.retry_later();
                    }
                });
            },
            wait,
        );
    }
}

/// Calls `refetch` each time the server comes back.
pub fn on_restored(refetch: impl Fn() + 'static) {
    let Some(connection) = use_context::<Connection>() else {
        return;
    };
    Effect::new(move |before: Option<u32>| {
        let times = connection.restored();
        if before.is_some_and(|before| before != times) {
            refetch();
        }
        times
    });
}
