//! What a page shows while it loads, when it has loaded, and when it could not.

use leptos::prelude::*;

use crate::{
    api::error::ClientError,
    components::failure::{LoadFailed, PartFailed},
    hooks::{
        connection::on_restored,
        fetched::{AnyValue, Fetched, FetchedAny, value_of},
    },
    ui::part::part,
};

/// A whole page: the skeleton until the first answer comes, then what `show` makes of it. Old content stays while new
/// content is on its way; a failure says why, offers to try again, and does so by itself once the server is back.
pub fn loaded<T: Clone + Send + Sync + 'static>(
    fetched: Fetched<T>,
    skeleton: impl Fn() -> AnyView + Send + 'static,
    show: impl Fn(T) -> AnyView + Send + 'static,
) -> AnyView {
    let show = move |value: &AnyValue| show(value_of(value));
    view_of(fetched.any(), Box::new(skeleton), Box::new(show), load_failed)
}

/// A part of a page, in the same way.
pub fn loaded_part<T: Clone + Send + Sync + 'static>(
    fetched: Fetched<T>,
    skeleton: impl Fn() -> AnyView + Send + 'static,
    show: impl Fn(T) -> AnyView + Send + 'static,
) -> AnyView {
    let show = move |value: &AnyValue| show(value_of(value));
    view_of(fetched.any(), Box::new(skeleton), Box::new(show), part_failed)
}

/// A part of a page that looks again and again: `show` is called once, with a signal that follows the answers. What
/// has been shown stays when a later look fails.
pub fn loaded_live<T: Clone + PartialEq + Send + Sync + 'static>(
    fetched: Fetched<T>,
    skeleton: impl Fn() -> AnyView + Send + 'static,
    show: impl Fn(Signal<T>) -> AnyView + Send + 'static,
) -> AnyView {
    let show = move |latest: RwSignal<Option<AnyValue>>| {
        show(Signal::derive(move || {
            latest.with(|latest| value_of(latest.as_ref().expect("shown only once there is a value")))
        }))
    };
    let same = |one: &AnyValue, other: &AnyValue| one.downcast_ref::<T>() == other.downcast_ref::<T>();
    live_view_of(fetched.any(), Box::new(skeleton), Box::new(show), same)
}

// What follows is in the app once, not once for each type that is fetched.

fn view_of(
    fetched: FetchedAny,
    skeleton: Box<dyn Fn() -> AnyView + Send>,
    show: Box<dyn Fn(&AnyValue) -> AnyView + Send>,
    failed: fn(ClientError, Callback<()>) -> AnyView,
) -> AnyView {
    refetch_when_restored(fetched);
    part(move || match fetched.get() {
        None => skeleton(),
        Some(Ok(value)) => show(&value),
        Some(Err(error)) => failed(error, retry(fetched)),
    })
}

fn live_view_of(
    fetched: FetchedAny,
    skeleton: Box<dyn Fn() -> AnyView + Send>,
    show: Box<dyn Fn(RwSignal<Option<AnyValue>>) -> AnyView + Send>,
    same: fn(&AnyValue, &AnyValue) -> bool,
) -> AnyView {
    refetch_when_restored(fetched);
    let latest = RwSignal::<Option<AnyValue>>::new(None);
    let shown = RwSignal::<Option<Result<(), ClientError>>>::new(None);
    Effect::new(move |_| {
        let Some(answer) = fetched.get() else { return };
        let was_shown = shown.get_untracked() == Some(Ok(()));
        match answer {
            Ok(value) => {
                let is_new =
                    latest.with_untracked(|latest| !latest.as_ref().is_some_and(|old| same(old, &value)));
                if is_new {
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
    part(move || match shown.get() {
        None => skeleton(),
        Some(Ok(())) => show(latest),
        Some(Err(error)) => part_failed(error, retry(fetched)),
    })
}

fn refetch_when_restored(fetched: FetchedAny) {
    on_restored(move || {
        if fetched.is_offline() {
            fetched.refetch();
        }
    });
}

fn retry(fetched: FetchedAny) -> Callback<()> {
    Callback::new(move |()| fetched.refetch())
}

fn load_failed(error: ClientError, on_retry: Callback<()>) -> AnyView {
    view! { <LoadFailed error on_retry /> }.into_any()
}

fn part_failed(error: ClientError, on_retry: Callback<()>) -> AnyView {
    view! { <PartFailed error on_retry /> }.into_any()
}
