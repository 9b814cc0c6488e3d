//! Two parts side by side, whose border can be moved by pointer and keyboard; on a narrow screen one below the other.

use leptos::{ev, html, prelude::*};

use crate::hooks::storage;

/// The least and the most share of the width, in percent, that the first part can have.
const RANGE: (f64, f64) = (25.0, 80.0);
/// How far a key moves the border, in percent.
const STEP: f64 = 2.0;

/// Two parts side by side. Where the border stands is remembered in this browser.
#[component]
pub fn SplitPane(
    /// What the border parts, for a screen reader.
    label: &'static str,
    /// Under which key its place is remembered.
    key: &'static str,
    /// The share of the first part, in percent, before it is moved.
    #[prop(default = 60.0)]
    share: f64,
    /// The first part.
    first: AnyView,
    /// The second part.
    second: AnyView,
) -> AnyView {
    let saved = storage::get(key).and_then(|share| share.parse::<f64>().ok());
    let share = RwSignal::new(within(saved.unwrap_or(share)));
    let frame = NodeRef::<html::Div>::new();
    let dragging = RwSignal::new(false);
    let move_to = move |place: f64| {
        share.set(within(place));
        storage::set(key, Some(&format!("{:.1}", share.get_untracked())));
    };
    let on_pointer_down = move |event: ev::PointerEvent| {
        event.prevent_default();
        dragging.set(true);
        let border: web_sys::Element = event_target(&event);
        // Without it the pointer could leave the border behind; the drag works all the same as far as it stays.
        let _ = border.set_pointer_capture(event.pointer_id());
    };
    let on_pointer_move = move |event: ev::PointerEvent| {
        let Some(frame) = frame.get_untracked().filter(|_| dragging.get_untracked()) else {
            return;
        };
        let bounds = frame.get_bounding_client_rect();
        if bounds.width() > 0.0 {
            move_to((f64::from(event.client_x()) - bounds.left()) / bounds.width() * 100.0);
        }
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let place = share.get_untracked();
        match event.key().as_str() {
            "ArrowLeft" => move_to(place - STEP),
            "ArrowRight" => move_to(place + STEP),
            "Home" => move_to(RANGE.0),
            "End" => move_to(RANGE.1),
            _ => return,
        }
        event.prevent_default();
    };
    view! {
        <div
            class="split"
            class:split--dragging=dragging
            node_ref=frame
            style:--split=move || format!("{:.2}%", share.get())
        >
            <div class="split__part">{first}</div>
            <div
                class="split__border"
                role="separator"
                tabindex="0"
                aria-orientation="vertical"
                aria-label=label
                aria-valuemin=RANGE.0
                aria-valuemax=RANGE.1
                aria-valuenow=move || format!("{:.0}", share.get())
                on:pointerdown=on_pointer_down
                on:pointermove=on_pointer_move
                on:pointerup=move |_| dragging.set(false)
                on:pointercancel=move |_| dragging.set(false)
                on:keydown=on_key
            ></div>
            <div class="split__part">{second}</div>
        </div>
    }
    .into_any()
}

fn within(place: f64) -> f64 {
    place.clamp(RANGE.0, RANGE.1)
}
