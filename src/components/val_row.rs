//! A val as a row of a list.

use hamlet_models::BasicVal;
use leptos::prelude::*;

use crate::{
    components::{labels::kind_word, status_dot::StatusDot},
    paths,
    ui::time::RelativeTime,
};

/// A val: name, kind, privacy, how its last run ended and when; for who doesn't know of runs, when it was saved.
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
        .map(|author| author.username.to_string())
        .unwrap_or_default();
    let href = paths::val(&username, val.name.as_str());
    let author = with_author.then(|| {
        view! { <span class="val-row__author">{username} <span aria-hidden="true">" / "</span></span> }
            .into_any()
    });
    let (last, when) = match &val.last_run {
        Some(run) => (
            view! { <StatusDot status=run.status /> }.into_any(),
            run.run_start_at,
        ),
        None => (
            view! { {format!("v{} saved", val.version)} }.into_any(),
            val.updated_at,
        ),
    };
    view! {
        <li class="row val-row">
            <a class="row__link val-row__name" href=href>
                {author}
                {val.name.to_string()}
            </a>
            <span class="val-row__kind">{kind_word(val.kind)}</span>
            <span class="val-row__privacy">{val.privacy.as_str()}</span>
            <span class="val-row__last">{last}</span>
            <span class="val-row__when"><RelativeTime at=when.as_millis() /></span>
        </li>
    }
    .into_any()
}
