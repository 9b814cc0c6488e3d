//! Why a page has nothing to show, each in its own words, and a way on.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::{
    api::error::ClientError,
    components::heading::PageHeading,
    paths,
    ui::{
        button::Button,
        icon::{Icon, IconName},
        state::FailedState,
    },
};

/// A whole page could not be loaded.
#[component]
pub fn LoadFailed(
    /// Why.
    error: ClientError,
    /// Tries again.
    #[prop(into)]
    on_retry: Callback<()>,
) -> AnyView {
    let path = use_location().pathname;
    let retry = move || view! { <RetryButton on_retry /> }.into_any();
    let home = || view! { <a class="button" href=paths::home()>"Go to the home page"</a> }.into_any();
    let sign_in = move || {
        let next = path.get_untracked();
        view! { <a class="button button--primary" href=paths::login(Some(&next))>"Sign in"</a> }.into_any()
    };
    match error.status() {
        None if error.is_offline() => failure(
            "Can’t reach the server",
            "The server or the network is gone. This page comes back by itself when they do.".to_owned(),
            retry(),
        ),
        Some(401) => failure(
            "Sign in to see this",
            "This page is for those who are signed in.".to_owned(),
            sign_in(),
        ),
        Some(403) => failure("You may not see this", error.sentence(), home()),
        Some(404) => failure(
            "Nothing here",
            "There is nothing at this address, or it is private to someone else. Names change: \
             the one who gave you the link may know the new one."
                .to_owned(),
            home(),
        ),
        Some(500..) => failure("The server failed", error.sentence(), retry()),
        _ => failure("This could not be loaded", error.sentence(), retry()),
    }
}

/// A part of a page could not be loaded.
#[component]
pub fn PartFailed(
    /// Why.
    error: ClientError,
    /// Tries again.
    #[prop(into)]
    on_retry: Callback<()>,
) -> AnyView {
    view! { <FailedState sentence=error.sentence() on_retry /> }.into_any()
}

#[component]
fn RetryButton(on_retry: Callback<()>) -> AnyView {
    view! {
        <Button on_click=on_retry>
            <Icon name=IconName::Retry />
            "Retry"
        </Button>
    }
    .into_any()
}

fn failure(title: &'static str, words: String, way_on: AnyView) -> AnyView {
    view! {
        <section class="failure">
            <PageHeading title />
            <p>{words}</p>
            <div class="failure__actions">{way_on}</div>
        </section>
    }
    .into_any()
}
