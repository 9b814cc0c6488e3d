//! The end of every form: what went wrong or right, and the button.

use leptos::prelude::*;

use crate::{
    api::error::ClientError,
    ui::button::{Button, ButtonKind},
};

/// What went wrong, the button, and that it worked.
#[component]
pub fn FormEnd(
    /// What the button does.
    verb: &'static str,
    /// Whether it goes on.
    #[prop(into)]
    busy: Signal<bool>,
    /// Why it failed, if it did.
    #[prop(into)]
    error: Signal<Option<ClientError>>,
    /// Whether it worked.
    #[prop(optional, into)]
    done: Signal<bool>,
    /// What to say then.
    #[prop(optional)]
    done_word: &'static str,
    /// Whether something is still missing.
    #[prop(optional, into)]
    disabled: Signal<bool>,
    /// Fields that say themselves what the server finds wrong with them: it is not said twice.
    #[prop(optional)]
    fields: &'static [&'static str],
    /// Other ways on, beside the button.
    #[prop(optional)]
    children: Option<Children>,
) -> AnyView {
    let failed = move || {
        let error = error.get().filter(|error| !error.is_about(fields));
        error.map(|error| view! { <p class="form__error" role="alert">{error.sentence()}</p> }.into_any())
    };
    view! {
        {failed}
        <div class="form__actions">
            <Button kind=ButtonKind::Primary submit=true busy disabled>{verb}</Button>
            {children.map(|children| children())}
            <span class="form__done" role="status">{move || done.get().then_some(done_word)}</span>
        </div>
    }
    .into_any()
}
