//! Mounts views into sections of their own, acts as a person would, and looks for what a person would notice.

use std::{cell::RefCell, rc::Rc, time::Duration};

use hamlet_app::{api::ApiClient, app::provide_app_context};
use leptos::{mount::UnmountHandle, prelude::*};
use leptos_router::components::Router;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{
    Element, Event, EventInit, HtmlElement, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement,
    KeyboardEvent, KeyboardEventInit,
};

/// How long something may take that must happen.
const PATIENCE_MS: f64 = 3_000.0;

/// Takes a view off the page.
type Unmount = Rc<RefCell<Option<Box<dyn FnOnce()>>>>;

thread_local! {
    /// Every view that was mounted, so that one which a failed test left behind doesn't answer the next one's keys.
    static MOUNTED: RefCell<Vec<Unmount>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a view on the page; it goes when this does.
pub(crate) struct Mounted(Unmount);

impl Drop for Mounted {
    fn drop(&mut self) {
        unmount(&self.0);
    }
}

fn unmount(view: &Unmount) {
    let view = view.borrow_mut().take();
    if let Some(unmount) = view {
        unmount();
    }
}

/// Takes every view off the page that an earlier test left there.
pub(crate) fn clear_page() {
    for view in MOUNTED.take() {
        unmount(&view);
    }
}

/// Mounts a view into a section of its own.
pub(crate) fn mount<V, F>(view: F) -> (HtmlElement, Mounted)
where
    V: IntoView + 'static,
    F: FnOnce() -> V + 'static,
{
    let section: HtmlElement = document()
        .create_element("section")
        .expect("a section")
        .dyn_into()
        .expect("an HTML element");
    document()
        .body()
        .expect("a body")
        .append_child(&section)
        .expect("to append");
    let owner = Rc::new(RefCell::new(None));
    let mounting = Rc::clone(&owner);
    let handle: UnmountHandle<_> = leptos::mount::mount_to(section.clone(), move || {
        mounting.replace(Owner::current());
        view()
    });
    let root = section.clone();
    let unmount: Box<dyn FnOnce()> = Box::new(move || {
        drop(handle);
        // The first router of a page is kept alive for ever by a hook, and with it its listeners.
        if let Some(owner) = owner.take() {
            owner.cleanup();
        }
        section.remove();
    });
    let unmount = Rc::new(RefCell::new(Some(unmount)));
    MOUNTED.with_borrow_mut(|mounted| mounted.push(Rc::clone(&unmount)));
    (root, Mounted(unmount))
}

/// Mounts a view with all that the app provides, at this address.
pub(crate) fn mount_at<V, F>(address: &str, view: F) -> (HtmlElement, Mounted)
where
    V: IntoView + 'static,
    F: FnOnce() -> V + Send + 'static,
{
    go_to(address);
    mount(move || {
        provide_app_context(ApiClient::from_page());
        view! { <Router>{view()}</Router> }
    })
}

/// Mounts the whole app at this address.
pub(crate) fn mount_app(address: &str) -> (HtmlElement, Mounted) {
    go_to(address);
    mount(hamlet_app::app::App)
}

fn go_to(address: &str) {
    let history = window().history().expect("a history");
    history
        .replace_state_with_url(&JsValue::NULL, "", Some(address))
        .expect("an address of this origin");
    assert_eq!(
        address_with_hash(),
        address,
        "the browser left an address unheeded: it takes 200 in ten seconds unless webdriver.json says otherwise"
    );
}

/// Where the browser is: path and query.
pub(crate) fn address() -> String {
    let location = window().location();
    format!(
        "{}{}",
        location.pathname().expect("a path"),
        location.search().expect("a query")
    )
}

/// Where the browser is: path, query and fragment.
fn address_with_hash() -> String {
    address() + &window().location().hash().expect("a fragment")
}

/// Lets everything happen that waits to.
pub(crate) async fn tick() {
    for _ in 0..2 {
        timeout(Duration::ZERO).await;
    }
}

async fn timeout(wait: Duration) {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        set_timeout(move || drop(resolve.call0(&JsValue::NULL)), wait);
    });
    JsFuture::from(promise).await.expect("a timeout never fails");
}

/// Waits until something holds, and for what follows from what was just done in any case.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    tick().await;
    let began = js_sys::Date::now();
    while !holds() {
        assert!(
            js_sys::Date::now() - began < PATIENCE_MS,
            "waited in vain for: {what}\n{}",
            document().body().expect("a body").inner_text()
        );
        timeout(Duration::from_millis(5)).await;
    }
}

/// Waits until the view shows this text.
pub(crate) async fn until_text(root: &HtmlElement, text: &str) {
    until(text, || has_text(root, text)).await;
}

