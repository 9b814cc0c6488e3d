//! Filters that are typed: a version's number, a time.

use hamlet_models::VersionNumber;
use leptos::{
    ev::{KeyboardEvent, SubmitEvent},
    prelude::*,
};

use super::{
    Changes, Period, RunsQuery,
    query::{local_input, local_time},
};

/// Keeps the menu around a form from taking its keys for its own.
pub(super) fn keep_keys(event: KeyboardEvent) {
    if event.key() != "Escape" {
        event.stop_propagation();
    }
}

/// Asks for a version by its number.
pub(super) fn version_form(
    query: Signal<RunsQuery>,
    href: Callback<(Changes,), String>,
    on_go: Callback<String>,
) -> AnyView {
    let number =
        RwSignal::new(query.with_untracked(|query| query.version.map(|version| version.to_string())));
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let version = number
            .get_untracked()
            .filter(|number| number.parse::<VersionNumber>().is_ok());
        on_go.run(href.run((vec![("version", version)],)));
    };
    view! {
        <form on:submit=submit>
            <label>
                "Another"
                <input
                    class="field__input"
                    type="number"
                    min="0"
                    step="1"
                    required
                    prop:value=move || number.get().unwrap_or_default()
                    on:input:target=move |event| number.set(Some(event.target().value()))
                />
            </label>
            <button class="button" type="submit">"Show"</button>
        </form>
    }
    .into_any()
}

/// Asks for runs from one time to another.
pub(super) fn period_form(
    query: Signal<RunsQuery>,
    href: Callback<(Changes,), String>,
    on_go: Callback<String>,
) -> AnyView {
    let (since, until) = query.with_untracked(|query| match query.period {
        Some(Period::Between { since, until }) => (since, until),
        _ => (None, None),
    });
    let input = |label: &'static str, value: RwSignal<String>| {
        view! {
            <label>
                {label}
                <input
                    class="field__input"
                    type="datetime-local"
                    prop:value=value
                    on:input:target=move |event| value.set(event.target().value())
                />
            </label>
        }
        .into_any()
    };
    let (since, until) = (
        RwSignal::new(local_input(since)),
        RwSignal::new(local_input(until)),
    );
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let time = |input: RwSignal<String>| local_time(&input.get_untracked()).map(|time| time.to_string());
        on_go.run(href.run((vec![
            ("last", None),
            ("since", time(since)),
            ("until", time(until)),
        ],)));
    };
    view! {
        <form on:submit=submit>
            {input("Since", since)} {input("Until", until)} <button class="button" type="submit">"Show"</button>
        </form>
    }
    .into_any()
}
