//! A question before unsaved work is left behind for another page of the app: by a link, or by the browser's own
//! back and forward. Leaving the app itself is `hooks::unsaved`'s to ask.

use leptos::{ev, prelude::*};
use leptos_router::hooks::{use_location, use_navigate};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{Element, Event};

use crate::{
    hooks::steps::Steps,
    ui::{
        button::{Button, ButtonKind},
        dialog::Dialog,
    },
};

/// What led away from the page.
#[derive(Clone)]
enum Way {
    /// A link to this address.
    Link(String),
    /// The browser's own back or forward.
    History,
}

/// While `unsaved` holds, asks before a link, or a step back or forward, leads away from this page.
#[component]
pub fn LeaveGuard(
    /// Whether there is something to lose sight of.
    #[prop(into)]
    unsaved: Signal<bool>,
    /// Whether this browser keeps it.
    #[prop(into)]
    kept: Signal<bool>,
    /// Saves it.
    on_save: Callback<()>,
) -> AnyView {
    let open = RwSignal::new(false);
    let target = StoredValue::new(None::<Way>);
    let ask = move |way: Way| {
        let asks = unsaved.try_get_untracked() == Some(true);
        if asks {
            target.set_value(Some(way));
            open.set(true);
        }
        asks
    };
    let leaving = StoredValue::new(false);
    watch_links(move |href| ask(Way::Link(href)));
    watch_history(move || leaving.try_get_value() == Some(false) && ask(Way::History));
    let navigate = use_navigate();
    let leave = Callback::new(move |()| {
        open.set(false);
        match target.get_value() {
            Some(Way::Link(target)) => navigate(&target, Default::default()),
            Some(Way::History) => {
                leaving.set_value(true);
                // Below the entry that `watch_history` has put there is the one that was wanted.
                if let Err(error) = window().history().and_then(|history| history.back()) {
                    leptos::logging::error!("the browser does not go back: {error:?}");
                }
            }
            None => {}
        }
    });
    // Saved, there is nothing left to ask.
    let wait = RwSignal::new(false);
    Effect::new(move |_| {
        if wait.get() && open.get() && !unsaved.get() {
            leave.run(());
        }
    });
    let save = move |()| {
        wait.set(true);
        on_save.run(());
    };
    let words = move || {
        if kept.get() {
            "They are kept in this browser and will be here when you come back, but nobody else sees them and no run uses them."
        } else {
            "This browser has no room to keep them: they will be lost."
        }
    };
    view! {
        <Dialog open title="Leave with unsaved changes?">
            <p class="dialog__text">{words}</p>
            <div class="dialog__actions">
                <Button on_click=move |()| open.set(false)>"Stay"</Button>
                <Button on_click=leave>"Leave without saving"</Button>
                <Button kind=ButtonKind::Primary on_click=save>"Save and leave"</Button>
            </div>
        </Dialog>
    }
    .into_any()
}

/// Calls `act` with the address of each link of the app that is followed to another page, ahead of the router, which
/// doesn't see the click if the answer is true.
fn watch_links(act: impl Fn(String) -> bool + 'static) {
    let listener = Closure::<dyn Fn(Event)>::new(move |event: Event| {
        let Some(href) = followed(&event) else { return };
        if act(href) {
            event.prevent_default();
            event.stop_immediate_propagation();
        }
    });
    let function = listener.as_ref().unchecked_ref::<js_sys::Function>().clone();
    let added = document().add_event_listener_with_callback_and_bool("click", &function, true);
    debug_assert!(added.is_ok(), "a document takes listeners");
    let listener = StoredValue::new_local(Some(listener));
    on_cleanup(move || {
        let listener = listener.try_update_value(Option::take).flatten();
        if let Some(listener) = listener {
            let function = listener.as_ref().unchecked_ref();
            // Nothing to do about a document that doesn't know its listener.
            let _ = document().remove_event_listener_with_callback_and_bool("click", function, true);
        }
    });
}

/// Calls `act` when the browser went to another page of the app in its history. If the answer is true the step is taken
/// back: an entry for this page is put on top of the one that the browser went to.
fn watch_history(act: impl Fn() -> bool + Send + Sync + 'static) {
    let shown = use_location();
    expect_context::<Steps>().guard(move || {
        let path = shown.pathname.get_untracked();
        if window().location().pathname().as_ref() == Ok(&path) || !act() {
            return false;
        }
        let query = shown.query.with_untracked(|query| query.to_query_string());
        let pushed = window().history().and_then(|history| {
            history.push_state_with_url(&JsValue::NULL, "", Some(&format!("{path}{query}")))
        });
        if let Err(error) = pushed {
            leptos::logging::warn!("the address could not be put back: {error:?}");
        }
        true
    });
}

/// Where in the app this click leads away to, if it does.
fn followed(event: &Event) -> Option<String> {
    let click = event.dyn_ref::<ev::MouseEvent>()?;
    if click.default_prevented()
        || click.button() != 0
        || click.meta_key()
        || click.ctrl_key()
        || click.shift_key()
        || click.alt_key()
    {
        return None;
    }
    let link = event
        .target()?
        .dyn_into::<Element>()
        .ok()?
        .closest("a[href]")
        .ok()
        .flatten()?;
    let elsewhere = link
        .get_attribute("target")
        .is_some_and(|target| target == "_blank")
        || link.has_attribute("download");
    if elsewhere {
        return None;
    }
    let location = window().location();
    let url = web_sys::Url::new_with_base(&link.get_attribute("href")?, &location.href().ok()?).ok()?;
    let leads_away = url.origin() == location.origin().ok()? && url.pathname() != location.pathname().ok()?;
    leads_away.then(|| format!("{}{}{}", url.pathname(), url.search(), url.hash()))
}
