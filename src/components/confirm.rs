//! A question before something is gone for good.

use std::{pin::Pin, sync::Arc};

use leptos::{prelude::*, task::spawn_local};

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

type Deletion = Pin<Box<dyn Future<Output = Result<(), ClientError>>>>;

/// One of several things, which someone wants deleted.
#[derive(Clone)]
pub struct Doomed {
    question: String,
    delete: Arc<dyn Fn() -> Deletion + Send + Sync>,
}

impl Doomed {
    /// What to ask, as `Delete hello?`, and what deletes it.
    pub fn new<F>(question: String, delete: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), ClientError>> + 'static,
    {
        Self {
            question,
            delete: Arc::new(move || Box::pin(delete())),
        }
    }
}

/// Asks before one of several things is deleted, and deletes it. What is gone already counts as deleted.
#[component]
pub fn ConfirmDelete(
    /// What it is asked of now.
    doomed: RwSignal<Option<Doomed>>,
    /// What the button does, as `Revoke the token`.
    verb: &'static str,
    /// Called when it is gone.
    #[prop(into)]
    on_deleted: Callback<()>,
    /// What follows from it.
    children: ChildrenFn,
) -> AnyView {
    let (open, busy) = (RwSignal::new(false), RwSignal::new(false));
    let error = RwSignal::<Option<ClientError>>::new(None);
    Effect::new(move |_| {
        if doomed.with(Option::is_some) {
            error.set(None);
            open.set(true);
        }
    });
    Effect::new(move |_| {
        if !open.get() {
            doomed.set(None);
        }
    });
    let title = Signal::derive(move || {
        let question = doomed.with(|doomed| doomed.as_ref().map(|doomed| doomed.question.clone()));
        question.unwrap_or_default()
    });
    let delete = Callback::new(move |()| {
        let Some(doomed) = doomed.get_untracked() else {
            return;
        };
        busy.set(true);
        spawn_local(async move {
            let answer = (doomed.delete)().await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Err(refused) if !refused.is_not_found() => error.set(Some(refused)),
                _ => {
                    open.set(false);
                    on_deleted.run(());
                }
            }
        });
    });
    view! {
        <Confirm open title verb busy error on_confirm=delete>
            {children()}
        </Confirm>
    }
    .into_any()
}
