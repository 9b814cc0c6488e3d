//! A button.

use leptos::prelude::*;

/// How much a button asks to be pressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ButtonKind {
    /// The one thing to do here.
    Primary,
    /// One of the things to do.
    #[default]
    Plain,
    /// Takes something away for good.
    Danger,
    /// Quiet until pointed at.
    Quiet,
}

impl ButtonKind {
    /// The classes of a button, or of a link that looks like one.
    pub fn class(self) -> &'static str {
        match self {
            Self::Primary => "button button--primary",
            Self::Plain => "button",
            Self::Danger => "button button--danger",
            Self::Quiet => "button button--quiet",
        }
    }
}

/// A button. While `busy` it can't be pressed and says so; it keeps focus, which a disabled one would lose.
#[component]
pub fn Button(
    /// How much it asks to be pressed.
    #[prop(optional)]
    kind: ButtonKind,
    /// Called when it is pressed; a button that submits its form needs none.
    #[prop(optional, into)]
    on_click: Option<Callback<()>>,
    /// Whether it submits its form.
    #[prop(optional)]
    submit: bool,
    /// Whether it can't be pressed now.
    #[prop(optional, into)]
    disabled: Signal<bool>,
    /// Whether what it started goes on.
    #[prop(optional, into)]
    busy: Signal<bool>,
    /// Its name, where what it shows is no words.
    #[prop(optional, into)]
    label: Option<String>,
    /// What it shows.
    children: Children,
) -> AnyView {
    let press = move |event: leptos::ev::MouseEvent| {
        if busy.get_untracked() {
            event.prevent_default();
        } else if let Some(on_click) = on_click {
            on_click.run(());
        }
    };
    view! {
        <button
            type=if submit { "submit" } else { "button" }
            class=kind.class()
            class:button--busy=busy
            disabled=disabled
            aria-disabled=move || busy.get().then_some("true")
            title=label.clone()
            aria-label=label
            on:click=press
        >
            {children()}
        </button>
    }
    .into_any()
}
