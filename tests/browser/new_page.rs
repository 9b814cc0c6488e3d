//! Writing a new val.

use hamlet_app::pages::new::NewValPage;
use hamlet_models::{ProblemCode, ValKind};
use leptos::prelude::*;
use serde_json::Value;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{HtmlElement, HtmlInputElement, HtmlTextAreaElement};

use crate::{
    code::without_bundle,
    fixtures::{extended, me, val},
    harness::{
        Mounted, address, button, fill, find, has_text, link, mount_at, query, query_named, send, tick,
        until, until_text,
    },
    server::Server,
};

fn server() -> Server {
    let storage = window().local_storage().expect("storage").expect("storage");
    storage.clear().expect("to clear it");
    without_bundle();
    let server = Server::start();
    server.on("GET /v1/session", 200, &me());
    server
}

async fn open(address: &str) -> (HtmlElement, Mounted) {
    let (root, mounted) = mount_at(address, NewValPage);
    until("the code", || {
        query(&root, "textarea.code-editor__plain").is_some()
    })
    .await;
    (root, mounted)
}

fn code(root: &HtmlElement) -> HtmlTextAreaElement {
    find(root, "textarea.code-editor__plain").unchecked_into()
}

async fn write(root: &HtmlElement, text: &str) {
    code(root).set_value(text);
    send(&code(root), "input");
    tick().await;
}

fn choose(root: &HtmlElement, starter: &str) {
    find(root, &format!("input[value={starter}]")).click();
}

#[wasm_bindgen_test]
async fn a_val_is_made_of_the_starter_that_the_address_names() {
    let server = server();
    server.on("POST /v1/vals", 200, &extended(val(1, "hello", ValKind::Http)));
    let (root, _mounted) = open("/new?starter=page").await;
    assert!(code(&root).value().contains("Response"));
    fill(&root, "Name", "hello");
    fill(&root, "Privacy", "public");
    button(&root, "Create").click();
    until("the val's page", || address() == "/v/ada/hello").await;

    let made = server.seen("POST /v1/vals")[0].json();
    assert_eq!(
        (&made["name"], &made["type"], &made["privacy"]),
        (&"hello".into(), &"http".into(), &"public".into())
    );
    assert!(
        made["code"]
            .as_str()
            .is_some_and(|code| code.contains("Response"))
    );
}

#[wasm_bindgen_test]
async fn a_val_needs_no_name() {
    let server = server();
    server.on(
        "POST /v1/vals",
        200,
        &extended(val(1, "quietFox", ValKind::Script)),
    );
    let (root, _mounted) = open("/new").await;
    button(&root, "Create").click();
    until("the val's page", || address() == "/v/ada/quietFox").await;
    assert_eq!(server.seen("POST /v1/vals")[0].json().get("name"), None::<&Value>);
}

#[wasm_bindgen_test]
async fn another_kind_brings_its_starter_but_never_over_what_was_written() {
    let _server = server();
    let (root, _mounted) = open("/new").await;
    choose(&root, "cron");
    tick().await;
    assert!(code(&root).value().contains("lastRunAt"));
    assert_eq!(address(), "/new?starter=cron");
    write(&root, "my own words").await;
    choose(&root, "page");
    tick().await;
    assert_eq!(code(&root).value(), "my own words");
    let page: HtmlInputElement = find(&root, "input[value=page]").unchecked_into();
    assert!(page.checked());
}

#[wasm_bindgen_test]
async fn what_was_written_survives_a_reload() {
    let _server = server();
    {
        let (root, _mounted) = open("/new?starter=mail").await;
        write(&root, "my own words").await;
        fill(&root, "Name", "later");
        tick().await;
        assert!(has_text(&root, "kept in this browser"));
    }
    let (root, _mounted) = open("/new").await;
    assert_eq!(code(&root).value(), "my own words");
    let mail: HtmlInputElement = find(&root, "input[value=mail]").unchecked_into();
    assert!(mail.checked());
    button(&root, "Discard the draft").click();
    tick().await;
    assert!(code(&root).value().contains("email"));
    assert!(query_named(&root, "button", "Discard the draft").is_none());
}

#[wasm_bindgen_test]
async fn a_name_that_no_val_can_have_is_not_sent() {
    let server = server();
    let (root, _mounted) = open("/new").await;
    fill(&root, "Name", "1st");
    button(&root, "Create").click();
    until_text(&root, "begins with a letter").await;
    assert!(server.seen("POST").is_empty());
}

#[wasm_bindgen_test]
async fn a_failure_keeps_what_was_written_and_says_why() {
    let server = server();
    let (root, _mounted) = open("/new").await;
    write(&root, "my own words").await;
    fill(&root, "Name", "taken");
    server.refuse(
        "POST /v1/vals",
        ProblemCode::NameTaken,
        "you have a val of this name",
    );
    button(&root, "Create").click();
    until_text(&root, "You have a val of this name.").await;
    server.set_down(true);
    button(&root, "Create").click();
    until_text(&root, "Can’t reach the server: what you wrote is kept").await;
    assert_eq!(code(&root).value(), "my own words");
}

#[wasm_bindgen_test]
async fn someone_who_is_not_signed_in_is_asked_to_be() {
    let server = server();
    server.on("GET /v1/session", 200, &());
    let (root, _mounted) = mount_at("/new", NewValPage);
    until_text(&root, "Sign in to see this").await;
    assert!(
        link(&root, "Sign in")
            .get_attribute("href")
            .is_some_and(|href| href.contains("next=%2Fnew"))
    );
    assert!(query(&root, "textarea").is_none());
}
