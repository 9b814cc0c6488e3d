//! The home page, signed in and signed out.

use hamlet_app::pages::home::HomePage;
use hamlet_models::{BaseRun, BasicVal, ExtendedVal, Me, ProblemCode, RunStatus, ValKind};
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::HtmlElement;

use crate::{
    fixtures::{ada, extended, me, page, page_with_next, run, val, val_that_ran},
    harness::{
        Mounted, button, come_back, find, find_all, has_text, link, mount_at, query, tick, until, until_text,
    },
    server::Server,
};

fn signed_in(vals: Vec<BasicVal>, runs: Vec<BaseRun>) -> Server {
    let server = Server::start();
    server.on("GET /v1/session", 200, &me());
    server.on(&vals_of_ada(), 200, &page(vals));
    server.on("GET /v1/me/runs", 200, &page(runs));
    server
}

fn vals_of_ada() -> String {
    format!("GET /v1/users/{}/vals", ada().id)
}

fn mount_home() -> (HtmlElement, Mounted) {
    mount_at("/", || view! { <HomePage /> })
}

#[wasm_bindgen_test]
async fn my_vals_say_how_their_last_run_ended() {
    let failed = val_that_ran(1, "digest", ValKind::Interval, RunStatus::Error);
    let _server = signed_in(vec![failed, val(2, "scratch", ValKind::Script)], vec![]);
    let (root, _mounted) = mount_home();
    until_text(&root, "digest").await;
    let rows = find_all(&root, ".desk__vals li");
    assert_eq!(rows.len(), 2);
    for word in ["digest", "scheduled", "public", "failed", "1 min ago"] {
        assert!(has_text(&rows[0], word), "{word} in {}", rows[0].inner_text());
    }
    assert!(has_text(&rows[1], "v3 saved") && !has_text(&rows[1], "failed"));
    assert_eq!(
        link(&rows[0], "digest").get_attribute("href").as_deref(),
        Some("/v/ada/digest")
    );
    assert!(
        query(&root, ".desk__more").is_none(),
        "all vals are shown already"
    );
}

#[wasm_bindgen_test]
async fn more_vals_than_fit_are_a_link_away() {
    let server = signed_in(vec![], vec![]);
    server.on(
        &vals_of_ada(),
        200,
        &page_with_next(vec![val(1, "hello", ValKind::Http)]),
    );
    let (root, _mounted) = mount_home();
    until_text(&root, "All your vals").await;
    assert_eq!(
        link(&root, "All your vals").get_attribute("href").as_deref(),
        Some("/u/ada")
    );
}

#[wasm_bindgen_test]
async fn latest_runs_say_what_failed_and_lead_to_the_run() {
    let failed = run(7, "digest", RunStatus::Error);
    let id = failed.id;
    let _server = signed_in(vec![], vec![failed, run(8, "hello", RunStatus::Running)]);
    let (root, _mounted) = mount_home();
    until_text(&root, "TypeError: x is not a function").await;
    let rows = find_all(&root, ".desk__runs li");
    assert!(has_text(&rows[0], "failed") && has_text(&rows[0], "132 ms"));
    assert_eq!(
        link(&rows[0], "digest").get_attribute("href"),
        Some(format!("/runs/{id}"))
    );
    assert!(has_text(&rows[1], "running") && !has_text(&rows[1], "ms\n"));
}

#[wasm_bindgen_test]
async fn a_new_run_appears_by_itself_and_its_val_follows() {
    let server = signed_in(vec![val(1, "hello", ValKind::Http)], vec![]);
    let (root, _mounted) = mount_home();
    until_text(&root, "No runs yet").await;
    server.on(
        "GET /v1/me/runs",
        200,
        &page(vec![run(7, "hello", RunStatus::Ok)]),
    );
    server.on(
        &vals_of_ada(),
        200,
        &page(vec![val_that_ran(1, "hello", ValKind::Http, RunStatus::Ok)]),
    );
    come_back();
    until("the run", || query(&root, ".desk__runs li").is_some()).await;
    until("the val's outcome", || {
        has_text(&find(&root, ".desk__vals li"), "ok")
    })
    .await;
    assert!(!has_text(&root, "No runs yet"));
}

