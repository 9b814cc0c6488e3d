//! What a page shows while it loads, when it has loaded, and when it could not.

use leptos::prelude::*;

use crate::{
    api::error::ClientError,
    components::failure::{LoadFailed, PartFailed},
    hooks::connection::on_restored,
};

/// A page's resource, with the answer or why there is none.
pub type Loading<T> = LocalResource<Result<T, ClientError>>;

/// A whole page: the skeleton until the first answer comes, then what `show` makes of it. Old content stays while new
/// content is on its way; a failure says why, offers to try again, and does so by itself once the server is back.
pub fn loaded<T: Clone + 'static>(
    resource: Loading<T>,
    skeleton: impl Fn() -> AnyView + Send + 'static,
    show: impl Fn(T) -> AnyView + Send + 'static,
) -> AnyView {
    shown(resource, skeleton, show, |error, on_retry| {
        view! { <LoadFailed error on_retry /> }.into_any()
    })
}

/// A part of a page, in the same way.
pub fn loaded_part<T: Clone + 'static>(
    resource: Loading<T>,
    skeleton: impl Fn() -> AnyView + Send + 'static,
    show: impl Fn(T) -> AnyView + Send + 'static,
) -> AnyView {
    shown(resource, skeleton, show, |error, on_retry| {
        view! { <PartFailed error on_retry /> }.into_any()
    })
}

fn shown<T: Clone + 'static>(
    resource: Loading<T>,
    skeleton: impl Fn() -> AnyView + Send + 'static,
    show: impl Fn(T) -> AnyView + Send + 'static,
    failed: fn(ClientError, Callback<()>) -> AnyView,
) -> AnyView {
    on_restored(move || {
        if resource.with_untracked(|answer| matches!(answer, Some(Err(ClientError::Offline)))) {
            resource.refetch();
        }
    });
    let retry = Callback::new(move |()| resource.refetch());
    (move || match resource.get() {
        None => skeleton(),
        Some(Ok(value)) => show(value),
        Some(Err(error)) => failed(error, retry),
    })
    .into_any()
}
