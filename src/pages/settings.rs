//! The signed-in user's settings.

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// The signed-in user's settings.
#[component]
pub fn SettingsPage() -> AnyView {
    view! { <PageHeading title="Settings" /> }.into_any()
}
