//! Writing a new val.

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// Writing a new val.
#[component]
pub fn NewValPage() -> AnyView {
    view! { <PageHeading title="New val" /> }.into_any()
}
