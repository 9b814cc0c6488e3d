//! A val: its code, whether it is saved, and what runs it.

pub mod code;
pub mod draft;
pub mod leave;
pub mod readme;
pub mod requests;
pub mod runner;
pub mod schedule;
pub mod work;

pub mod settings;

use leptos::prelude::*;

use self::code::ValCode;
use crate::{
    components::loaded::loaded,
    hooks::{session::use_session, val::use_val},
    ui::skeleton::SkeletonBox,
};

/// A val: its code and what runs it.
#[component]
pub fn ValPage() -> AnyView {
    let val = use_val();
    let session = use_session();
    // What the page offers depends on who looks: it waits for both, which were asked for at the same time.
    let known = Memo::new(move |_| session.get().is_some());
    loaded(val, skeleton, move |val| {
        let val = StoredValue::new(val);
        (move || {
            if known.get() {
                view! { <ValCode val=val.get_value() /> }.into_any()
            } else {
                skeleton()
            }
        })
        .into_any()
    })
}

/// The room that the heading, the bar and the editor will take.
fn skeleton() -> AnyView {
    view! {
        <div class="val-page val-page--waiting page--full">
            <div class="val-page__heading"></div>
            <SkeletonBox height="var(--workspace-height)" />
        </div>
    }
    .into_any()
}
