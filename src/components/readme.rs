//! A val's readme: shown, and written by its owner.

use leptos::prelude::*;

use crate::ui::{
    button::{Button, ButtonKind},
    field::TextArea,
    icon::{Icon, IconName},
};

/// How a readme stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadmeState {
    /// There is none.
    None,
    /// Its Markdown is on its way to become HTML.
    Rendering,
    /// The server made this HTML of it, which is safe to show.
    Rendered(String),
    /// It could not be rendered: this is its Markdown.
    Plain(String),
}

/// A val's readme. Its owner can write it; the draft is whoever mounts this to keep.
#[component]
pub fn Readme(
    /// The readme as it is saved.
    #[prop(into)]
    state: Signal<ReadmeState>,
    /// Whether it can be written.
    #[prop(into)]
    writable: Signal<bool>,
    /// Whether it is being written now.
    editing: RwSignal<bool>,
    /// What is written.
    draft: RwSignal<String>,
    /// Whether a save goes on.
    #[prop(into)]
    saving: Signal<bool>,
    /// Why the last save failed, if it did.
    #[prop(into)]
    error: Signal<Option<String>>,
    /// Saves what is written.
    on_save: Callback<()>,
    /// Drops what is written.
    on_cancel: Callback<()>,
) -> AnyView {
    let has_readme = move || state.get() != ReadmeState::None;
    let edit = move || {
        (writable.get() && !editing.get()).then(|| {
            view! {
                <Button kind=ButtonKind::Quiet on_click=move |()| editing.set(true)>
                    <Icon name=IconName::Edit />
                    {move || if has_readme() { "Edit the readme" } else { "Add a readme" }}
                </Button>
            }
        })
    };
    let body = move || {
        if editing.get() {
            return form(draft, saving, error, on_save, on_cancel);
        }
        match state.get() {
            ReadmeState::None => ().into_any(),
            ReadmeState::Rendering => view! { <p class="readme__waiting">"Rendering…"</p> }.into_any(),
            ReadmeState::Rendered(html) => {
                view! { <div class="readme__text prose" inner_html=html></div> }.into_any()
            }
            ReadmeState::Plain(markdown) => view! { <pre class="readme__plain">{markdown}</pre> }.into_any(),
        }
    };
    let shown = move || has_readme() || writable.get();
    view! {
        <section class="readme" aria-label="Readme" hidden=move || !shown()>
            <div class="readme__head">
                <h2 hidden=move || !has_readme() && !editing.get()>"Readme"</h2>
                {edit}
            </div>
            {body}
        </section>
    }
    .into_any()
}

fn form(
    draft: RwSignal<String>,
    saving: Signal<bool>,
    error: Signal<Option<String>>,
    on_save: Callback<()>,
    on_cancel: Callback<()>,
) -> AnyView {
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        on_save.run(());
    };
    view! {
        <form class="readme__form" on:submit=submit>
            <TextArea label="Readme, in Markdown" value=draft rows=14 code=true error />
            <div class="form__actions">
                <Button kind=ButtonKind::Primary submit=true busy=saving>"Save the readme"</Button>
                <Button on_click=on_cancel>"Cancel"</Button>
            </div>
        </form>
    }
    .into_any()
}
