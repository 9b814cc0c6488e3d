//! The page of a val: writing, saving, running, and every way in which that can fail.

use hamlet_app::{
    components::code_editor::EditorSource,
    pages::val::{ValPage, settings::ValSettingsPage},
};
use hamlet_models::{
    BaseRun, ExtendedVal, FullRun, HttpResponse, LogLevel, LogLine, LogStream, Privacy, ProblemCode,
    RunPhases, RunStatus, Schedule, Trigger, Truncated, ValKind, VersionNumber,
};
use leptos::prelude::*;
use leptos_router::{
    components::{FlatRoutes, Route},
    path,
};
use serde_json::json;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{HtmlElement, HtmlInputElement, HtmlTextAreaElement};

use crate::{
    code::without_bundle,
    fixtures::{ago, extended, id, me, page, run, val},
    harness::{
        Mounted, address, button, field, fill, find, find_all, has_text, link, mount_app, mount_at,
        press_with, query, query_named, send, tick, until, until_text,
    },
    server::Server,
};

const HELLO: &str = "/v/ada/hello";
const VAL_ID: &str = "018f3c7e-0000-7000-8000-000000000001";
const RUN_ID: &str = "018f3c7e-0000-7000-8000-000000000007";

fn hello(kind: ValKind, version: VersionNumber, code: &str) -> ExtendedVal {
    let mut hello = extended(val(1, "hello", kind));
    hello.val.version = version;
    hello.val.code = Some(code.to_owned());
    hello
}

/// A server at which Ada is signed in and has a val in version 3.
fn server(kind: ValKind) -> Server {
    let storage = window().local_storage().expect("storage").expect("storage");
    storage.clear().expect("to clear it");
    without_bundle();
    let server = Server::start();
    server.on("GET /v1/session", 200, &me());
    server.on(
        "GET /v1/alias/ada/hello",
        200,
        &hello(kind, 3, "one();\ntwo();\n"),
    );
    server.on(
        &format!("GET /v1/vals/{VAL_ID}/runs"),
        200,
        &page(Vec::<BaseRun>::new()),
    );
    server
}

/// The page, with the plain field in the editor's place.
async fn open() -> (HtmlElement, Mounted) {
    let (root, mounted) = mount_at(HELLO, || routes(ValPage));
    until("the code", || {
        query(&root, ".code-editor__plain, .code-reader__code").is_some()
    })
    .await;
    (root, mounted)
}

/// The page, with the real editor.
async fn open_with_editor() -> (HtmlElement, Mounted) {
    let (root, mounted) = mount_at(HELLO, || {
        provide_context(EditorSource("/editor/dist/entry.js".to_owned()));
        routes(ValPage)
    });
    until("the editor (node editor/build.mjs makes it)", || {
        query(&root, ".cm-content").is_some()
    })
    .await;
    (root, mounted)
}

fn routes<V: IntoView + 'static>(view: impl Fn() -> V + Copy + Send + 'static) -> AnyView {
    view! {
        <FlatRoutes fallback=|| "elsewhere">
            <Route path=path!("/v/:username/:val") view=move || view().into_any() />
            <Route path=path!("/v/:username/:val/settings") view=move || view().into_any() />
        </FlatRoutes>
    }
    .into_any()
}

fn code(root: &HtmlElement) -> HtmlTextAreaElement {
    find(root, "textarea.code-editor__plain").unchecked_into()
}

async fn write(root: &HtmlElement, text: &str) {
    let field = code(root);
    field.set_value(text);
    send(&field, "input");
    tick().await;
}

fn status(root: &HtmlElement) -> String {
    find(root, ".save-status [role=status]").inner_text()
}

fn draft() -> Option<String> {
    let storage = window().local_storage().expect("storage").expect("storage");
    storage
        .get_item(&format!("hamlet.draft.{VAL_ID}"))
        .expect("to read")
}

fn ended(status: RunStatus) -> FullRun {
    FullRun {
        run: BaseRun {
            trigger: Trigger::Editor,
            ..run(7, "hello", status)
        },
        logs: vec![LogLine {
            time: ago(59),
            level: LogLevel::Info,
            message: "printed by hello".into(),
            stream: LogStream::Console,
        }],
        return_value: None,
        args: None,
        emails: Vec::new(),
        truncated: Truncated::default(),
        phases: RunPhases::default(),
        response: None,
        input: None,
    }
}

/// The server starts runs, and this is how they go.
fn runs_as(server: &Server, run: &FullRun) {
    server.on(&format!("POST /v1/vals/{VAL_ID}/runs"), 202, &run.run);
    server.on(&format!("GET /v1/runs/{RUN_ID}"), 200, run);
}

