//! The parts of a thing, each with an address.

use leptos::prelude::*;

/// One part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    /// Its name.
    pub label: &'static str,
    /// Its address.
    pub href: String,
    /// Whether this is the one that is shown.
    pub current: bool,
}

/// The parts of a thing as links in a row, which scrolls where it is too narrow.
#[component]
pub fn Tabs(
    /// What the parts are of, for a screen reader.
    #[prop(into)]
    label: String,
    /// The parts.
    tabs: Vec<Tab>,
) -> AnyView {
    let tabs: Vec<_> = tabs
        .into_iter()
        .map(|tab| {
            view! {
                <a class="tabs__tab" href=tab.href aria-current=tab.current.then_some("page")>
                    {tab.label}
                </a>
            }
            .into_any()
        })
        .collect();
    view! {
        <nav class="tabs" aria-label=label>
            {tabs}
        </nav>
    }
    .into_any()
}
