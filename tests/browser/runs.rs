//! The page of a val's runs.

use hamlet_models::{BaseRun, ProblemCode, RunRequest, RunStatus, Trigger, ValKind};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{
    fixtures::{ago, extended, id, me, page, page_with_next, run, val},
    harness::{
        address, button, come_back, find, find_all, has_text, link, mount_app, press, query, query_named,
        tick, until, until_text,
    },
    server::Server,
};

const ADDRESS: &str = "/v/ada/hello/runs";
const RUNS: &str = "GET /v1/vals/018f3c7e-0000-7000-8000-000000000001/runs";

/// Ada, signed in, and her val.
fn server(runs: &[BaseRun]) -> Server {
    let server = Server::start();
    server.on("GET /v1/session", 200, &me());
    server.on(
        "GET /v1/alias/ada/hello",
        200,
        &extended(val(1, "hello", ValKind::Http)),
    );
    server.on(RUNS, 200, &page(runs.to_vec()));
    server
}

fn at(number: u32, status: RunStatus, seconds_ago: i64) -> BaseRun {
    BaseRun {
        run_start_at: ago(seconds_ago),
        ..run(number, "hello", status)
    }
}

#[wasm_bindgen_test]
async fn each_run_is_a_row_that_leads_to_it() {
    let request = RunRequest {
        method: "POST".into(),
        url: "http://ada-hello.localhost:8787/a?b=1".into(),
        status: Some(201),
    };
    let _server = server(&[
        BaseRun {
            request: Some(request),
            ..at(2, RunStatus::Ok, 60)
        },
        BaseRun {
            trigger: Trigger::Schedule,
            ..at(1, RunStatus::Error, 120)
        },
    ]);
    let (root, _mounted) = mount_app(ADDRESS);
    until("rows", || find_all(&root, ".run-list__row").len() == 2).await;
    let rows = find_all(&root, ".run-list__row");
    for part in ["ok", "1 min ago", "HTTP", "v3", "132 ms", "POST /a?b=1 → 201"] {
        assert!(
            rows[0].inner_text().contains(part),
            "no {part} in {}",
            rows[0].inner_text()
        );
    }
    assert!(!rows[0].inner_text().contains("TypeError"));
    for part in ["failed", "schedule", "TypeError: x is not a function"] {
        assert!(
            rows[1].inner_text().contains(part),
            "no {part} in {}",
            rows[1].inner_text()
        );
    }
    until("the picture", || query(&root, ".run-picture").is_some()).await;
    assert!(query(&root, ".pager").is_none(), "one page has no others");
    find(&rows[0], "a").click();
    until("the run", || {
        address() == "/runs/018f3c7e-0000-7000-8000-000000000002"
    })
    .await;
}

#[wasm_bindgen_test]
async fn the_arrow_keys_walk_through_the_rows() {
    let _server = server(&[at(2, RunStatus::Ok, 60), at(1, RunStatus::Ok, 120)]);
    let (root, _mounted) = mount_app(ADDRESS);
    until("rows", || find_all(&root, ".run-list__row").len() == 2).await;
    let links = find_all(&root, ".run-list__row a");
    links[0].focus().expect("to focus");
    press(&links[0], "ArrowDown");
    assert_eq!(
        leptos::prelude::document().active_element().as_ref(),
        Some(links[1].as_ref())
    );
    press(&links[1], "ArrowDown");
    assert_eq!(
        leptos::prelude::document().active_element().as_ref(),
        Some(links[1].as_ref())
    );
}

#[wasm_bindgen_test]
async fn a_val_that_never_ran_says_how_to_start_it() {
    let _server = server(&[]);
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(&root, "No runs yet").await;
    assert!(has_text(&root, "http://ada-hello.localhost:8787/"));
    assert!(query(&root, ".run-picture").is_none() && query(&root, ".run-filters").is_none());
}

#[wasm_bindgen_test]
async fn filters_of_the_address_are_asked_of_the_server() {
    let server = server(&[at(1, RunStatus::Timeout, 60)]);
    let (root, _mounted) = mount_app("/v/ada/hello/runs?status=timeout&trigger=http&version=3&offset=50");
    until("a row", || query(&root, ".run-list__row").is_some()).await;
    let asked = server.seen(RUNS);
    let asked = asked
        .iter()
        .find(|seen| seen.line.contains("offset=50"))
        .expect("the list");
    for part in ["status=timeout", "trigger=http", "version=3", "limit=50"] {
        assert!(asked.line.contains(part), "no {part} in {}", asked.line);
    }
    assert!(!asked.line.contains("since"));
}

#[wasm_bindgen_test]
async fn when_no_run_matches_the_filters_can_be_cleared() {
    let server = server(&[at(1, RunStatus::Ok, 60)]);
    server.on(
        &format!("{RUNS}?status=lost&offset=0&limit=50"),
        200,
        &page::<BaseRun>(Vec::new()),
    );
    let (root, _mounted) = mount_app("/v/ada/hello/runs?status=lost");
    until_text(&root, "No run matches").await;
    assert!(query(&root, ".run-list__row").is_none() && !has_text(&root, "No runs yet"));
    find(&root, ".state a").click();
    until("the run", || query(&root, ".run-list__row").is_some()).await;
    assert_eq!(address(), ADDRESS);
}

