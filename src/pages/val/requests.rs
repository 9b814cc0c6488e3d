//! The requests that were sent to a val from this browser.

use hamlet_models::{HttpRequest, ValId};
use leptos::prelude::*;

use crate::hooks::storage;

/// Keeps a val's list of sent requests in this browser, and begins with what is kept.
pub fn remember_requests(val: ValId, sent: RwSignal<Vec<HttpRequest>>) {
    let key = format!("hamlet.requests.{val}");
    let kept = storage::get(&key).and_then(|kept| serde_json::from_str(&kept).ok());
    sent.set(kept.unwrap_or_default());
    Effect::new(move |before: Option<()>| {
        let list = sent.with(serde_json::to_string);
        // A browser without room keeps the list as long as the page is open.
        if let (Some(()), Ok(list)) = (before, list) {
            storage::set(&key, Some(&list));
        }
    });
}