#[wasm_bindgen_test]
async fn what_is_written_is_saved_on_top_of_the_version_it_began_on() {
    let server = server(ValKind::Script);
    server.on(
        &format!("POST /v1/vals/{VAL_ID}/versions"),
        201,
        &hello(ValKind::Script, 4, "three();"),
    );
    let (root, _mounted) = open().await;
    assert_eq!(status(&root), "Saved");
    assert!(has_text(&root, "v3, saved"));

    write(&root, "three();").await;
    assert_eq!(status(&root), "Unsaved changes");
    assert!(query_named(&root, "button", "Save and run").is_some());
    button(&root, "Save").click();
    until("the new version", || has_text(&root, "v4, saved")).await;

    assert_eq!(status(&root), "Saved");
    let saves = server.seen(&format!("POST /v1/vals/{VAL_ID}/versions"));
    assert_eq!(saves.len(), 1);
    assert_eq!(saves[0].if_match.as_deref(), Some("\"3\""));
    assert_eq!(saves[0].json(), json!({"code": "three();"}));
    assert_eq!(code(&root).value(), "three();");
    assert_eq!(draft(), None);
}

#[wasm_bindgen_test]
async fn what_a_save_warns_of_is_shown_until_the_next() {
    let server = server(ValKind::Script);
    let warned = ExtendedVal {
        warnings: vec!["\"npm:nope\" could not be had".into()],
        ..hello(ValKind::Script, 4, "four();")
    };
    let versions = format!("POST /v1/vals/{VAL_ID}/versions");
    server.on(&versions, 201, &warned);
    let (root, _mounted) = open().await;
    write(&root, "four();").await;
    button(&root, "Save").click();
    until_text(&root, "npm:nope").await;
    assert_eq!(status(&root), "Saved");

    server.on(&versions, 201, &hello(ValKind::Script, 5, "five();"));
    write(&root, "five();").await;
    button(&root, "Save").click();
    until("no warning", || !has_text(&root, "npm:nope")).await;
}

#[wasm_bindgen_test]
async fn the_keys_save_and_run_from_anywhere_on_the_page() {
    let server = server(ValKind::Script);
    server.on(
        &format!("POST /v1/vals/{VAL_ID}/versions"),
        201,
        &hello(ValKind::Script, 4, "three();"),
    );
    runs_as(&server, &ended(RunStatus::Ok));
    let (root, _mounted) = open().await;
    write(&root, "three();").await;
    press_with(&code(&root), "s", true);
    until("a save", || status(&root) == "Saved").await;
    press_with(&find(&root, "input"), "Enter", true);
    until_text(&root, "Done after").await;
    assert_eq!(server.seen(&format!("POST /v1/vals/{VAL_ID}/versions")).len(), 1);
    assert_eq!(server.seen(&format!("POST /v1/vals/{VAL_ID}/runs")).len(), 1);
}

#[wasm_bindgen_test]
async fn unsaved_changes_survive_a_reload_and_can_be_discarded() {
    let _server = server(ValKind::Script);
    {
        let (root, _mounted) = open().await;
        write(&root, "not saved yet").await;
        until("the draft", || draft().is_some()).await;
    }
    let (root, _mounted) = open().await;
    assert!(has_text(&root, "Your unsaved changes are back"));
    assert_eq!(code(&root).value(), "not saved yet");
    assert_eq!(status(&root), "Unsaved changes");

    button(&root, "Discard them").click();
    until("no draft", || draft().is_none()).await;
    assert_eq!(code(&root).value(), "one();\ntwo();\n");
    assert_eq!(status(&root), "Saved");
    assert!(!has_text(&root, "Your unsaved changes are back"));
}

#[wasm_bindgen_test]
async fn what_was_typed_last_is_kept_when_the_page_goes_at_once() {
    let _server = server(ValKind::Script);
    {
        let (root, _mounted) = open().await;
        write(&root, "the last words").await;
    }
    assert!(draft().is_some_and(|draft| draft.contains("the last words")));
}

#[wasm_bindgen_test]
async fn a_newer_version_elsewhere_is_never_overwritten_unasked() {
    let server = server(ValKind::Script);
    let versions = format!("POST /v1/vals/{VAL_ID}/versions");
    server.refuse(&versions, ProblemCode::VersionMismatch, "version 5 is newer");
    server.on(
        &format!("GET /v1/vals/{VAL_ID}"),
        200,
        &hello(ValKind::Script, 5, "theirs();"),
    );
    let (root, _mounted) = open().await;
    write(&root, "mine();").await;
    button(&root, "Save").click();
    until_text(&root, "Version 5 is newer").await;
    assert_eq!(status(&root), "Not saved: version 5 is newer.");
    assert_eq!(code(&root).value(), "mine();");
    assert!(
        find(&root, ".notice[role=alert]")
            .inner_text()
            .contains("You began on version 3")
    );

    server.on(&versions, 201, &hello(ValKind::Script, 6, "mine();"));
    button(&root, "Keep mine: save over version 5").click();
    until("the save", || status(&root) == "Saved").await;
    let saves = server.seen(&versions);
    assert_eq!(
        saves.last().and_then(|save| save.if_match.clone()).as_deref(),
        Some("\"5\"")
    );
    assert_eq!(
        saves.last().map(crate::server::Seen::json),
        Some(json!({"code": "mine();"}))
    );
    assert!(query(&root, ".notice[role=alert]").is_none());
}

