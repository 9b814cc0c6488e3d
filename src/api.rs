//! The client of `/v1`: one file a resource, one method an endpoint, typed by the shared models.

pub mod error;

mod request;

pub mod instance;
pub mod me;
pub mod outbox;
pub mod run_events;
pub mod runs;
pub mod secrets;
pub mod sessions;
pub mod tokens;
pub mod users;
pub mod vals;
pub mod versions;

use leptos::prelude::*;
use serde::de::DeserializeOwned;

use self::{
    error::ClientError,
    request::{Answer, Call},
};
use crate::hooks::storage;

/// Where the API token is kept when the interface is at another origin, which no cookie reaches.
const TOKEN_KEY: &str = "hamlet.token";

/// Speaks to the server; a handle that is copied freely.
#[derive(Clone, Copy)]
pub struct ApiClient {
    /// The interface's origin; empty for the page's own.
    base: StoredValue<String>,
    /// The API token that goes with each request; none at the page's own origin, where a cookie does.
    token: StoredValue<Option<String>>,
    /// Whether the last request got an answer.
    reachable: RwSignal<bool>,
}

impl ApiClient {
    /// The client for the address that the page names in `<meta name="hamlet-api">`; empty or absent means the page's
    /// own origin.
    pub fn from_page() -> Self {
        let meta = document().query_selector("meta[name=hamlet-api]").ok().flatten();
        let base = meta
            .and_then(|meta| meta.get_attribute("content"))
            .unwrap_or_default();
        Self::new(base.trim().trim_end_matches('/'))
    }

    /// The client for the interface at this origin; empty means the page's own.
    pub fn new(base: &str) -> Self {
        let token = if base.is_empty() {
            None
        } else {
            storage::get(TOKEN_KEY)
        };
        Self {
            base: StoredValue::new(base.to_owned()),
            token: StoredValue::new(token),
            reachable: RwSignal::new(true),
        }
    }

    /// Whether the interface is at another origin: no cookies then, only API tokens.
    pub fn is_remote(self) -> bool {
        self.base.with_value(|base| !base.is_empty())
    }

    /// The interface's origin, under which vals are imported too; empty for the page's own.
    pub fn origin(self) -> String {
        self.base.get_value()
    }

    /// Whether the last request got an answer, whatever it was.
    pub fn reachable(self) -> Signal<bool> {
        self.reachable.into()
    }

    /// Whether a token goes with each request.
    fn has_token(self) -> bool {
        self.token.with_value(Option::is_some)
    }

    /// Keeps the token that goes with each request from now on, or forgets it.
    fn set_token(self, token: Option<String>) {
        storage::set(TOKEN_KEY, token.as_deref());
        self.token.set_value(token);
    }

    /// Sends a request and reads the answer's JSON.
    async fn fetch<T: DeserializeOwned>(self, call: Call) -> Result<T, ClientError> {
        let answer = self.send(call).await?;
        read(&answer)
    }

    /// Sends a request; an answer that is a failure is an error.
    async fn send(self, call: Call) -> Result<Answer, ClientError> {
        let base = self.base.get_value();
        let token = self.token.get_value();
        let answer = call.send(&base, token.as_deref()).await;
        let reachable = answer.as_ref().err() != Some(&ClientError::Offline);
        // The page may be gone by now, and the client with it.
        if self.reachable.try_get_untracked() == Some(!reachable) {
            self.reachable.set(reachable);
        }
        answer
    }
}

/// Reads an answer's JSON.
fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, ClientError> {
    serde_json::from_str(&answer.body).map_err(|error| {
        leptos::logging::error!("an answer can't be read: {error}");
        ClientError::Unreadable
    })
}
