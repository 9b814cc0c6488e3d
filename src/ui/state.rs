//! Nothing here, and something went wrong.

use leptos::prelude::*;

use super::{
    button::Button,
    icon::{Icon, IconName},
};

/// A list with nothing in it: what would be here, and how to get it.
#[component]
pub fn EmptyState(
    /// What is missing, as `No runs yet`.
    #[prop(into)]
    title: String,
    /// What to do about it.
    #[prop(optional)]
    children: Option<Children>,
) -> AnyView {
    view! {
        <div class="state">
            <p class="state__title">{title}</p>
            {children.map(|children| view! { <div class="state__body">{children()}</div> }.into_any())}
        </div>
    }
    .into_any()
}

/// Something went wrong: a sentence and a next step.
#[component]
pub fn FailedState(
    /// The sentence.
    #[prop(into)]
    sentence: String,
    /// Tries again; no button without it.
    #[prop(optional, into)]
    on_retry: Option<Callback<()>>,
    /// Other ways on.
    #[prop(optional)]
    children: Option<Children>,
) -> AnyView {
    let retry = on_retry.map(|on_retry| {
        view! {
            <Button on_click=on_retry>
                <Icon name=IconName::Retry />
                "Retry"
            </Button>
        }
    });
    view! {
        <div class="state state--failed" role="alert">
            <p class="state__title">{sentence}</p>
            <div class="state__body">{retry} {children.map(|children| children())}</div>
        </div>
    }
    .into_any()
}
