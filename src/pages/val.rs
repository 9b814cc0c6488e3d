//! A val: its code and what runs it.

pub mod settings;

use leptos::prelude::*;

use crate::components::heading::PageHeading;

/// A val: its code and what runs it.
#[component]
pub fn ValPage() -> AnyView {
    view! { <PageHeading title="Val" /> }.into_any()
}
