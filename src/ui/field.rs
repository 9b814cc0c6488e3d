//! Fields of forms: a label, an input, a hint, and what is wrong.

use std::sync::atomic::{AtomicU32, Ordering};

use leptos::{html, prelude::*};

static IDS: AtomicU32 = AtomicU32::new(0);

/// An id that no other element of the page has.
pub fn unique_id() -> String {
    format!("f{}", IDS.fetch_add(1, Ordering::Relaxed))
}

/// One line of text.
#[component]
pub fn TextField(
    /// What to write.
    #[prop(into)]
    label: String,
    /// What is written.
    value: RwSignal<String>,
    /// `text`, `password`, `email`, `url`, `date`.
    #[prop(default = "text")]
    kind: &'static str,
    /// The field's name, and what a password manager or the browser may fill in.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// Said below, before there is anything wrong.
    #[prop(optional, into)]
    hint: Option<String>,
    /// What is wrong, if anything.
    #[prop(optional, into)]
    error: Signal<Option<String>>,
    /// Whether it is code: a name, a token.
    #[prop(optional)]
    code: bool,
    /// Whether focus begins here.
    #[prop(optional)]
    autofocus: bool,
) -> AnyView {
    let id = unique_id();
    let element = NodeRef::<html::Input>::new();
    // The attribute moves focus in a dialog that opens; on a page that is already there it does not.
    Effect::new(move |_| {
        if let Some(element) = element.get().filter(|_| autofocus) {
            let _ = element.focus();
        }
    });
    let input = view! {
        <input
            node_ref=element
            id=id.clone()
            class="field__input"
            class:field__input--code=code
            type=kind
            name=autocomplete
            autocomplete=autocomplete
            autocapitalize="none"
            spellcheck="false"
            autofocus=autofocus
            aria-describedby=format!("{id}-note")
            aria-invalid=move || error.with(Option::is_some).then_some("true")
            prop:value=value
            on:input=move |event| value.set(event_target_value(&event))
        />
    }
    .into_any();
    framed(id, label, hint, error, input)
}

/// Lines of text.
#[component]
pub fn TextArea(
    /// What to write.
    #[prop(into)]
    label: String,
    /// What is written.
    value: RwSignal<String>,
    /// How many lines it shows.
    #[prop(default = 4)]
    rows: u32,
    /// Said below, before there is anything wrong.
    #[prop(optional, into)]
    hint: Option<String>,
    /// What is wrong, if anything.
    #[prop(optional, into)]
    error: Signal<Option<String>>,
    /// Whether it is code.
    #[prop(optional)]
    code: bool,
) -> AnyView {
    let id = unique_id();
    let input = view! {
        <textarea
            id=id.clone()
            class="field__input"
            class:field__input--code=code
            rows=rows
            spellcheck=if code { "false" } else { "true" }
            aria-describedby=format!("{id}-note")
            aria-invalid=move || error.with(Option::is_some).then_some("true")
            prop:value=value
            on:input=move |event| value.set(event_target_value(&event))
        ></textarea>
    }
    .into_any();
    framed(id, label, hint, error, input)
}

/// A yes or no.
#[component]
pub fn Checkbox(
    /// What is chosen.
    #[prop(into)]
    label: String,
    /// Whether it is.
    #[prop(into)]
    checked: Signal<bool>,
    /// Called with the new choice.
    #[prop(into)]
    on_change: Callback<bool>,
) -> AnyView {
    view! {
        <label class="checkbox">
            <input
                type="checkbox"
                prop:checked=checked
                on:change=move |event| on_change.run(event_target_checked(&event))
            />
            <span>{label}</span>
        </label>
    }
    .into_any()
}

/// The label above, and the hint or what is wrong below.
pub(super) fn framed(
    id: String,
    label: String,
    hint: Option<String>,
    error: Signal<Option<String>>,
    input: AnyView,
) -> AnyView {
    let note_id = format!("{id}-note");
    let note = move || match error.get() {
        Some(error) => view! { <span class="field__error" role="alert">{error}</span> }.into_any(),
        None => view! { <span>{hint.clone()}</span> }.into_any(),
    };
    view! {
        <div class="field">
            <label class="field__label" for=id>{label}</label>
            {input}
            <div class="field__note" id=note_id>{note}</div>
        </div>
    }
    .into_any()
}
