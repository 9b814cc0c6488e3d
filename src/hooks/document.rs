//! The document's title, and where focus goes.

use std::time::Duration;

use leptos::{html, prelude::*};

/// Set when the address has changed and focus has not yet moved to the new page's heading.
#[derive(Clone, Copy)]
pub struct FocusHeading(pub RwSignal<bool>);

/// Titles the document.
pub fn use_title(title: Signal<String>) {
    Effect::new(move |_| document().set_title(&format!("{} · Hamlet", title.get())));
}

/// Moves focus to the heading after a navigation, so that a screen reader tells where it led. Focus that someone has
/// moved into the page meanwhile stays.
pub fn use_heading_focus(heading: NodeRef<html::H1>) {
    let Some(FocusHeading(wanted)) = use_context::<FocusHeading>() else {
        return;
    };
    Effect::new(move |_| {
        let Some(heading) = heading.get() else { return };
        if !wanted.get() {
            return;
        }
        wanted.set(false);
        // After the old page is gone, which takes its focus with it.
        set_timeout(
            move || {
                // It was the old page's heading that saw the address change: the new one is yet to come.
                if !heading.is_connected() {
                    wanted.set(true);
                    return;
                }
                let free = document().active_element().is_none_or(|active| {
                    matches!(active.tag_name().as_str(), "BODY" | "HTML" | "A" | "BUTTON")
                });
                if free {
                    let _ = heading.focus();
                }
            },
            Duration::ZERO,
        );
    });
}