#[wasm_bindgen_test]
async fn the_newer_version_can_be_compared_and_taken() {
    let server = server(ValKind::Script);
    server.refuse(
        &format!("POST /v1/vals/{VAL_ID}/versions"),
        ProblemCode::VersionMismatch,
        "newer",
    );
    server.on(
        &format!("GET /v1/vals/{VAL_ID}"),
        200,
        &hello(ValKind::Script, 5, "theirs();"),
    );
    let (root, _mounted) = open().await;
    write(&root, "mine();").await;
    button(&root, "Save").click();
    until_text(&root, "Version 5 is newer").await;

    button(&root, "Compare the two").click();
    tick().await;
    let dialog = find(&root, ".notice dialog");
    assert!(
        has_text(&dialog, "theirs();") && has_text(&dialog, "mine();"),
        "both are there without the bundle"
    );

    button(&dialog, "Take version 5").click();
    until("theirs", || code(&root).value() == "theirs();").await;
    assert_eq!(status(&root), "Saved");
    assert!(has_text(&root, "v5, saved"));
    until("no draft", || draft().is_none()).await;
}

#[wasm_bindgen_test]
async fn without_a_server_the_changes_stay_and_are_saved_once_it_is_back() {
    let server = server(ValKind::Script);
    server.on(
        &format!("POST /v1/vals/{VAL_ID}/versions"),
        201,
        &hello(ValKind::Script, 4, "three();"),
    );
    let (root, _mounted) = open().await;
    write(&root, "three();").await;
    server.set_down(true);
    button(&root, "Save").click();
    until_text(
        &root,
        "Can’t reach the server: your changes are kept in this browser.",
    )
    .await;
    assert!(draft().is_some_and(|draft| draft.contains("three();")));
    button(&root, "Retry").click();
    until_text(&root, "Can’t reach the server").await;

    server.set_down(false);
    button(&root, "Retry").click();
    until("the save", || status(&root) == "Saved").await;
    assert!(query_named(&root, "button", "Retry").is_none());
}

#[wasm_bindgen_test]
async fn a_save_that_is_refused_says_why() {
    let server = server(ValKind::Script);
    let versions = format!("POST /v1/vals/{VAL_ID}/versions");
    let (root, _mounted) = open().await;
    write(&root, "three();").await;
    for (code, message, expected) in [
        (
            ProblemCode::Internal,
            "something went wrong on our side",
            "Not saved. Something went wrong on our side.",
        ),
        (
            ProblemCode::SignedOut,
            "sign in first",
            "You are signed out: your changes are kept in this browser.",
        ),
    ] {
        server.refuse(&versions, code, message);
        button(&root, "Save").click();
        until("why", || status(&root) == expected).await;
    }
    let sign_in = find(&root, ".save-status a");
    assert_eq!(
        sign_in.get_attribute("href").as_deref(),
        Some("/login?next=%2Fv%2Fada%2Fhello")
    );
    assert_eq!(code(&root).value(), "three();");
}

#[wasm_bindgen_test]
async fn code_that_no_version_can_have_is_not_sent() {
    let server = server(ValKind::Script);
    let (root, _mounted) = open().await;
    write(&root, "").await;
    button(&root, "Save").click();
    until("why", || status(&root).contains("1 to 256,000 characters")).await;
    assert!(
        server
            .seen(&format!("POST /v1/vals/{VAL_ID}/versions"))
            .is_empty()
    );
}

#[wasm_bindgen_test]
async fn a_run_saves_first_and_shows_what_came_of_it() {
    let server = server(ValKind::Script);
    server.on(
        &format!("POST /v1/vals/{VAL_ID}/versions"),
        201,
        &hello(ValKind::Script, 4, "three();"),
    );
    let outcome = FullRun {
        return_value: Some(json!({"sum": 42})),
        ..ended(RunStatus::Ok)
    };
    runs_as(&server, &outcome);
    let (root, _mounted) = open().await;
    assert!(has_text(&root, "No run yet."));
    write(&root, "three();").await;
    fill(&root, "Arguments", "[1, \"two\"]");
    button(&root, "Save and run").click();
    until_text(&root, "Done after 132 ms").await;

    assert_eq!(server.seen("POST ").len(), 2);
    assert!(
        server.seen("POST ")[0].line.ends_with("/versions"),
        "a run is of what is saved"
    );
    assert_eq!(server.seen("POST ")[1].json(), json!({"args": [1, "two"]}));
    assert!(has_text(&root, "sum") && has_text(&root, "42"));
    assert!(has_text(&root, "printed by hello"));
    let all = link(&root, "All about this run").get_attribute("href");
    assert_eq!(all, Some(format!("/runs/{RUN_ID}")));
}

#[wasm_bindgen_test]
async fn nothing_older_runs_when_the_save_fails() {
    let server = server(ValKind::Script);
    server.refuse(
        &format!("POST /v1/vals/{VAL_ID}/versions"),
        ProblemCode::Internal,
        "it broke",
    );
    runs_as(&server, &ended(RunStatus::Ok));
    let (root, _mounted) = open().await;
    write(&root, "three();").await;
    button(&root, "Save and run").click();
    until("why", || status(&root) == "Not saved. It broke.").await;
    assert!(server.seen(&format!("POST /v1/vals/{VAL_ID}/runs")).is_empty());
}

