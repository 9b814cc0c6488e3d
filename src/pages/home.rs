//! The home page: a desk for who is signed in, a door for who is not.

pub mod desk;
pub mod visitor;

use leptos::prelude::*;

use self::{desk::Desk, visitor::Visitor};
use crate::{components::loaded::loaded, hooks::session::use_session, ui::skeleton::SkeletonRows};

/// The home page.
#[component]
pub fn HomePage() -> AnyView {
    let session = use_session();
    loaded(
        session.fetched(),
        || view! { <SkeletonRows rows=8 height=44 /> }.into_any(),
        |me| match me {
            Some(me) => view! { <Desk me /> }.into_any(),
            None => view! { <Visitor /> }.into_any(),
        },
    )
}
