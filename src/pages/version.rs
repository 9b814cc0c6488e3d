//! One version of a val.

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// One version of a val.
#[component]
pub fn VersionPage() -> AnyView {
    view! { <PageHeading title="Version" /> }.into_any()
}
