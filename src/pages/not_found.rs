//! An address that leads nowhere.

use leptos::prelude::*;

use crate::{api::error::ClientError, components::failure::LoadFailed};

/// There is no page at this address.
#[component]
pub fn NotFoundPage() -> AnyView {
    view! { <LoadFailed error=ClientError::not_found() on_retry=|()| () /> }.into_any()
}