#[wasm_bindgen_test]
async fn a_failed_look_keeps_what_was_there() {
    let server = signed_in(
        vec![val(1, "hello", ValKind::Http)],
        vec![run(7, "hello", RunStatus::Ok)],
    );
    let (root, _mounted) = mount_home();
    until_text(&root, "132 ms").await;
    let looks = server.seen("GET /v1/me/runs").len();
    server.refuse(
        "GET /v1/me/runs",
        ProblemCode::Internal,
        "something went wrong on our side",
    );
    come_back();
    until("another look", || server.seen("GET /v1/me/runs").len() > looks).await;
    tick().await;
    assert!(has_text(&root, "132 ms") && !has_text(&root, "went wrong"));
}

#[wasm_bindgen_test]
async fn who_has_no_vals_chooses_a_starter() {
    let _server = signed_in(vec![], vec![]);
    let (root, _mounted) = mount_home();
    until_text(&root, "You have no vals yet").await;
    let hrefs: Vec<_> = find_all(&root, ".desk-starters a")
        .iter()
        .filter_map(|link| link.get_attribute("href"))
        .collect();
    assert_eq!(
        hrefs,
        ["/new?starter=page", "/new?starter=cron", "/new?starter=mail"]
    );
}

#[wasm_bindgen_test]
async fn who_has_no_password_is_told_while_that_is_so() {
    let server = signed_in(vec![], vec![]);
    server.on(
        "GET /v1/session",
        200,
        &Me {
            has_password: false,
            ..me()
        },
    );
    let (root, _mounted) = mount_home();
    until_text(&root, "You have no password yet").await;
    assert_eq!(
        link(&root, "Choose a password").get_attribute("href").as_deref(),
        Some("/settings")
    );
}

#[wasm_bindgen_test]
async fn a_list_that_fails_says_why_and_tries_again() {
    let server = signed_in(vec![], vec![]);
    server.refuse(
        &vals_of_ada(),
        ProblemCode::Internal,
        "something went wrong on our side",
    );
    let (root, _mounted) = mount_home();
    until_text(&root, "Something went wrong on our side.").await;
    server.on(&vals_of_ada(), 200, &page(vec![val(1, "hello", ValKind::Http)]));
    button(&root, "Retry").click();
    until_text(&root, "hello").await;
    assert!(!has_text(&root, "went wrong"));
}

#[wasm_bindgen_test]
async fn a_visitor_reads_and_calls_an_example() {
    let server = Server::start();
    let vals: Vec<ExtendedVal> = vec![
        extended(val(1, "tool", ValKind::Script)),
        extended(val(2, "hello", ValKind::Http)),
    ];
    server.on("GET /v1/vals?privacy=public&limit=20", 200, &page(vals));
    let (root, _mounted) = mount_home();
    until_text(&root, "Call it").await;
    let example = find(&root, ".example");
    assert!(has_text(&example, "ada / hello") && has_text(&example, "new Response(\"hi\")"));
    assert_eq!(
        link(&example, "Call it").get_attribute("href").as_deref(),
        Some("http://ada-hello.localhost:8787/")
    );
    assert_eq!(find_all(&root, ".rows li").len(), 2);
    assert_eq!(
        link(&root, "Sign in").get_attribute("href").as_deref(),
        Some("/login")
    );
    assert!(
        server.seen("GET /v1/me/runs").is_empty(),
        "a visitor has no runs to ask for"
    );
}

#[wasm_bindgen_test]
async fn a_visitor_of_an_empty_instance_is_told_so() {
    let server = Server::start();
    server.on("GET /v1/vals", 200, &page::<ExtendedVal>(vec![]));
    let (root, _mounted) = mount_home();
    until_text(&root, "No public vals yet").await;
    assert!(query(&root, ".example").is_none());
}

#[wasm_bindgen_test]
async fn while_it_loads_the_room_is_kept() {
    let server = Server::start();
    server.keep_silent("GET /v1/session");
    let (root, _mounted) = mount_home();
    until("a skeleton", || query(&root, "[aria-busy=true]").is_some()).await;
    assert!(find(&root, ".skeleton").offset_height() > 300);
    assert!(has_text(&find(&root, "[role=status]"), "Loading"));
}
