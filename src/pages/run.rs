//! One run.

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// One run.
#[component]
pub fn RunPage() -> AnyView {
    view! { <PageHeading title="Run" /> }.into_any()
}
