//! A button that copies a text.

use std::time::Duration;

use leptos::{prelude::*, task::spawn_local};
use wasm_bindgen_futures::JsFuture;

use super::icon::{Icon, IconName};

/// How long the button says that it has copied.
const SAID: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, PartialEq)]
enum Copied {
    No,
    Yes,
    Refused,
}

/// A button that copies a text, and says whether that worked.
#[component]
pub fn CopyButton(
    /// The text.
    #[prop(into)]
    text: Signal<String>,
    /// What is copied, as `address`.
    what: &'static str,
) -> AnyView {
    let copied = RwSignal::new(Copied::No);
    let copy = move |_| {
        let writing = window().navigator().clipboard().write_text(&text.get_untracked());
        spawn_local(async move {
            let state = if JsFuture::from(writing).await.is_ok() {
                Copied::Yes
            } else {
                Copied::Refused
            };
            if copied.try_set(state).is_none() {
                set_timeout(move || _ = copied.try_set(Copied::No), SAID);
            }
        });
    };
    let icon = move || match copied.get() {
        Copied::Yes => view! { <Icon name=IconName::Check /> },
        Copied::No | Copied::Refused => view! { <Icon name=IconName::Copy /> },
    };
    let said = move || match copied.get() {
        Copied::No => "",
        Copied::Yes => "Copied",
        Copied::Refused => "Your browser does not allow copying: select the text instead",
    };
    view! {
        <button
            type="button"
            class="button button--quiet button--icon copy"
            aria-label=format!("Copy {what}")
            title=format!("Copy {what}")
            on:click=copy
        >
            {icon}
        </button>
        <span class="copy__said" role="status">{said}</span>
    }
    .into_any()
}
