//! A val's history.

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// A val's history.
#[component]
pub fn VersionsPage() -> AnyView {
    view! { <PageHeading title="Versions" /> }.into_any()
}
