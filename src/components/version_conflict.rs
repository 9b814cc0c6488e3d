//! A save met a newer version: both are offered, and neither is lost.

use hamlet_models::{ExtendedVal, VersionNumber};
use leptos::prelude::*;

use crate::{
    components::code_compare::{CodeCompare, CompareMode},
    ui::{
        button::{Button, ButtonKind},
        dialog::Dialog,
        icon::{Icon, IconName},
        time::RelativeTime,
    },
};

/// Offers both texts after a save that met a newer version, and shows where they differ.
#[component]
pub fn VersionConflict(
    /// The version that the reader's text began on.
    base: VersionNumber,
    /// The val as it is by now.
    theirs: ExtendedVal,
    /// The reader's text.
    #[prop(into)]
    mine: Signal<String>,
    /// Saves the reader's text on top of theirs.
    on_keep: Callback<()>,
    /// Takes theirs into the editor in place of the reader's.
    on_take: Callback<()>,
) -> AnyView {
    let comparing = RwSignal::new(false);
    let number = theirs.version;
    let code = StoredValue::new(theirs.code.clone().unwrap_or_default());
    let choices = move || {
        view! {
            <Button on_click=on_keep>{format!("Keep mine: save over version {number}")}</Button>
            <Button on_click=on_take>{format!("Take version {number}")}</Button>
        }
        .into_any()
    };
    // Two columns of code need room.
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    let mode = if width.is_some_and(|width| width < 900.0) {
        CompareMode::Unified
    } else {
        CompareMode::Split
    };
    let title = format!("Version {number} and your changes");
    view! {
        <section class="notice notice--warning" role="alert" aria-label="Newer version">
            <Icon name=IconName::Warning />
            <div class="notice__body">
                <p>
                    <strong>{format!("Version {number} is newer. ")}</strong>
                    {format!("You began on version {base}; version {number} was saved elsewhere ")}
                    <RelativeTime at=theirs.version_created_at.as_millis() />
                    ". Nothing was overwritten: choose which to go on with."
                </p>
                <div class="notice__actions">
                    <Button kind=ButtonKind::Primary on_click=move |()| comparing.set(true)>"Compare the two"</Button>
                    {choices()}
                </div>
            </div>
            <Dialog open=comparing title class="dialog--wide">
                <CodeCompare
                    before=code.get_value()
                    after=mine
                    before_label=format!("Version {number}")
                    after_label="Your changes"
                    mode=Signal::stored(mode)
                />
                <div class="dialog__actions">
                    <Button on_click=move |()| comparing.set(false)>"Close"</Button>
                    {choices()}
                </div>
            </Dialog>
        </section>
    }
    .into_any()
}
