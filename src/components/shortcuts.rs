//! All shortcuts.

use leptos::prelude::*;

use crate::ui::dialog::Dialog;

/// What each key does.
const SHORTCUTS: [(&str, &str); 8] = [
    ("Mod S", "Save the val"),
    ("Mod Enter", "Run the val"),
    ("Mod K", "Open the palette"),
    ("/", "Search"),
    ("?", "Show these shortcuts"),
    ("Escape", "Close what is open"),
    ("↑ ↓", "Move through a list"),
    ("Enter", "Open what is chosen"),
];

/// The list of shortcuts.
#[component]
pub fn ShortcutsDialog(
    /// Whether it is shown.
    open: RwSignal<bool>,
) -> AnyView {
    let mac = window()
        .navigator()
        .platform()
        .is_ok_and(|platform| platform.starts_with("Mac"));
    let modifier = if mac { "⌘" } else { "Ctrl" };
    let row = move |(keys, does): (&'static str, &'static str)| {
        let keys: Vec<_> = keys
            .split(' ')
            .map(|key| view! { <kbd>{if key == "Mod" { modifier } else { key }}</kbd> }.into_any())
            .collect();
        view! {
            <dt>{keys}</dt>
            <dd>{does}</dd>
        }
        .into_any()
    };
    view! {
        <Dialog open title="Keyboard shortcuts">
            <dl class="shortcuts">{SHORTCUTS.map(row)}</dl>
            <form method="dialog" class="dialog__actions">
                <button class="button" autofocus>"Close"</button>
            </form>
        </Dialog>
    }
    .into_any()
}
