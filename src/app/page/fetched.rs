//! A page in a file of its own.

use std::pin::Pin;

use leptos::{prelude::*, task::spawn_local};
use wasm_split_helpers::SplitLoaderError;

use crate::{api::error::ClientError, components::failure::LoadFailed, ui::part::part};

/// What makes the page, or why its file could not be had.
pub(in crate::app) type Answer = Result<fn() -> AnyView, SplitLoaderError>;

/// Nothing until the page's file is here, then the page; a failed fetch says so and can be tried again.
pub(in crate::app) fn fetched(fetch: fn() -> Pin<Box<dyn Future<Output = Answer>>>) -> AnyView {
    let page = RwSignal::<Option<Result<fn() -> AnyView, ()>>>::new(None);
    let start = move || {
        spawn_local(async move {
            let answer = fetch().await.map_err(|_| ());
            // The visitor may have gone to another page by now.
            page.try_set(Some(answer));
        });
    };
    start();
    part(move || match page.get() {
        None => ().into_any(),
        Some(Ok(page)) => page(),
        Some(Err(())) => {
            view! { <LoadFailed error=ClientError::Offline on_retry=move |()| start() /> }.into_any()
        }
    })
}
