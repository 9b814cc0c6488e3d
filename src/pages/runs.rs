//! A val's runs.

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// A val's runs.
#[component]
pub fn RunsPage() -> AnyView {
    view! { <PageHeading title="Runs" /> }.into_any()
}
