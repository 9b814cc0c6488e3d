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
    refetch_when_restored(resource);
    (move || match resource.get() {
        None => skeleton(),
        Some(Ok(value)) => show(value),
        Some(Err(error)) => load_failed(error, retry(resource)),
    })
    .into_any()
}

/// A part of a page, in the same way.
pub fn loaded_part<T: Clone + 'static>(
    resource: Loading<T>,
    skeleton: impl Fn() -> AnyView + Send + 'static,
    show: impl Fn(T) -> AnyView + Send + 'static,
) -> AnyView {
    refetch_when_restored(resource);
    (move || match resource.get() {
        None => skeleton(),
        Some(Ok(value)) => show(value),
        Some(Err(error)) => part_failed(error, retry(resource)),
    })
    .into_any()
}

/// A part of a page that looks again and again: `show` is called once, with a signal that follows the answers. What
/// has been shown stays when a later look fails.
pub fn loaded_live<T: Clone + PartialEq + Send + Sync + 'static>(
    resource: Loading<T>,
    skeleton: impl Fn() -> AnyView + Send + 'static,
    show: impl Fn(Signal<T>) -> AnyView + Send + 'static,
) -> AnyView {
    refetch_when_restored(resource);
    let latest = RwSignal::<Option<T>>::new(None);
    let shown = RwSignal::<Option<Result<(), ClientError>>>::new(None);
    Effect::new(move |_| {
        let Some(answer) = resource.get() else { return };
        let was_shown = shown.get_untracked() == Some(Ok(()));
        match answer {
            Ok(value) => {
                if latest.with_untracked(|latest| latest.as_ref() != Some(&value)) {
                    latest.set(Some(value));
                }
                if !was_shown {
                    shown.set(Some(Ok(())));
                }
            }
            Err(error) if !was_shown => shown.set(Some(Err(error))),
            Err(_) => {}
        }
    });
    let value = Signal::derive(move || latest.get().expect("shown only once there is a value"));
    (move || match shown.get() {
        None => skeleton(),
        Some(Ok(())) => show(value),
        Some(Err(error)) => part_failed(error, retry(resource)),
    })
    .into_any()
}

fn refetch_when_restored<T: 'static>(resource: Loading<T>) {
    on_restored(move || {
        if resource.with_untracked(|answer| matches!(answer, Some(Err(ClientError::Offline)))) {
            resource.refetch();
        }
    });
}

fn retry<T: 'static>(resource: Loading<T>) -> Callback<()> {
    Callback::new(move |()| resource.refetch())
}

fn load_failed(error: ClientError, on_retry: Callback<()>) -> AnyView {
    view! { <LoadFailed error on_retry /> }.into_any()
}

fn part_failed(error: ClientError, on_retry: Callback<()>) -> AnyView {
    view! { <PartFailed error on_retry /> }.into_any()
}