#[wasm_bindgen_test]
async fn arguments_that_are_no_list_are_said_to_be_so_and_not_sent() {
    let server = server(ValKind::Script);
    let (root, _mounted) = open().await;
    fill(&root, "Arguments", "{\"a\": 1}");
    button(&root, "Run").click();
    until_text(&root, "Arguments are a JSON list").await;
    assert!(server.seen("POST ").is_empty());
}

#[wasm_bindgen_test]
async fn a_run_is_followed_until_it_is_over() {
    let server = server(ValKind::Script);
    runs_as(
        &server,
        &FullRun {
            run: run(7, "hello", RunStatus::Running),
            ..ended(RunStatus::Running)
        },
    );
    server.on(
        &format!("POST /v1/vals/{VAL_ID}/evaluations/{RUN_ID}/cancel"),
        200,
        &json!({"found": true}),
    );
    let (root, _mounted) = open().await;
    button(&root, "Run").click();
    until_text(&root, "Cancel the run").await;
    assert!(
        has_text(&root, "printed by hello"),
        "what it has printed shows while it goes on"
    );
    let sentence = find(&root, ".run-outcome__sentence");
    assert_eq!(
        sentence.get_attribute("role").as_deref(),
        Some("status"),
        "a screen reader hears the end"
    );

    button(&root, "Cancel the run").click();
    server.on(
        &format!("GET /v1/runs/{RUN_ID}"),
        200,
        &ended(RunStatus::Cancelled),
    );
    until_text(&root, "Cancelled after").await;
    assert_eq!(
        server.seen(&format!("POST /v1/vals/{VAL_ID}/evaluations")).len(),
        1
    );
    assert!(query_named(&root, "button", "Cancel the run").is_none());
}

#[wasm_bindgen_test]
async fn what_a_run_prints_is_shown_as_it_is_told() {
    let server = server(ValKind::Script);
    server.keep_streams();
    let going = FullRun {
        run: run(7, "hello", RunStatus::Running),
        logs: Vec::new(),
        ..ended(RunStatus::Running)
    };
    runs_as(&server, &going);
    let (root, _mounted) = open().await;
    button(&root, "Run").click();
    until("the stream", || {
        server.streams() == [format!("/v1/runs/{RUN_ID}/events")]
    })
    .await;
    let line = |message: &str| LogLine {
        message: message.to_owned(),
        ..ended(RunStatus::Ok).logs[0].clone()
    };
    server.tell("log", "1", &line("the first line"));
    server.tell("status", "1", &going.run);
    server.tell("log", "2", &line("the second line"));
    until_text(&root, "the second line").await;

    server.break_streams(false);
    until_text(&root, "Can’t reach the server. The run goes on there").await;
    // Told from the first line on again, each is shown once.
    server.tell("log", "1", &line("the first line"));
    server.tell("log", "3", &line("the third line"));
    until_text(&root, "the third line").await;
    assert!(!has_text(&root, "Can’t reach the server"));
    assert_eq!(root.inner_text().matches("the first line").count(), 1);
    assert_eq!(server.seen(&format!("GET /v1/runs/{RUN_ID}")).len(), 1);

    let mut over = ended(RunStatus::Ok);
    over.logs = vec![
        line("the first line"),
        line("the second line"),
        line("the third line"),
    ];
    over.return_value = Some(json!({"told": "last"}));
    server.on(&format!("GET /v1/runs/{RUN_ID}"), 200, &over);
    server.tell("status", "end", &over.run);
    until_text(&root, "told").await;
    assert!(server.streams().is_empty());
    assert_eq!(
        find(&root, ".run-outcome [role=status]").inner_text(),
        "Done after 132 ms"
    );
}

#[wasm_bindgen_test]
async fn a_run_whose_stream_ends_early_is_looked_at_until_it_is_over() {
    let server = server(ValKind::Script);
    server.keep_streams();
    runs_as(
        &server,
        &FullRun {
            run: run(7, "hello", RunStatus::Running),
            ..ended(RunStatus::Running)
        },
    );
    let (root, _mounted) = open().await;
    button(&root, "Run").click();
    until("the stream", || !server.streams().is_empty()).await;
    server.on(&format!("GET /v1/runs/{RUN_ID}"), 200, &ended(RunStatus::Ok));
    server.break_streams(true);
    until_text(&root, "Done after 132 ms").await;
}

#[wasm_bindgen_test]
async fn a_page_that_goes_ends_its_streams() {
    let server = server(ValKind::Script);
    server.keep_streams();
    runs_as(
        &server,
        &FullRun {
            run: run(7, "hello", RunStatus::Running),
            ..ended(RunStatus::Running)
        },
    );
    let (root, mounted) = open().await;
    button(&root, "Run").click();
    until("the stream", || !server.streams().is_empty()).await;
    drop(mounted);
    until("its end", || server.streams().is_empty()).await;
}

#[wasm_bindgen_test]
async fn a_run_that_could_not_be_started_says_so() {
    let server = server(ValKind::Script);
    server.refuse(
        &format!("POST /v1/vals/{VAL_ID}/runs"),
        ProblemCode::OverCapacity,
        "too many runs at once",
    );
    let (root, _mounted) = open().await;
    button(&root, "Run").click();
    until_text(&root, "The run could not be started. Too many runs at once.").await;
    assert!(
        query_named(&root, "button", "Run").is_some(),
        "it can be tried again"
    );
}

