//! A view whose code is fetched.

use std::pin::Pin;

use leptos::{prelude::*, task::spawn_local};
use wasm_split_helpers::SplitLoaderError;

use crate::ui::{part::part, state::FailedState};

/// What makes the view, or why its file could not be had.
pub type Answer<T> = Result<fn(T) -> AnyView, SplitLoaderError>;
/// What fetches it.
pub type Fetch<T> = Pin<Box<dyn Future<Output = Answer<T>>>>;

/// Nothing until the view's file is here, then the view; a failed fetch says so and can be tried again.
pub fn fetched<T: Send + Sync + 'static>(fetch: fn() -> Fetch<T>, argument: T) -> AnyView {
    let argument = StoredValue::new(Some(argument));
    let view = RwSignal::<Option<Result<fn(T) -> AnyView, ()>>>::new(None);
    let start = move || {
        spawn_local(async move {
            let answer = fetch().await.map_err(|_| ());
            // What wanted it may be gone by now.
            view.try_set(Some(answer));
        });
    };
    start();
    part(move || match view.get() {
        None => ().into_any(),
        Some(Ok(view)) => argument
            .try_update_value(Option::take)
            .flatten()
            .map(view)
            .into_any(),
        Some(Err(())) => failed(Callback::new(move |()| start())),
    })
}

fn failed(on_retry: Callback<()>) -> AnyView {
    let sentence = "Can’t reach the server. This shows when it is back.";
    view! { <FailedState sentence on_retry /> }.into_any()
}
