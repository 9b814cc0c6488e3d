//! Chips: choices that filter a list.

use leptos::prelude::*;

/// One choice: the value and the word for it.
pub type Choice = (&'static str, &'static str);

/// A row of choices of which one or none is in force; each is a link, so that the choice is in the address.
#[component]
pub fn FilterChips(
    /// What is chosen here, for a screen reader.
    #[prop(into)]
    label: String,
    /// The word for no choice.
    all: &'static str,
    /// The choices.
    choices: Vec<Choice>,
    /// The one in force.
    #[prop(into)]
    value: Signal<Option<String>>,
    /// Where a choice, or none, leads.
    #[prop(into)]
    href: Callback<(Option<&'static str>,), String>,
) -> AnyView {
    let chip = move |choice: Option<&'static str>, word: &'static str| {
        view! {
            <li>
                <a
                    class="chip"
                    href=move || href.run((choice,))
                    aria-current=move || (value.get().as_deref() == choice).then_some("true")
                >
                    {word}
                </a>
            </li>
        }
        .into_any()
    };
    let chips: Vec<_> = std::iter::once((None, all))
        .chain(choices.into_iter().map(|(value, word)| (Some(value), word)))
        .map(|(value, word)| chip(value, word))
        .collect();
    view! {
        <ul class="chips" role="list" aria-label=label>
            {chips}
        </ul>
    }
    .into_any()
}
