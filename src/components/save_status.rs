//! Whether what was written is saved.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::{
    paths,
    ui::button::{Button, ButtonKind},
};

/// How what was written stands against what is saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveState {
    /// The two are the same.
    Saved,
    /// They differ.
    Unsaved,
    /// A save is on its way.
    Saving,
    /// The last save got no answer.
    Unreachable,
    /// The last save was refused: nobody is signed in.
    SignedOut,
    /// The last save was refused: this version is newer.
    Outdated(u32),
    /// The last save was refused for this reason.
    Refused(String),
}

/// Says whether what was written is saved, and what to do if it could not be.
#[component]
pub fn SaveStatus(
    /// How it stands.
    #[prop(into)]
    state: Signal<SaveState>,
    /// Whether this browser keeps what isn't saved.
    #[prop(into)]
    kept: Signal<bool>,
    /// Tries to save again.
    on_retry: Callback<()>,
) -> AnyView {
    let path = use_location().pathname;
    let words = move || sentence(&state.get(), kept.get());
    let next = move || match state.get() {
        SaveState::Unreachable | SaveState::Refused(_) => {
            Some(view! { <Button kind=ButtonKind::Quiet on_click=on_retry>"Retry"</Button> }.into_any())
        }
        SaveState::SignedOut => {
            Some(view! { <a href=move || paths::login(Some(&path.get()))>"Sign in"</a> }.into_any())
        }
        _ => None,
    };
    let class = move || match state.get() {
        SaveState::Saved => "save-status save-status--saved",
        SaveState::Unsaved if kept.get() => "save-status",
        SaveState::Saving => "save-status",
        _ => "save-status save-status--failed",
    };
    view! {
        <div class=class>
            <p role="status">{words}</p>
            {next}
        </div>
    }
    .into_any()
}

fn sentence(state: &SaveState, kept: bool) -> String {
    const KEPT: &str = "your changes are kept in this browser.";
    const NOT_KEPT: &str = "this browser has no room to keep your changes, so leave this page open.";
    match (state, kept) {
        (SaveState::Saved, _) => "Saved".to_owned(),
        (SaveState::Saving, _) => "Saving…".to_owned(),
        (SaveState::Unsaved, true) => "Unsaved changes".to_owned(),
        (SaveState::Unsaved, false) => {
            "Unsaved changes, and this browser has no room to keep them: save before you leave.".to_owned()
        }
        (SaveState::Unreachable, true) => format!("Can’t reach the server: {KEPT}"),
        (SaveState::Unreachable, false) => format!("Can’t reach the server, and {NOT_KEPT}"),
        (SaveState::SignedOut, true) => format!("You are signed out: {KEPT}"),
        (SaveState::SignedOut, false) => format!("You are signed out, and {NOT_KEPT}"),
        (SaveState::Outdated(newer), _) => format!("Not saved: version {newer} is newer."),
        (SaveState::Refused(reason), _) => format!("Not saved. {reason}"),
    }
}
