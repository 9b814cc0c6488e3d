//! Which two versions are compared, and how it is shown.

use std::{fmt, str::FromStr};

use hamlet_models::VersionNumber;
use leptos::prelude::*;

use crate::{
    components::code_compare::CompareMode,
    ui::{
        icon::{Icon, IconName},
        part::part,
    },
};

/// What is chosen to be compared, as the address has it: nothing, `3`, or `3..7`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compared {
    /// Nothing is chosen yet.
    #[default]
    Nothing,
    /// The first of two.
    One(VersionNumber),
    /// From one to another.
    Two(VersionNumber, VersionNumber),
}

impl Compared {
    /// Chooses a version, or no longer; a third takes the place of the one that was chosen first.
    pub fn toggled(self, version: VersionNumber) -> Self {
        match self {
            Self::Nothing => Self::One(version),
            Self::One(one) if one == version => Self::Nothing,
            Self::One(one) => Self::between(one, version),
            Self::Two(from, to) if from == version => Self::One(to),
            Self::Two(from, to) if to == version => Self::One(from),
            Self::Two(_, to) => Self::between(to, version),
        }
    }

    /// The versions that are chosen.
    pub fn picked(self) -> Vec<VersionNumber> {
        match self {
            Self::Nothing => Vec::new(),
            Self::One(one) => vec![one],
            Self::Two(from, to) => vec![from, to],
        }
    }

    /// The older first.
    fn between(one: VersionNumber, other: VersionNumber) -> Self {
        Self::Two(one.min(other), one.max(other))
    }

    /// The value in the address; none for nothing.
    pub fn query(self) -> Option<String> {
        (self != Self::Nothing).then(|| self.to_string())
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::One(one) => write!(f, "{one}"),
            Self::Two(from, to) => write!(f, "{from}..{to}"),
        }
    }
}

impl FromStr for Compared {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once("..") {
            None => Ok(Self::One(text.parse()?)),
            Some((from, to)) => Ok(Self::Two(from.parse()?, to.parse()?)),
        }
    }
}

/// Says what is chosen, and leads on: to another order, to the other layout, to nothing.
#[component]
pub fn ComparePicker(
    /// What is chosen.
    #[prop(into)]
    compared: Signal<Compared>,
    /// The latest version.
    latest: VersionNumber,
    /// How the two are laid out.
    #[prop(into)]
    mode: Signal<CompareMode>,
    /// The address with this choice and layout.
    href: Callback<(Compared, CompareMode), String>,
) -> AnyView {
    let link = move |words: String, compared: Compared| {
        let href = move || href.run((compared, mode.get()));
        view! { <a class="button" href=href>{words}</a> }.into_any()
    };
    let layout = move |compared: Compared, this: CompareMode, words: &'static str| {
        view! {
            <a
                class="compare__mode"
                href=move || href.run((compared, this))
                aria-current=move || (mode.get() == this).then_some("true")
            >
                {words}
            </a>
        }
        .into_any()
    };
    let close = move || {
        view! {
            <a
                class="button button--quiet button--icon"
                href=move || href.run((Compared::Nothing, mode.get()))
                aria-label="Stop comparing"
                title="Stop comparing"
            >
                <Icon name=IconName::Close />
            </a>
        }
        .into_any()
    };
    let content = move || {
        match compared.get() {
        Compared::Nothing => view! { <p class="compare__hint">"Tick two versions to see what changed between them."</p> }
            .into_any(),
        Compared::One(one) => view! {
            <p class="compare__hint">"Version " {one} " is chosen. Tick another to compare it with"</p>
            {(one != latest).then(|| link(format!("Compare with latest, v{latest}"), Compared::Two(one, latest)))}
            {close()}
        }
        .into_any(),
        compared @ Compared::Two(from, to) => view! {
            <h2 class="compare__title" tabindex="-1">{format!("Version {from} → version {to}")}</h2>
            <div class="compare__modes" role="group" aria-label="Layout">
                {layout(compared, CompareMode::Split, "Side by side")} {layout(compared, CompareMode::Unified, "Inline")}
            </div>
            {link("Swap".to_owned(), Compared::Two(to, from))}
            {close()}
        }
        .into_any(),
    }
    };
    view! { <div class="compare__bar">{part(content)}</div> }.into_any()
}
