//! A button that unfolds a list of links and commands.

use leptos::{ev, html, prelude::*};
use web_sys::{HtmlElement, Node, wasm_bindgen::JsCast};

/// A button and what it unfolds. Escape, a choice or a click elsewhere folds it; the arrow keys walk through it.
#[component]
pub fn Menu(
    /// The button's name.
    #[prop(into)]
    label: Signal<String>,
    /// What the button shows.
    #[prop(into)]
    button: ViewFnOnce,
    /// What is unfolded: links and buttons with the class `menu__item`.
    children: ChildrenFn,
) -> AnyView {
    let open = RwSignal::new(false);
    let frame = NodeRef::<html::Div>::new();
    let toggle = NodeRef::<html::Button>::new();

    let elsewhere = window_event_listener(ev::pointerdown, move |event| {
        let inside = |frame: web_sys::HtmlDivElement| {
            let target = event.target().and_then(|target| target.dyn_into::<Node>().ok());
            frame.contains(target.as_ref())
        };
        if open.get_untracked() && !frame.get_untracked().is_some_and(inside) {
            open.set(false);
        }
    });
    on_cleanup(move || elsewhere.remove());

    let on_key = move |event: ev::KeyboardEvent| {
        let step = match event.key().as_str() {
            "ArrowDown" => 1,
            "ArrowUp" => -1,
            "Escape" if open.get_untracked() => {
                event.stop_propagation();
                open.set(false);
                if let Some(toggle) = toggle.get_untracked() {
                    let _ = toggle.focus();
                }
                return;
            }
            _ => return,
        };
        event.prevent_default();
        open.set(true);
        let Some(frame) = frame.get_untracked() else {
            return;
        };
        request_animation_frame(move || step_focus(&frame, step));
    };

    // What was chosen is hidden now: focus goes on from the button.
    let chosen = move |_| {
        open.set(false);
        if let Some(toggle) = toggle.get_untracked() {
            let _ = toggle.focus();
        }
    };

    view! {
        <div class="menu" node_ref=frame on:keydown=on_key>
            <button
                type="button"
                node_ref=toggle
                class="button button--quiet menu__button"
                aria-label=label
                aria-expanded=move || open.get().to_string()
                on:click=move |_| open.update(|open| *open = !*open)
            >
                {button.run()}
            </button>
            <div class="menu__list" hidden=move || !open.get() on:click=chosen>
                {children()}
            </div>
        </div>
    }
    .into_any()
}

/// Moves focus to the next or previous item, round and round.
fn step_focus(frame: &web_sys::HtmlDivElement, step: i32) {
    let Ok(found) = frame.query_selector_all(".menu__item") else {
        return;
    };
    let items: Vec<HtmlElement> = (0..found.length())
        .filter_map(|index| found.item(index)?.dyn_into().ok())
        .collect();
    let active = document().active_element();
    let here = items
        .iter()
        .position(|item| active.as_ref() == Some(item.as_ref()));
    let next = match (here, step) {
        (Some(here), step) => {
            usize::try_from(step).map_or(here.checked_sub(1).unwrap_or(items.len() - 1), |step| here + step)
        }
        (None, 1) => 0,
        (None, _) => items.len().saturating_sub(1),
    };
    if !items.is_empty() {
        let _ = items[next % items.len()].focus();
    }
}