#[wasm_bindgen_test]
async fn the_last_run_is_there_when_the_page_opens() {
    let server = server(ValKind::Script);
    let last = ended(RunStatus::Error);
    server.on(
        &format!("GET /v1/vals/{VAL_ID}/runs"),
        200,
        &page(vec![last.run.clone()]),
    );
    server.on(&format!("GET /v1/runs/{RUN_ID}"), 200, &last);
    let (root, _mounted) = open().await;
    until_text(&root, "Failed after 132 ms: TypeError: x is not a function").await;
}

#[wasm_bindgen_test]
async fn the_line_that_failed_is_marked_in_the_editor_and_shown_on_demand() {
    let server = server(ValKind::Script);
    let mut failed = ended(RunStatus::Error);
    let origin = window().location().origin().expect("an origin");
    let error = failed.run.error.as_mut().expect("an error");
    error.stack = format!("TypeError: x is not a function\n    at default ({origin}/v/ada/hello?v=3:2:1)");
    runs_as(&server, &failed);
    let (root, _mounted) = open_with_editor().await;
    assert!(query(&root, ".cm-failedLine").is_none());
    button(&root, "Run").click();
    until("a marked line", || query(&root, ".cm-failedLine").is_some()).await;
    assert_eq!(find(&root, ".cm-failedLine").inner_text().trim(), "two();");
    assert_eq!(
        find(&root, ".cm-failure").inner_text(),
        "TypeError: x is not a function"
    );
    assert!(has_text(&root, "line 2 of version 3"));

    button(&root, "Show line 2").click();
    tick().await;
    let active = document().active_element().expect("focus");
    assert!(
        active.class_list().contains("cm-content"),
        "the cursor is in the editor"
    );
}

#[wasm_bindgen_test]
async fn a_failure_of_another_version_marks_nothing() {
    let server = server(ValKind::Script);
    let mut last = ended(RunStatus::Error);
    last.run.version = Some(2);
    server.on(
        &format!("GET /v1/vals/{VAL_ID}/runs"),
        200,
        &page(vec![last.run.clone()]),
    );
    server.on(&format!("GET /v1/runs/{RUN_ID}"), 200, &last);
    let (root, _mounted) = open_with_editor().await;
    until_text(&root, "Failed after").await;
    tick().await;
    assert!(query(&root, ".cm-failedLine").is_none());
}

#[wasm_bindgen_test]
async fn an_http_val_is_sent_a_request_and_its_answer_is_shown() {
    let server = server(ValKind::Http);
    let mut answered = ended(RunStatus::Ok);
    answered.response = Some(HttpResponse {
        status: 201,
        headers: vec![("content-type".into(), "application/json".into())],
        body: r#"{"made": true}"#.into(),
        base64: false,
        size: 14,
    });
    runs_as(&server, &answered);
    let (root, _mounted) = open().await;
    assert!(has_text(&root, "http://ada-hello.localhost:8787/"));
    fill(&root, "Method", "POST");
    fill(&root, "Path", "/things?x=1");
    fill(&root, "Headers", "Content-Type: text/plain");
    fill(&root, "Body", "a thing");
    button(&root, "Send").click();
    until_text(&root, "201").await;

    let sent = &server.seen(&format!("POST /v1/vals/{VAL_ID}/runs"))[0];
    let expected = json!({
        "method": "POST", "path": "/things?x=1", "headers": [["Content-Type", "text/plain"]], "body": "a thing",
    });
    assert_eq!(sent.json(), json!({"request": expected}));
    assert!(has_text(&root, "Created") && has_text(&root, "made"));
    assert!(
        query_named(&root, "button", "POST /things?x=1").is_some(),
        "it can be sent again"
    );
}

#[wasm_bindgen_test]
async fn a_request_that_can_not_be_is_not_sent() {
    let server = server(ValKind::Http);
    let (root, _mounted) = open().await;
    fill(&root, "Path", "no-slash");
    button(&root, "Send").click();
    until_text(&root, "A path begins with /.").await;
    fill(&root, "Path", "/");
    fill(&root, "Body", "a thing");
    button(&root, "Send").click();
    until_text(&root, "A GET or HEAD request has no body").await;
    assert!(server.seen("POST ").is_empty());
}

/// A schedule as the server tells it, whose ticks are hours away.
fn schedule(cron: &str, paused: bool) -> Schedule {
    let ticks: Vec<_> = (1..=5).map(|hours| ago(-3_600 * hours)).collect();
    Schedule {
        cron: cron.into(),
        timezone: "Europe/Berlin".into(),
        paused,
        catch_up: true,
        overlap: false,
        next_run_at: (!paused).then(|| ticks[0]),
        last_run_at: Some(ago(150)),
        next_ticks: if paused { Vec::new() } else { ticks },
    }
}

/// The val has this schedule from now on.
fn is_scheduled(server: &Server, schedule: Option<Schedule>) {
    let val = ExtendedVal {
        schedule,
        ..hello(ValKind::Interval, 3, "one();\ntwo();\n")
    };
    server.on("GET /v1/alias/ada/hello", 200, &val);
    server.on(&format!("GET /v1/vals/{VAL_ID}"), 200, &val);
}

