//! The palette: vals, pages and actions by a few letters.

use leptos::prelude::*;

use crate::ui::dialog::Dialog;

/// The palette.
#[component]
pub fn Palette(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Opens the list of shortcuts.
    shortcuts: RwSignal<bool>,
) -> AnyView {
    let _ = shortcuts;
    view! { <Dialog open title="Search">"…"</Dialog> }.into_any()
}
