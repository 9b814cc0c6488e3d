//! Arrow keys in lists.

use web_sys::{Element, HtmlElement, KeyboardEvent, wasm_bindgen::JsCast};

/// Moves focus between the parts of a list that `selector` finds: for a `keydown` on the list itself. Up and down go one
/// on, Home and End to the ends.
pub fn move_focus(event: &KeyboardEvent, selector: &str) {
    if event.default_prevented() || event.ctrl_key() || event.meta_key() || event.alt_key() {
        return;
    }
    let element = |target: Option<web_sys::EventTarget>| target?.dyn_into::<Element>().ok();
    let (Some(list), Some(target)) = (element(event.current_target()), element(event.target())) else {
        return;
    };
    let Ok(found) = list.query_selector_all(selector) else {
        return;
    };
    let part = |index: u32| found.item(index)?.dyn_into::<HtmlElement>().ok();
    let Some(here) = (0..found.length()).find(|&index| part(index).is_some_and(|part| *part == target))
    else {
        return;
    };
    let next = match event.key().as_str() {
        "ArrowDown" => here + 1,
        "ArrowUp" => here.wrapping_sub(1),
        "Home" => 0,
        "End" => found.length() - 1,
        _ => return,
    };
    event.prevent_default();
    if let Some(next) = part(next) {
        let _ = next.focus();
    }
}