#[wasm_bindgen_test]
async fn a_schedule_is_told_in_words_with_its_next_five_ticks_and_can_be_paused() {
    let server = server(ValKind::Interval);
    is_scheduled(&server, Some(schedule("0 7 * * *", false)));
    let update = format!("PUT /v1/vals/{VAL_ID}");
    server.on_empty(&update, 204);
    let (root, _mounted) = open().await;
    assert!(has_text(&root, "Every day at 07:00, Europe/Berlin"));
    assert_eq!(find_all(&root, ".schedule__ticks li").len(), 5);
    assert!(has_text(&root, "Last ran 2 min ago.") && has_text(&root, "runs once when it is back"));
    assert!(query_named(&root, "button", "Run now").is_some());

    is_scheduled(&server, Some(schedule("0 7 * * *", true)));
    button(&root, "Pause").click();
    until_text(&root, "Paused: it runs only when you say so.").await;
    assert_eq!(
        server.seen(&update)[0].json(),
        json!({"schedule": {
            "cron": "0 7 * * *", "timezone": "Europe/Berlin", "paused": true, "catchUp": true, "overlap": false,
        }})
    );
    assert!(find_all(&root, ".schedule__ticks li").is_empty());
    assert!(query_named(&root, "button", "Resume").is_some());
}

#[wasm_bindgen_test]
async fn a_schedule_is_set_by_interval_or_by_cron_expression() {
    let server = server(ValKind::Interval);
    is_scheduled(&server, None);
    let update = format!("PUT /v1/vals/{VAL_ID}");
    server.on_empty(&update, 204);
    let (root, _mounted) = open().await;
    button(&root, "Set a schedule").click();
    tick().await;
    fill(&root, "Every", "0");
    button(&root, "Save schedule").click();
    until_text(&root, "A schedule is a cron expression with 5 fields").await;
    assert!(server.seen(&update).is_empty());
    fill(&root, "Every", "2");
    fill(&root, "Unit", "hours");
    is_scheduled(&server, Some(schedule("every 2 hours", false)));
    button(&root, "Save schedule").click();
    until_text(&root, "Every 2 hours").await;
    assert_eq!(
        server.seen(&update)[0].json()["schedule"]["cron"],
        "every 2 hours"
    );

    button(&root, "Change").click();
    tick().await;
    assert_eq!(value_of(&root, "Every"), "2");
    fill(&root, "Runs", "cron");
    tick().await;
    fill(&root, "Cron expression", " 30  9 * * 1-5");
    fill(&root, "Time zone", "Asia/Tokyo");
    until_text(&root, "Monday to Friday at 09:30, Asia/Tokyo").await;
    server.refuse(&update, ProblemCode::Invalid, "no such time zone");
    button(&root, "Save schedule").click();
    until_text(&root, "No such time zone.").await;
    assert_eq!(value_of(&root, "Time zone"), "Asia/Tokyo");
    let sent = server.seen(&update)[1].json();
    assert_eq!(sent["schedule"]["cron"], "30 9 * * 1-5");
    assert_eq!(sent["schedule"]["timezone"], "Asia/Tokyo");

    server.on_empty(&update, 204);
    is_scheduled(&server, None);
    button(&root, "Remove the schedule").click();
    until_text(&root, "No schedule is set").await;
    assert_eq!(server.seen(&update)[2].json(), json!({"schedule": null}));
}

fn value_of(root: &HtmlElement, label: &str) -> String {
    field(root, label).unchecked_into::<HtmlInputElement>().value()
}

#[wasm_bindgen_test]
async fn running_now_moves_when_it_last_ran() {
    let server = server(ValKind::Interval);
    let mut before = schedule("every 15 minutes", false);
    before.last_run_at = Some(ago(7_300));
    is_scheduled(&server, Some(before));
    runs_as(&server, &ended(RunStatus::Ok));
    let (root, _mounted) = open().await;
    until_text(&root, "Last ran 2 h ago.").await;
    is_scheduled(&server, Some(schedule("every 15 minutes", false)));
    button(&root, "Run now").click();
    until_text(&root, "Done after 132 ms").await;
    until_text(&root, "Last ran 2 min ago.").await;
}

#[wasm_bindgen_test]
async fn an_email_val_tells_its_address_and_is_sent_a_test_message() {
    let server = server(ValKind::Email);
    let mut robot = hello(ValKind::Email, 3, "one();\ntwo();\n");
    robot.val.links.email = Some("ada.hello@vals.example".into());
    server.on("GET /v1/alias/ada/hello", 200, &robot);
    runs_as(&server, &ended(RunStatus::Ok));
    let (root, _mounted) = open().await;
    assert!(has_text(&root, "ada.hello@vals.example"));
    fill(&root, "Text", "Hello, robot");
    button(&root, "Send test message").click();
    until_text(&root, "Done after 132 ms").await;
    assert_eq!(
        server.seen(&format!("POST /v1/vals/{VAL_ID}/runs"))[0].json(),
        json!({"email": {"subject": "Test message", "text": "Hello, robot"}})
    );
}

