//! What became of a run, against made-up values.

use hamlet_app::components::{
    http_answer::HttpAnswer,
    run_detail::RunEnd,
    run_outcome::{headline, own_frame},
};
use hamlet_models::{FullRun, HttpResponse, RunPhases, RunRequest, RunStatus, Truncated};
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{
    fixtures::run,
    harness::{button, find, has_text, mount, query, tick},
};

fn full(status: RunStatus) -> FullRun {
    FullRun {
        run: run(7, "hello", status),
        logs: Vec::new(),
        return_value: None,
        args: None,
        emails: Vec::new(),
        truncated: Truncated::default(),
        phases: RunPhases::default(),
        response: None,
        input: None,
    }
}

fn answer(kind: &str, body: &str) -> HttpResponse {
    HttpResponse {
        status: 200,
        headers: vec![("Content-Type".into(), kind.into())],
        body: body.into(),
        base64: false,
        size: body.len() as u64,
    }
}

#[wasm_bindgen_test]
fn every_status_has_a_sentence_of_its_own() {
    let mut seen = std::collections::HashSet::new();
    for status in RunStatus::ALL {
        let sentence = headline(&full(status));
        assert!(seen.insert(sentence.clone()), "{sentence} is said twice");
    }
    let mut answered = full(RunStatus::Ok);
    answered.run.request = Some(RunRequest {
        method: "GET".into(),
        url: "http://x/".into(),
        status: Some(404),
    });
    assert_eq!(headline(&answered), "Answered 404 after 132 ms");
}

#[wasm_bindgen_test]
fn what_ended_a_run_from_outside_is_said_once() {
    let mut late = full(RunStatus::Timeout);
    let error = late.run.error.as_mut().expect("an error");
    error.name = "TimeoutError".into();
    error.message = "ran longer than it may".into();
    error.stack = "TimeoutError: ran longer than it may".into();
    assert_eq!(headline(&late), "Timed out after 132 ms: ran longer than it may");
    let shown = late.clone();
    let (root, _mounted) = mount(move || view! { <RunEnd run=shown /> });
    assert!(has_text(&root, "It ended before it returned anything."));
    assert!(!has_text(&root, "ran longer"));

    late.run.status = RunStatus::Error;
    let (root, _mounted) = mount(move || view! { <RunEnd run=late /> });
    assert!(
        has_text(&root, "TimeoutError: ran longer"),
        "what a val throws is shown as it threw it"
    );
}

#[wasm_bindgen_test]
fn a_failure_names_the_innermost_line_of_its_own_val() {
    let origin = window().location().origin().expect("an origin");
    let mut failed = full(RunStatus::Error);
    let error = failed.run.error.as_mut().expect("an error");
    error.stack = format!(
        "TypeError: x is not a function\n    at help (https://esm.town/v/bob/helper?v=1:9:9)\n    \
         at default ({origin}/v/ada/hello?v=3:12:5)\n    at ext:core/mod.js:1:1"
    );
    let frame = own_frame(&failed).expect("a frame");
    assert_eq!((frame.line, frame.column, frame.version), (12, 5, Some(3)));
    assert_eq!(
        headline(&failed),
        "Failed after 132 ms: TypeError: x is not a function, line 12 of version 3"
    );

    failed.run.error.as_mut().expect("an error").stack = "TypeError: x\n    at npm.js:1:1".into();
    assert_eq!(own_frame(&failed), None);
    assert_eq!(
        headline(&failed),
        "Failed after 132 ms: TypeError: x is not a function"
    );
}

#[wasm_bindgen_test]
async fn a_page_that_a_val_answers_may_do_nothing_here() {
    let page = "<h1>Hi</h1><script>parent.hacked = true</script>";
    let (root, _mounted) =
        mount(move || view! { <HttpAnswer response=answer("text/html; charset=utf-8", page) /> });
    let frame = find(&root, "iframe");
    assert_eq!(
        frame.get_attribute("sandbox").as_deref(),
        Some("allow-scripts"),
        "it has no origin, and the one script is its frame's"
    );
    assert!(!frame.has_attribute("srcdoc") && !root.inner_html().contains("Hi"));
    button(&root, "Text").click();
    tick().await;
    assert!(query(&root, "iframe").is_none() && has_text(&root, "<h1>Hi</h1>"));
    assert!(query(&root, "script").is_none() && query(&root, "h1").is_none());
}

#[wasm_bindgen_test]
async fn an_answer_of_json_is_a_tree_and_what_is_no_json_is_text() {
    let (root, _mounted) = mount(|| {
        view! {
            <div id="good"><HttpAnswer response=answer("application/json", r#"{"deep": {"er": 1}}"#) /></div>
            <div id="bad"><HttpAnswer response=answer("application/json", "{broken") /></div>
        }
    });
    assert!(query(&find(&root, "#good"), ".value-tree").is_some());
    assert!(query(&find(&root, "#bad"), ".value-tree").is_none());
    assert!(has_text(&find(&root, "#bad"), "{broken"));
}

#[wasm_bindgen_test]
async fn an_answer_says_its_status_its_size_and_what_was_cut() {
    let mut empty = answer("text/plain", "");
    empty.status = 503;
    let (root, _mounted) = mount(move || view! { <HttpAnswer response=empty cut=true /> });
    assert!(has_text(&root, "503") && has_text(&root, "0 B") && has_text(&root, "No body."));
    assert!(has_text(&root, "The body is longer than what is kept"));
}
