//! One of a few.

use leptos::prelude::*;

use super::field::{framed, unique_id};

/// One of a few, in a list that folds.
#[component]
pub fn Select(
    /// What is chosen.
    #[prop(into)]
    label: String,
    /// The values and the words for them.
    options: Vec<(String, String)>,
    /// The value in force.
    #[prop(into)]
    value: Signal<String>,
    /// Called with the new value.
    #[prop(into)]
    on_change: Callback<String>,
    /// Said below.
    #[prop(optional, into)]
    hint: Option<String>,
) -> AnyView {
    let id = unique_id();
    let options = options
        .into_iter()
        .map(|(key, word)| {
            let this = key.clone();
            view! { <option value=key selected=move || value.get() == this>{word}</option> }.into_any()
        })
        .collect::<Vec<_>>();
    let input = view! {
        <select
            id=id.clone()
            class="field__input field__input--select"
            aria-describedby=format!("{id}-note")
            on:change=move |event| on_change.run(event_target_value(&event))
        >
            {options}
        </select>
    }
    .into_any();
    framed(id, label, hint, Signal::stored(None), input)
}
