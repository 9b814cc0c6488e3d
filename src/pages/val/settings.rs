//! A val's settings.

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// A val's settings.
#[component]
pub fn ValSettingsPage() -> AnyView {
    view! { <PageHeading title="Val settings" /> }.into_any()
}