#[wasm_bindgen_test]
async fn a_failure_is_a_sentence_with_retry() {
    let server = server(&[]);
    server.refuse(RUNS, ProblemCode::Internal, "something went wrong on our side");
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(&root, "Something went wrong on our side.").await;
    assert!(!has_text(&root, "No runs yet"));
    server.on(RUNS, 200, &page(vec![at(1, RunStatus::Ok, 60)]));
    button(&root, "Retry").click();
    until("the run", || query(&root, ".run-list__row").is_some()).await;
}

#[wasm_bindgen_test]
async fn runs_are_their_owners_alone() {
    let server = server(&[at(1, RunStatus::Ok, 60)]);
    let mut eve = me();
    eve.user.id = id(2);
    server.on("GET /v1/session", 200, &eve);
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(&root, "is shown to ada alone").await;
    assert!(query(&root, ".run-list__row").is_none() && query_named(&root, "main a", "Sign in").is_none());
    assert!(
        server.seen(RUNS).is_empty(),
        "what may not be seen is not even asked for"
    );
}

#[wasm_bindgen_test]
async fn who_is_not_signed_in_may_sign_in_and_come_back() {
    let server = server(&[]);
    server.on("GET /v1/session", 200, &());
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(&root, "is shown to ada alone").await;
    let href = find(&root, "main")
        .query_selector("a.button--primary")
        .expect("a selector")
        .expect("a link");
    assert_eq!(
        href.get_attribute("href").as_deref(),
        Some("/login?next=%2Fv%2Fada%2Fhello%2Fruns")
    );
}

#[wasm_bindgen_test]
async fn a_val_that_is_not_there_is_not_found() {
    let _server = Server::start();
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(&root, "Nothing here").await;
}

#[wasm_bindgen_test]
async fn new_runs_slide_in_for_a_reader_at_the_top() {
    let server = server(&[at(1, RunStatus::Running, 60)]);
    let (root, _mounted) = mount_app(ADDRESS);
    until("the picture", || query(&root, ".run-picture__bar").is_some()).await;
    server.on(
        RUNS,
        200,
        &page(vec![at(2, RunStatus::Ok, 1), at(1, RunStatus::Ok, 60)]),
    );
    come_back();
    until("the new run", || find_all(&root, ".run-list__row").len() == 2).await;
    let rows = find_all(&root, ".run-list__row");
    assert!(rows[0].inner_html().contains("000000000002"));
    assert!(
        !has_text(&find(&root, ".run-list"), "running"),
        "the one that went on has ended"
    );
    assert!(query_named(&root, "button", "1 new run").is_none());
    assert_eq!(find_all(&root, ".run-picture__bar").len(), 2);
}

#[wasm_bindgen_test]
async fn new_runs_wait_for_a_reader_who_is_in_the_list() {
    let server = server(&[at(1, RunStatus::Ok, 60)]);
    let (root, _mounted) = mount_app(ADDRESS);
    until("the picture", || query(&root, ".run-picture__bar").is_some()).await;
    find(&root, ".run-list__row a").focus().expect("to focus");
    server.on(
        RUNS,
        200,
        &page(vec![
            at(3, RunStatus::Ok, 1),
            at(2, RunStatus::Ok, 2),
            at(1, RunStatus::Ok, 60),
        ]),
    );
    come_back();
    until("the button", || {
        query_named(&root, "button", "2 new runs").is_some()
    })
    .await;
    assert_eq!(find_all(&root, ".run-list__row").len(), 1, "nothing moved");
    button(&root, "2 new runs").click();
    until("them", || find_all(&root, ".run-list__row").len() == 3).await;
    assert!(query_named(&root, "button", "2 new runs").is_none());
}

#[wasm_bindgen_test]
async fn new_runs_that_do_not_match_are_drawn_and_not_listed() {
    let server = server(&[at(1, RunStatus::Error, 60)]);
    let (root, _mounted) = mount_app("/v/ada/hello/runs?status=error");
    until("the picture", || query(&root, ".run-picture__bar").is_some()).await;
    server.on(
        RUNS,
        200,
        &page(vec![at(2, RunStatus::Ok, 1), at(1, RunStatus::Error, 60)]),
    );
    come_back();
    until("the bar", || find_all(&root, ".run-picture__bar").len() == 2).await;
    tick().await;
    assert_eq!(find_all(&root, ".run-list__row").len(), 1);
    assert!(!has_text(&root, "new run"));
}

#[wasm_bindgen_test]
async fn a_list_that_goes_on_leads_to_older_runs() {
    let server = server(&[]);
    server.on(RUNS, 200, &page_with_next(vec![at(2, RunStatus::Ok, 60)]));
    server.on(
        &format!("{RUNS}?offset=50&limit=50"),
        200,
        &page(vec![at(1, RunStatus::Ok, 600)]),
    );
    let (root, _mounted) = mount_app(ADDRESS);
    until("the pager", || query(&root, ".pager").is_some()).await;
    link(&root, "Older").click();
    until("the older run", || {
        find(&root, ".run-list__row")
            .inner_html()
            .contains("000000000001")
    })
    .await;
    assert_eq!(address(), "/v/ada/hello/runs?offset=50");
}
