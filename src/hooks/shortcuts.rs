//! Keys.

use leptos::{ev, prelude::*};
use web_sys::{HtmlElement, KeyboardEvent, wasm_bindgen::JsCast};

/// Whether the key that goes with commands is held: Command on a Mac, Control elsewhere.
pub fn is_mod(event: &KeyboardEvent) -> bool {
    event.ctrl_key() || event.meta_key()
}

/// Whether someone is typing text, so that a lone letter is a letter and no command.
pub fn is_typing(event: &KeyboardEvent) -> bool {
    let Some(target) = event
        .target()
        .and_then(|target| target.dyn_into::<HtmlElement>().ok())
    else {
        return false;
    };
    target.is_content_editable() || matches!(target.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
}

/// Calls `act` on every key pressed anywhere while the owner lives.
pub fn on_key(act: impl Fn(KeyboardEvent) + 'static) {
    let listening = window_event_listener(ev::keydown, act);
    on_cleanup(move || listening.remove());
}

/// Calls `act` on `Mod` and this letter, also while typing, in place of what the browser would do.
pub fn on_mod_key(key: &'static str, act: impl Fn() + 'static) {
    on_key(move |event| {
        if is_mod(&event) && !event.alt_key() && !event.shift_key() && event.key().eq_ignore_ascii_case(key) {
            event.prevent_default();
            act();
        }
    });
}
