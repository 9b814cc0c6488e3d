//! Signing in.

use hamlet_app::pages::login::LoginPage;
use hamlet_models::ProblemCode;
use leptos::prelude::*;
use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{
    fixtures::me,
    harness::{address, button, field, fill, has_text, link, mount_at, query_named, tick, until, until_text},
    server::Server,
};

#[wasm_bindgen_test]
async fn name_and_password_sign_in_and_lead_on() {
    let server = Server::start();
    server.on("POST /v1/session", 200, &me());
    let (root, _mounted) = mount_at(
        "/login?next=%2Fv%2Fada%2Fhello%3Ftab%3Druns",
        || view! { <LoginPage /> },
    );
    tick().await;
    assert!(
        button(&root, "Sign in").has_attribute("disabled"),
        "there is nothing to send yet"
    );
    fill(&root, "Username", " ada ");
    fill(&root, "Password", "correct horse ");
    tick().await;
    button(&root, "Sign in").click();
    until("the next page", || address() == "/v/ada/hello?tab=runs").await;
    let sent = server.seen("POST /v1/session");
    assert_eq!(sent.len(), 1);
    assert_eq!(
        sent[0].json(),
        json!({"username": "ada", "password": "correct horse "})
    );
}

#[wasm_bindgen_test]
async fn a_wrong_password_says_so_and_keeps_the_name() {
    let server = Server::start();
    server.refuse(
        "POST /v1/session",
        ProblemCode::BadCredentials,
        "this name and password don't belong together",
    );
    let (root, _mounted) = mount_at("/login", || view! { <LoginPage /> });
    fill(&root, "Username", "ada");
    fill(&root, "Password", "wrong");
    tick().await;
    button(&root, "Sign in").click();
    until_text(&root, "This name and password don't belong together.").await;
    assert_eq!(address(), "/login");
    let name: web_sys::HtmlInputElement = wasm_bindgen::JsCast::unchecked_into(field(&root, "Username"));
    assert_eq!(name.value(), "ada");
}

#[wasm_bindgen_test]
async fn a_token_signs_in_too() {
    let server = Server::start();
    server.on("POST /v1/session", 200, &me());
    let (root, _mounted) = mount_at("/login", || view! { <LoginPage /> });
    tick().await;
    link(&root, "Sign in with an API token instead").click();
    until("the other form", || address() == "/login?by=token").await;
    until("its field", || query_named(&root, "label", "API token").is_some()).await;
    fill(&root, "API token", "hmlt_x\n");
    tick().await;
    button(&root, "Sign in").click();
    until("home", || address() == "/").await;
    assert_eq!(
        server.seen("POST /v1/session")[0].json(),
        json!({"token": "hmlt_x"})
    );
}

#[wasm_bindgen_test]
async fn a_link_signs_in_by_itself_once() {
    let server = Server::start();
    server.on("POST /v1/session", 200, &me());
    let (_root, _mounted) = mount_at("/login?link=s3cret", || view! { <LoginPage /> });
    until("home", || address() == "/").await;
    let sent = server.seen("POST /v1/session");
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].json(), json!({"link": "s3cret"}));
}

#[wasm_bindgen_test]
async fn a_used_link_says_so_and_offers_the_form() {
    let server = Server::start();
    server.refuse(
        "POST /v1/session",
        ProblemCode::BadCredentials,
        "this link was used or has expired",
    );
    let (root, _mounted) = mount_at("/login?link=old", || view! { <LoginPage /> });
    until_text(&root, "This link was used or has expired.").await;
    assert!(has_text(&root, "Username") && has_text(&root, "Password"));
}

#[wasm_bindgen_test]
async fn who_is_signed_in_already_goes_on() {
    let server = Server::start();
    server.on("GET /v1/session", 200, &me());
    let (_root, _mounted) = mount_at("/login?next=%2Fsettings", || view! { <LoginPage /> });
    until("the next page", || address() == "/settings").await;
}

#[wasm_bindgen_test]
async fn no_link_leads_to_another_site() {
    let server = Server::start();
    server.on("GET /v1/session", 200, &me());
    let (_root, _mounted) = mount_at("/login?next=%2F%2Fevil.example", || view! { <LoginPage /> });
    until("home", || address() == "/").await;
}

#[wasm_bindgen_test]
async fn without_a_server_it_says_that() {
    let server = Server::start();
    let (root, _mounted) = mount_at("/login", || view! { <LoginPage /> });
    tick().await;
    server.set_down(true);
    fill(&root, "Username", "ada");
    fill(&root, "Password", "correct horse");
    tick().await;
    button(&root, "Sign in").click();
    until_text(&root, "Can’t reach the server.").await;
}
