//! A user and their vals.

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// A user and their vals.
#[component]
pub fn UserPage() -> AnyView {
    view! { <PageHeading title="User" /> }.into_any()
}
