//! Signing in.

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// Signing in.
#[component]
pub fn LoginPage() -> AnyView {
    view! { <PageHeading title="Sign in" /> }.into_any()
}