#[wasm_bindgen_test]
async fn an_email_val_that_no_mail_reaches_says_so() {
    let _server = server(ValKind::Email);
    let (root, _mounted) = open().await;
    assert!(has_text(&root, "No mail reaches it"));
    assert!(query_named(&root, "button", "Send test message").is_some());
}

#[wasm_bindgen_test]
async fn a_private_address_is_opened_by_way_of_who_knows_the_owner() {
    let server = server(ValKind::Http);
    let open_link = |root: &HtmlElement| link(root, "Open the address").get_attribute("href");
    {
        let (root, _mounted) = open().await;
        assert_eq!(
            open_link(&root).as_deref(),
            Some("http://ada-hello.localhost:8787/")
        );
    }
    let mut private = hello(ValKind::Http, 3, "one();\ntwo();\n");
    private.val.privacy = Privacy::Private;
    server.on("GET /v1/alias/ada/hello", 200, &private);
    let (root, _mounted) = open().await;
    assert_eq!(
        open_link(&root).as_deref(),
        Some(format!("/v1/vals/{VAL_ID}/open").as_str())
    );
    assert!(has_text(&root, "http://ada-hello.localhost:8787/"));
}

#[wasm_bindgen_test]
async fn others_read_the_code_and_are_offered_nothing_that_is_the_owners() {
    let server = server(ValKind::Http);
    server.on("GET /v1/session", 200, &());
    let (root, _mounted) = open().await;
    assert!(query(&root, "textarea").is_none(), "it is text, not a field");
    assert_eq!(find(&root, ".code-reader__code").inner_text(), "one();\ntwo();\n");
    assert!(has_text(&root, "http://ada-hello.localhost:8787/"));
    for name in ["Save", "Run", "Send", "Save and send", "Add a readme"] {
        let found = query_named(&root, "button", name);
        assert!(
            found.is_none_or(|found| found.offset_parent().is_none()),
            "{name} is the owner's"
        );
    }
    assert!(query_named(&root, "a", "Settings").is_none() && query_named(&root, "a", "Runs").is_none());
    assert!(
        server.seen(&format!("GET /v1/vals/{VAL_ID}/runs")).is_empty(),
        "runs are the owner's"
    );
}

#[wasm_bindgen_test]
async fn a_val_that_is_not_there_is_said_not_to_be() {
    let server = server(ValKind::Script);
    server.refuse("GET /v1/alias/ada/hello", ProblemCode::NotFound, "no such val");
    let (root, _mounted) = mount_at(HELLO, || routes(ValPage));
    until_text(&root, "Nothing here").await;
    assert!(query(&root, "textarea").is_none());
}

#[wasm_bindgen_test]
async fn a_link_away_asks_while_there_is_something_unsaved() {
    let server = server(ValKind::Script);
    server.on("GET /v1/alias/ada", 200, &crate::fixtures::ada_user());
    let (root, _mounted) = mount_app(HELLO);
    until("the code", || {
        query(&root, "textarea.code-editor__plain").is_some()
    })
    .await;
    write(&root, "unsaved").await;
    link(&root, "ada").click();
    tick().await;
    assert!(has_text(&root, "Leave with unsaved changes?"));
    assert_eq!(address(), HELLO);
    button(&root, "Stay").click();
    tick().await;
    assert_eq!(address(), HELLO);
    assert_eq!(code(&root).value(), "unsaved");

    link(&root, "ada").click();
    tick().await;
    button(&root, "Leave without saving").click();
    until("the user's page", || address() == "/u/ada").await;
    assert!(draft().is_some_and(|draft| draft.contains("unsaved")));
}

#[wasm_bindgen_test]
async fn a_step_back_asks_while_there_is_something_unsaved() {
    let server = server(ValKind::Script);
    server.on("GET /v1/alias/ada", 200, &crate::fixtures::ada_user());
    let history = window().history().expect("a history");
    for page in ["/u/ada", HELLO] {
        history
            .push_state_with_url(&JsValue::NULL, "", Some(page))
            .expect("an address of this origin");
    }
    let (root, _mounted) = mount_app(HELLO);
    until("the code", || {
        query(&root, "textarea.code-editor__plain").is_some()
    })
    .await;
    write(&root, "unsaved").await;
    history.back().expect("a step back");
    until_text(&root, "Leave with unsaved changes?").await;
    assert_eq!(address(), HELLO);
    button(&root, "Stay").click();
    tick().await;
    assert_eq!(code(&root).value(), "unsaved");

    history.back().expect("a step back");
    until_text(&root, "Leave with unsaved changes?").await;
    button(&root, "Leave without saving").click();
    until("the user's page", || address() == "/u/ada").await;
    until("the code to be gone", || query(&root, "textarea").is_none()).await;
    assert!(draft().is_some_and(|draft| draft.contains("unsaved")));
}

#[wasm_bindgen_test]
async fn a_link_away_asks_nothing_when_all_is_saved() {
    let server = server(ValKind::Script);
    server.on("GET /v1/alias/ada", 200, &crate::fixtures::ada_user());
    let (root, _mounted) = mount_app(HELLO);
    until("the code", || {
        query(&root, "textarea.code-editor__plain").is_some()
    })
    .await;
    link(&root, "ada").click();
    tick().await;
    assert!(!has_text(&root, "Leave with unsaved changes?"));
}

