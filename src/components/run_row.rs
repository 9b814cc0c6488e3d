//! A run as a row of a short list.

use hamlet_models::BaseRun;
use leptos::prelude::*;

use crate::{
    components::{labels::trigger_word, status_dot::StatusDot},
    paths,
    ui::time::{RelativeTime, duration},
};

/// A run: how it stands, of which val, what started it, how long and when.
#[component]
pub fn RunRow(
    /// The run.
    run: BaseRun,
) -> AnyView {
    let name = run
        .name
        .as_ref()
        .map_or_else(|| "evaluation".to_owned(), ToString::to_string);
    let took = run.duration_ms.map(duration);
    let error = run
        .error
        .as_ref()
        .map(|error| format!("{}: {}", error.name, error.message));
    view! {
        <li class="row run-row">
            <a class="row__link run-row__name" href=paths::run(run.id)>{name}</a>
            <span class="run-row__took">{took}</span>
            <span class="run-row__when"><RelativeTime at=run.run_start_at.as_millis() /></span>
            <span class="run-row__how">
                <StatusDot status=run.status />
                <span class="run-row__trigger">{trigger_word(run.trigger)}</span>
                {error.map(|error| view! { <code class="run-row__error">{error}</code> }.into_any())}
            </span>
        </li>
    }
    .into_any()
}
