//! The home page.

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// The home page.
#[component]
pub fn HomePage() -> AnyView {
    view! { <PageHeading title="Home" /> }.into_any()
}