#[wasm_bindgen_test]
async fn lines_that_the_address_names_are_marked_in_the_editor() {
    let _server = server(ValKind::Script);
    let (root, _mounted) = mount_at("/v/ada/hello#L2", || {
        provide_context(EditorSource("/editor/dist/entry.js".to_owned()));
        routes(ValPage)
    });
    until("the marked line", || query(&root, ".cm-selectedLine").is_some()).await;
    let marked = find_all(&root, ".cm-selectedLine");
    assert_eq!(
        marked.iter().map(HtmlElement::inner_text).collect::<Vec<_>>(),
        ["two();"]
    );
}

#[wasm_bindgen_test]
async fn a_readme_is_rendered_and_written_by_its_owner() {
    let server = server(ValKind::Script);
    let mut with_readme = hello(ValKind::Script, 3, "one();");
    with_readme.readme = Some("*Hello* there".into());
    server.on("GET /v1/alias/ada/hello", 200, &with_readme);
    server.on(
        "POST /v1/markdown",
        200,
        &json!({"html": "<p><em>Hello</em> there</p>"}),
    );
    server.on_empty(&format!("PUT /v1/vals/{VAL_ID}"), 204);
    let (root, _mounted) = open().await;
    until("the readme", || query(&root, ".readme em").is_some()).await;

    button(&root, "Edit the readme").click();
    tick().await;
    fill(&root, "Readme, in Markdown", "Bye");
    button(&root, "Save the readme").click();
    until("the save", || query(&root, ".readme__form").is_none()).await;
    let saved = &server.seen(&format!("PUT /v1/vals/{VAL_ID}"))[0];
    assert_eq!(saved.json(), json!({"readme": "Bye"}));
}

#[wasm_bindgen_test]
async fn a_val_is_deleted_only_with_its_name_typed() {
    let server = server(ValKind::Script);
    server.on_empty(&format!("DELETE /v1/vals/{VAL_ID}"), 204);
    let (root, _mounted) = mount_at("/v/ada/hello/settings", || routes(ValSettingsPage));
    until_text(&root, "Delete this val").await;
    button(&root, "Delete this val…").click();
    tick().await;
    let dialog = find(&root, "dialog");
    assert!(has_text(
        &dialog,
        "All its versions, up to version 3, and all its runs"
    ));
    let delete = button(&dialog, "Delete the val");
    fill(&dialog, "Type hello to confirm", "hell");
    tick().await;
    assert!(delete.has_attribute("disabled"));
    fill(&dialog, "Type hello to confirm", "hello");
    tick().await;
    delete.click();
    until("the user's page", || address() == "/u/ada").await;
    assert_eq!(server.seen("DELETE").len(), 1);
}

#[wasm_bindgen_test]
async fn a_val_that_is_renamed_is_shown_at_its_new_address() {
    let server = server(ValKind::Script);
    server.on_empty(&format!("PUT /v1/vals/{VAL_ID}"), 204);
    let mut renamed = hello(ValKind::Script, 3, "one();");
    renamed.val.name = "bye".parse().expect("a name");
    server.on("GET /v1/alias/ada/bye", 200, &renamed);
    let (root, _mounted) = mount_at("/v/ada/hello/settings", || routes(ValSettingsPage));
    until_text(&root, "Save settings").await;
    fill(&root, "Name", "no good");
    button(&root, "Save settings").click();
    until_text(&root, "A val's name is made of letters").await;
    assert!(server.seen("PUT").is_empty());

    fill(&root, "Name", "bye");
    fill(&root, "Privacy", Privacy::Unlisted.as_str());
    button(&root, "Save settings").click();
    until("the new address", || address() == "/v/ada/bye/settings").await;
    let update = server.seen("PUT")[0].json();
    assert_eq!(
        update,
        json!({"name": "bye", "privacy": "unlisted", "type": "script", "callable": false})
    );
}

#[wasm_bindgen_test]
async fn a_name_that_is_in_use_is_said_to_be_so_at_the_form() {
    let server = server(ValKind::Script);
    server.refuse(
        &format!("PUT /v1/vals/{VAL_ID}"),
        ProblemCode::NameTaken,
        "you have a val of this name",
    );
    let (root, _mounted) = mount_at("/v/ada/hello/settings", || routes(ValSettingsPage));
    until_text(&root, "Save settings").await;
    fill(&root, "Name", "taken");
    button(&root, "Save settings").click();
    until_text(&root, "You have a val of this name.").await;
    assert_eq!(address(), "/v/ada/hello/settings");
}

#[wasm_bindgen_test]
async fn settings_are_the_owners_alone() {
    let server = server(ValKind::Script);
    server.on("GET /v1/session", 200, &());
    let (root, _mounted) = mount_at("/v/ada/hello/settings", || routes(ValSettingsPage));
    until_text(&root, "Only its owner").await;
    assert!(query(&root, "form").is_none());
}

#[wasm_bindgen_test]
fn ids_are_those_of_the_made_up_values() {
    assert_eq!(id::<hamlet_models::ValId>(1).to_string(), VAL_ID);
    assert_eq!(id::<hamlet_models::RunId>(7).to_string(), RUN_ID);
}