/// Whether the view shows this text.
pub(crate) fn has_text(root: &HtmlElement, text: &str) -> bool {
    root.inner_text().contains(text)
}

/// The first element that this selector finds, if any.
pub(crate) fn query(root: &HtmlElement, selector: &str) -> Option<HtmlElement> {
    root.query_selector(selector)
        .expect("a selector")
        .map(|element| element.unchecked_into())
}

/// The first element that this selector finds.
pub(crate) fn find(root: &HtmlElement, selector: &str) -> HtmlElement {
    query(root, selector).unwrap_or_else(|| panic!("no {selector} in:\n{}", root.inner_html()))
}

/// Every element that this selector finds.
pub(crate) fn find_all(root: &HtmlElement, selector: &str) -> Vec<HtmlElement> {
    let found = root.query_selector_all(selector).expect("a selector");
    (0..found.length())
        .filter_map(|index| found.item(index))
        .map(|node| node.unchecked_into())
        .collect()
}

/// The element that this selector finds and that has this name: its label for a screen reader, or its text.
pub(crate) fn find_named(root: &HtmlElement, selector: &str, name: &str) -> HtmlElement {
    query_named(root, selector, name)
        .unwrap_or_else(|| panic!("no {selector} named {name:?} in:\n{}", root.inner_html()))
}

/// The element that this selector finds and that has this name, if any.
pub(crate) fn query_named(root: &HtmlElement, selector: &str, name: &str) -> Option<HtmlElement> {
    let named = |element: &HtmlElement| {
        let label = element.get_attribute("aria-label");
        label
            .unwrap_or_else(|| element.text_content().unwrap_or_default())
            .trim()
            == name
    };
    find_all(root, selector).into_iter().find(named)
}

/// The button with this name.
pub(crate) fn button(root: &HtmlElement, name: &str) -> HtmlElement {
    find_named(root, "button", name)
}

/// The link with this name.
pub(crate) fn link(root: &HtmlElement, name: &str) -> HtmlElement {
    find_named(root, "a", name)
}

/// The field with this label.
pub(crate) fn field(root: &HtmlElement, label: &str) -> Element {
    let label = find_named(root, "label", label);
    match label.get_attribute("for") {
        Some(id) => document().get_element_by_id(&id).expect("a label's field"),
        None => label
            .query_selector("input")
            .expect("a selector")
            .expect("a label's field"),
    }
}

/// Writes into the field with this label, as typing does.
pub(crate) fn fill(root: &HtmlElement, label: &str, text: &str) {
    let field = field(root, label);
    if let Some(input) = field.dyn_ref::<HtmlInputElement>() {
        input.set_value(text);
    } else if let Some(area) = field.dyn_ref::<HtmlTextAreaElement>() {
        area.set_value(text);
    } else if let Some(select) = field.dyn_ref::<HtmlSelectElement>() {
        select.set_value(text);
        send(&field, "change");
    }
    send(&field, "input");
}

/// Writes into this input, as typing does.
pub(crate) fn write(input: &HtmlElement, text: &str) {
    input.unchecked_ref::<HtmlInputElement>().set_value(text);
    send(input, "input");
}

/// Says that the page is shown again, at which it looks for what is new.
pub(crate) fn come_back() {
    let init = EventInit::new();
    init.set_bubbles(true);
    let event = Event::new_with_event_init_dict("visibilitychange", &init).expect("an event");
    document().dispatch_event(&event).expect("to be dispatched");
}

/// Sends an event that bubbles to this element.
pub(crate) fn send(target: &Element, event: &str) {
    let init = EventInit::new();
    init.set_bubbles(true);
    let event = Event::new_with_event_init_dict(event, &init).expect("an event");
    target.dispatch_event(&event).expect("to be dispatched");
}

/// Presses a key on this element.
pub(crate) fn press(target: &Element, key: &str) {
    press_with(target, key, false);
}

/// Presses a key on this element, with Control held or not.
pub(crate) fn press_with(target: &Element, key: &str, control: bool) {
    let init = KeyboardEventInit::new();
    init.set_key(key);
    init.set_bubbles(true);
    init.set_cancelable(true);
    init.set_ctrl_key(control);
    let event = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init).expect("an event");
    target.dispatch_event(&event).expect("to be dispatched");
}

/// The tests change the address more often than Chromium allows a page to, and it ignores what is too much without a
/// word to the page.
#[wasm_bindgen_test]
fn the_browser_heeds_more_addresses_than_it_would_from_a_page_of_the_web() {
    for turn in 0..250 {
        go_to(&format!("/turn/{turn}"));
    }
}
