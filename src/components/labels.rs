//! The words for kinds and privacies.

use hamlet_models::{Privacy, Trigger, ValKind};
use leptos::prelude::*;

/// The word for a kind of val.
pub fn kind_word(kind: ValKind) -> &'static str {
    match kind {
        ValKind::Script => "script",
        ValKind::Http => "HTTP",
        ValKind::Interval => "scheduled",
        ValKind::Email => "e-mail",
    }
}

/// The word for what started a run.
pub fn trigger_word(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Http => "HTTP",
        Trigger::Schedule => "schedule",
        Trigger::Email => "e-mail",
        Trigger::Run => "run",
        Trigger::Eval => "eval",
        Trigger::Editor => "editor",
        Trigger::Replay => "replay",
    }
}

/// A val's kind as a quiet label.
#[component]
pub fn KindLabel(
    /// The kind.
    kind: ValKind,
) -> AnyView {
    view! { <span class="label">{kind_word(kind)}</span> }.into_any()
}

/// A val's privacy as a quiet label.
#[component]
pub fn PrivacyLabel(
    /// The privacy.
    privacy: Privacy,
) -> AnyView {
    view! { <span class=format!("label label--{}", privacy.as_str())>{privacy.as_str()}</span> }.into_any()
}
