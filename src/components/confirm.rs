//! A question before something is gone for good.

use leptos::prelude::*;

use crate::{
    api::error::ClientError,
    ui::{
        button::{Button, ButtonKind},
        dialog::Dialog,
        field::TextField,
    },
};

/// Asks before something is deleted, and wants its name typed. Stays open while the deletion goes on, and shows why
/// it failed.
#[component]
pub fn ConfirmByName(
    /// Whether it is asked now.
    open: RwSignal<bool>,
    /// The question, as `Delete the val hello?`.
    #[prop(into)]
    title: Signal<String>,
    /// The name to type.
    #[prop(into)]
    name: Signal<String>,
    /// What the button does, as `Delete the val`.
    verb: &'static str,
    /// Whether the deletion goes on.
    #[prop(into)]
    busy: Signal<bool>,
    /// Why it failed, if it did.
    #[prop(into)]
    error: Signal<Option<ClientError>>,
    /// Called once the name is right and the button pressed.
    on_confirm: Callback<()>,
    /// What goes with it: versions, runs, the address.
    children: ChildrenFn,
) -> AnyView {
    let typed = RwSignal::new(String::new());
    Effect::new(move |_| {
        if open.get() {
            typed.set(String::new());
        }
    });
    let wrong = Signal::derive(move || typed.get().trim() != name.get());
    let on_submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if !wrong.get_untracked() && !busy.get_untracked() {
            on_confirm.run(());
        }
    };
    let failed = move || {
        error
            .get()
            .map(|error| view! { <p class="form__error" role="alert">{error.sentence()}</p> }.into_any())
    };
    view! {
        <Dialog open title>
            <div class="dialog__text">{children()}</div>
            <form class="form" on:submit=on_submit>
                <TextField label=format!("Type {} to confirm", name.get_untracked()) value=typed code=true autofocus=true />
                {failed}
                <div class="dialog__actions">
                    <Button on_click=move |()| open.set(false)>"Cancel"</Button>
                    <Button kind=ButtonKind::Danger submit=true disabled=wrong busy>{verb}</Button>
                </div>
            </form>
        </Dialog>
    }
    .into_any()
}

/// Asks before something that has no name to type.
#[component]
pub fn Confirm(
    /// Whether it is asked now.
    open: RwSignal<bool>,
    /// The question.
    #[prop(into)]
    title: Signal<String>,
    /// What the button does, as `Revoke the token`.
    verb: &'static str,
    /// Whether it goes on.
    #[prop(into)]
    busy: Signal<bool>,
    /// Why it failed, if it did.
    #[prop(into)]
    error: Signal<Option<ClientError>>,
    /// Called when the button is pressed.
    on_confirm: Callback<()>,
    /// What follows from it.
    children: ChildrenFn,
) -> AnyView {
    let failed = move || {
        error
            .get()
            .map(|error| view! { <p class="form__error" role="alert">{error.sentence()}</p> }.into_any())
    };
    view! {
        <Dialog open title>
            <div class="dialog__text">{children()}</div>
            {failed}
            <div class="dialog__actions">
                <Button on_click=move |()| open.set(false)>"Cancel"</Button>
                <Button kind=ButtonKind::Danger busy on_click=on_confirm>{verb}</Button>
            </div>
        </Dialog>
    }
    .into_any()
}
