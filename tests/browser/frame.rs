//! The frame: top bar, palette, shortcuts, theme, focus, and coming back after the server was gone.

use hamlet_models::{ExtendedVal, ValKind};
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::HtmlElement;

use crate::{
    fixtures::{ada, ada_user, extended, instance, me, page, val},
    harness::{
        address, button, find, find_all, find_named, has_text, link, mount_app, press, press_with, query,
        query_named, tick, until, until_text,
    },
    server::Server,
};

fn signed_in() -> Server {
    let server = Server::start();
    let hello = val(1, "hello", ValKind::Http);
    server.on("GET /v1/session", 200, &me());
    server.on(
        &format!("GET /v1/users/{}/vals", ada().id),
        200,
        &page(vec![hello]),
    );
    server.on("GET /v1/me/runs", 200, &page::<hamlet_models::BaseRun>(vec![]));
    server.on(
        "GET /v1/vals",
        200,
        &page::<ExtendedVal>(vec![extended(val(2, "world", ValKind::Http))]),
    );
    server.on("GET /v1/alias/ada", 200, &ada_user());
    server.on("GET /v1/instance", 200, &instance());
    server.on("GET /v1/me/tokens", 200, &page::<hamlet_models::Token>(vec![]));
    server
}

fn body() -> HtmlElement {
    document().body().expect("a body")
}

#[wasm_bindgen_test]
async fn the_palette_finds_vals_and_pages_by_keys_alone() {
    let _server = signed_in();
    let (root, _mounted) = mount_app("/");
    until_text(&root, "Your vals").await;
    press(&body(), "/");
    until("the field", || query(&root, ".palette__input").is_some()).await;
    let input = find(&root, ".palette__input");
    until("focus in it", || {
        document().active_element().as_ref() == Some(input.as_ref())
    })
    .await;
    until_text(&root, "ada / hello").await;
    let typed: &web_sys::HtmlInputElement = wasm_bindgen::JsCast::unchecked_ref(&input);
    typed.set_value("sett");
    let event = web_sys::Event::new("input").expect("an event");
    input.dispatch_event(&event).expect("to be dispatched");
    until("one entry", || find_all(&root, "[role=option]").len() == 1).await;
    press(&input, "Enter");
    until("the settings", || address() == "/settings").await;
    tick().await;
    assert!(query(&root, ".palette__input").is_none());
}

#[wasm_bindgen_test]
async fn the_palette_is_walked_by_arrows() {
    let _server = signed_in();
    let (root, _mounted) = mount_app("/");
    until_text(&root, "Your vals").await;
    press_with(&body(), "k", true);
    until_text(&root, "ada / hello").await;
    let input = find(&root, ".palette__input");
    let selected = || find(&root, "[role=option][aria-selected=true]").inner_text();
    assert!(selected().starts_with("ada / hello"));
    press(&input, "ArrowDown");
    tick().await;
    assert!(selected().starts_with("Home"), "{}", selected());
    press(&input, "ArrowUp");
    press(&input, "ArrowUp");
    tick().await;
    assert!(selected().starts_with("Sign out"), "{}", selected());
    let active = input.get_attribute("aria-activedescendant").expect("an option");
    assert!(has_text(&find(&root, &format!("#{active}")), "Sign out"));
}

#[wasm_bindgen_test]
async fn a_letter_that_is_typed_is_no_command() {
    let _server = signed_in();
    let (root, _mounted) = mount_app("/settings");
    until_text(&root, "Limits in force").await;
    let bio = crate::harness::field(&root, "Bio");
    press(&bio, "/");
    press(&bio, "?");
    tick().await;
    assert!(find_all(&root, "dialog[open]").is_empty());
    press(&body(), "?");
    until("the shortcuts", || find_all(&root, "dialog[open]").len() == 1).await;
    assert!(has_text(&find(&root, "dialog[open]"), "Save the val"));
}

#[wasm_bindgen_test]
async fn the_theme_is_chosen_and_remembered() {
    let _server = signed_in();
    let (root, _mounted) = mount_app("/");
    until("the menu", || {
        query_named(&root, "button", "Account of ada").is_some()
    })
    .await;
    let theme = || {
        document()
            .document_element()
            .and_then(|root| root.get_attribute("data-theme"))
    };
    let saved = || hamlet_app::hooks::storage::get("hamlet.theme");
    find_named(&root, "button", "Theme: dark").click();
    tick().await;
    assert_eq!(
        (theme().as_deref(), saved().as_deref()),
        (Some("dark"), Some("dark"))
    );
    assert_eq!(
        button(&root, "Theme: dark")
            .get_attribute("aria-pressed")
            .as_deref(),
        Some("true")
    );
    button(&root, "Theme: as the system").click();
    tick().await;
    assert_eq!((theme(), saved()), (None, None));
}

#[wasm_bindgen_test]
async fn a_new_page_is_titled_and_gets_focus_on_its_heading() {
    let _server = signed_in();
    let (root, _mounted) = mount_app("/");
    until("the title", || document().title() == "Home · Hamlet").await;
    link(&root, "All by kind").click();
    until("the page", || address() == "/u/ada").await;
    until("focus on the heading", || {
        document().active_element().is_some_and(|active| {
            active.tag_name() == "H1" && active.text_content().as_deref() == Some("ada")
        })
    })
    .await;
    assert_eq!(document().title(), "ada · Hamlet");
}

#[wasm_bindgen_test]
async fn signing_out_forgets_who_was_there() {
    let server = signed_in();
    server.on_empty("DELETE /v1/session", 204);
    let (root, _mounted) = mount_app("/u/ada");
    until("the menu", || query_named(&root, "button", "Sign out").is_some()).await;
    server.on("GET /v1/session", 200, &());
    button(&root, "Sign out").click();
    until_text(&root, "Sign in").await;
    assert_eq!(address(), "/");
    assert!(query_named(&root, "a", "New val").is_none());
    until_text(&root, "Public vals").await;
}

#[wasm_bindgen_test]
async fn a_page_comes_back_by_itself_after_the_server_was_gone() {
    let server = signed_in();
    server.set_down(true);
    let (root, _mounted) = mount_app("/u/ada");
    until_text(&root, "This page comes back by itself").await;
    assert!(has_text(&find(&root, ".banner"), "Can’t reach the server"));
    server.set_down(false);
    until("the page", || find_all(&root, ".rows li").len() == 1).await;
    until("no banner", || query(&root, ".banner").is_none()).await;
    until("who is signed in", || {
        query_named(&root, "button", "Account of ada").is_some()
    })
    .await;
}

#[wasm_bindgen_test]
async fn an_address_that_leads_nowhere_says_so() {
    let _server = signed_in();
    let (root, _mounted) = mount_app("/no/such/page");
    until_text(&root, "Nothing here").await;
    assert_eq!(
        link(&root, "Go to the home page")
            .get_attribute("href")
            .as_deref(),
        Some("/")
    );
}
