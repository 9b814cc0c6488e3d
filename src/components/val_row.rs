//! A val as a row of a list.

use hamlet_models::BasicVal;
use leptos::prelude::*;

use crate::{
    components::{
        labels::{KindLabel, PrivacyLabel},
        status_dot::StatusDot,
    },
    paths,
    ui::time::RelativeTime,
};

/// A val: name, kind, privacy, how it last ended, when it changed.
#[component]
pub fn ValRow(
    /// The val.
    val: BasicVal,
    /// Whether to say whose it is.
    #[prop(optional)]
    with_author: bool,
) -> AnyView {
    let username = val
        .author
        .as_ref()
        .map(|author| author.username.as_str().to_owned())
        .unwrap_or_default();
    let author = with_author
        .then(|| view! { <span class="val-row__author">{format!("{username} /")}</span> }.into_any());
    let (last, when) = match &val.last_run {
        Some(run) => (
            view! { <StatusDot status=run.status /> }.into_any(),
            run.run_start_at,
        ),
        None => (
            view! { <span class="val-row__note">{format!("v{} saved", val.version)}</span> }.into_any(),
            val.updated_at,
        ),
    };
    view! {
        <li class="row val-row">
            <a class="row__link val-row__name" href=paths::val(&username, val.name.as_str())>
                {author}
                {val.name.to_string()}
            </a>
            <span class="val-row__labels">
                <KindLabel kind=val.kind />
                <PrivacyLabel privacy=val.privacy />
            </span>
            <span class="row__end">
                {last}
                <RelativeTime at=when.as_millis() />
            </span>
        </li>
    }
    .into_any()
}
