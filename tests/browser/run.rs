//! The page of one run.

use hamlet_models::{
    BaseRun, FullRun, KeptRequest, LogLevel, LogLine, LogStream, ProblemCode, RunInput, RunPhases,
    RunRequest, RunStatus, Truncated, ValKind, Version,
};
use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{
    fixtures::{ago, extended, me, page, run, val},
    harness::{
        address, button, come_back, fill, find, find_all, has_text, link, mount_app, query, query_named,
        until, until_text, write,
    },
    server::Server,
};

const RUN: &str = "GET /v1/runs/018f3c7e-0000-7000-8000-000000000007";
const RUN_ID: &str = "018f3c7e-0000-7000-8000-000000000007";
const ADDRESS: &str = "/runs/018f3c7e-0000-7000-8000-000000000007";
const START: &str = "POST /v1/vals/018f3c7e-0000-7000-8000-000000000001/runs";

fn full(status: RunStatus) -> FullRun {
    let mut run = run(7, "hello", status);
    if let Some(error) = &mut run.error {
        error.stack = error.stack.replace("http://localhost/", "https://esm.town/");
    }
    FullRun {
        run,
        logs: vec![
            line("Hello, Berlin", LogLevel::Info),
            line("no answer", LogLevel::Error),
        ],
        return_value: None,
        args: None,
        emails: Vec::new(),
        truncated: Truncated::default(),
        phases: RunPhases {
            waited_ms: Some(1.0),
            ran_ms: Some(120.0),
            ..RunPhases::default()
        },
        response: None,
        input: None,
    }
}

fn line(message: &str, level: LogLevel) -> LogLine {
    LogLine {
        time: ago(59),
        level,
        message: message.to_owned(),
        stream: LogStream::Console,
    }
}

/// Ada, signed in, her val whose latest version is 3, and its run.
fn server(run: &FullRun) -> Server {
    let server = Server::start();
    server.on("GET /v1/session", 200, &me());
    server.on(
        "GET /v1/vals/018f3c7e-0000-7000-8000-000000000001",
        200,
        &extended(val(1, "hello", ValKind::Script)),
    );
    server.on(RUN, 200, run);
    server
}

#[wasm_bindgen_test]
async fn a_failed_run_says_what_and_where() {
    let _server = server(&full(RunStatus::Error));
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(
        &root,
        "Failed after 132 ms: TypeError: x is not a function, line 2 of version 3",
    )
    .await;
    let frame = link(&root, "ada/hello v3:2:3");
    assert_eq!(
        frame.get_attribute("href").as_deref(),
        Some("/v/ada/hello/versions/3#L2")
    );
    for text in [
        "Waited",
        "Ran",
        "120 ms",
        "Hello, Berlin",
        "2 lines",
        "It was started without input.",
        "40.0 MB",
    ] {
        assert!(has_text(&root, text), "no {text}");
    }
    assert!(!has_text(&root, "Module loaded") && !has_text(&root, "It returned nothing."));
    assert!(query_named(&root, "button", "Cancel").is_none());
}

#[wasm_bindgen_test]
async fn input_and_result_are_trees_and_say_what_was_cut() {
    let run = FullRun {
        args: Some(json!(["Berlin", {"days": 2}])),
        return_value: Some(json!("{\"city\":\"Ber")),
        truncated: Truncated {
            return_value: true,
            logs: true,
            ..Truncated::default()
        },
        ..full(RunStatus::Ok)
    };
    let _server = server(&run);
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(&root, "Done after 132 ms").await;
    assert!(has_text(&find(&root, "[aria-label=Input]"), "{ days: 2 }"));
    assert!(has_text(&find(&root, "[aria-label=Result]"), "too large"));
    assert!(!has_text(&find(&root, "[aria-label=Input]"), "too large"));
    assert!(has_text(&root, "Lines after these were not kept"));
}

#[wasm_bindgen_test]
async fn running_again_sends_the_same_input_to_the_same_version() {
    let run = FullRun {
        args: Some(json!([1, "two"])),
        ..full(RunStatus::Ok)
    };
    let server = server(&run);
    let again = BaseRun {
        id: crate::fixtures::id(8),
        ..run.run.clone()
    };
    server.on(START, 202, &again);
    server.on(
        "GET /v1/runs/018f3c7e-0000-7000-8000-000000000008",
        200,
        &FullRun {
            run: again,
            ..full(RunStatus::Ok)
        },
    );
    let (root, _mounted) = mount_app(ADDRESS);
    until("the button", || {
        query_named(&root, "button", "Run again").is_some()
    })
    .await;
    button(&root, "Run again").click();
    until("the new run", || {
        address() == format!("/runs/018f3c7e-0000-7000-8000-000000000008?beside={RUN_ID}")
    })
    .await;
    assert_eq!(
        server.seen(START)[0].json(),
        json!({"version": 3, "replayOf": RUN_ID})
    );
}

#[wasm_bindgen_test]
async fn two_runs_are_shown_side_by_side_with_what_differs() {
    let earlier = FullRun {
        return_value: Some(json!({"city": "Berlin"})),
        ..full(RunStatus::Ok)
    };
    let server = server(&earlier);
    let mut now = FullRun {
        run: BaseRun {
            id: crate::fixtures::id(8),
            version: Some(2),
            duration_ms: Some(32.0),
            ..earlier.run.clone()
        },
        return_value: Some(json!({"city": "Paris"})),
        ..earlier.clone()
    };
    let beside = format!("/runs/018f3c7e-0000-7000-8000-000000000008?beside={RUN_ID}");
    let line = "GET /v1/runs/018f3c7e-0000-7000-8000-000000000008";
    server.on(line, 200, &now);
    {
        let (root, _mounted) = mount_app(&beside);
        until_text(&root, "Another result, the same logs, 100 ms faster.").await;
        let (one, other) = (
            find(&root, "[aria-label='This run']"),
            find(&root, "[aria-label='The earlier run']"),
        );
        assert!(has_text(&one, "Paris") && has_text(&one, "Version 2") && !has_text(&one, "Berlin\""));
        assert!(has_text(&other, "Berlin") && has_text(&other, "Version 3") && !has_text(&other, "Paris"));
        for part in ["Result", "Output", "Logs"] {
            for whose in ["this run", "the earlier run"] {
                find(&root, &format!("[aria-label='{part} of {whose}']"));
            }
        }
        link(&root, "Show this run alone").click();
        until("one run", || query(&root, ".beside").is_none()).await;
        assert_eq!(address(), "/runs/018f3c7e-0000-7000-8000-000000000008");
    }
    now.return_value = earlier.return_value.clone();
    now.logs.pop();
    now.run.duration_ms = Some(133.0);
    server.on(line, 200, &now);
    let (root, _mounted) = mount_app(&beside);
    until_text(&root, "The same result, other logs, 1.0 ms slower.").await;
}

#[wasm_bindgen_test]
async fn a_run_to_compare_with_that_is_gone_is_said_to_be() {
    let server = server(&full(RunStatus::Ok));
    server.refuse(
        "GET /v1/runs/018f3c7e-0000-7000-8000-000000000009",
        ProblemCode::NotFound,
        "no such run",
    );
    let (root, _mounted) = mount_app(&format!("{ADDRESS}?beside=018f3c7e-0000-7000-8000-000000000009"));
    until_text(&root, "The run to compare it with can’t be shown.").await;
    assert!(has_text(&root, "Hello, Berlin"));
}

#[wasm_bindgen_test]
async fn any_version_can_be_chosen_to_run_on() {
    let server = server(&full(RunStatus::Ok));
    let version = |version: u32| Version {
        val_id: crate::fixtures::id(1),
        version,
        created_at: ago(60),
        author: None,
        message: None,
        size: 10,
        lines_added: 0,
        lines_removed: 0,
    };
    server.on(
        "GET /v1/vals/018f3c7e-0000-7000-8000-000000000001/versions",
        200,
        &page(vec![version(3), version(2), version(0)]),
    );
    server.refuse(START, ProblemCode::OverCapacity, "every place is taken");
    let (root, _mounted) = mount_app(ADDRESS);
    until("the choice", || query(&root, ".run-actions__other").is_some()).await;
    find(&root, ".run-actions__other summary").click();
    let offered = find_all(&root, ".run-actions__other option");
    let offered: Vec<_> = offered
        .iter()
        .filter_map(|option| option.text_content())
        .collect();
    assert_eq!(offered, ["v2", "v0"], "the others have buttons of their own");
    fill(&root, "Version", "0");
    button(&root, "Run on this version").click();
    until_text(&root, "Every place is taken.").await;
    assert_eq!(
        server.seen(START)[0].json(),
        json!({"version": 0, "replayOf": RUN_ID})
    );
}

#[wasm_bindgen_test]
async fn a_request_is_shown_with_what_was_not_kept_of_it() {
    let request = KeptRequest {
        method: "POST".into(),
        url: "http://ada-hello.localhost:8787/a?b=1".into(),
        headers: vec![
            ("content-type".into(), Some("application/json".into())),
            ("cookie".into(), None),
        ],
        body: "{\"city\":\"Berlin\"}".into(),
        base64: false,
        size: 17,
    };
    let mut run = full(RunStatus::Ok);
    run.run.request = Some(RunRequest {
        method: request.method.clone(),
        url: request.url.clone(),
        status: Some(200),
    });
    run.run.replay_of = Some(crate::fixtures::id(6));
    run.input = Some(RunInput::Request(request));
    let _server = server(&run);
    let (root, _mounted) = mount_app(ADDRESS);
    until("the button", || {
        query_named(&root, "button", "Run again").is_some()
    })
    .await;
    let input = find(&root, "[aria-label=Input]");
    for text in [
        "POST http://ada-hello.localhost:8787/a?b=1",
        "2 headers",
        "\"Berlin\"",
    ] {
        assert!(has_text(&input, text), "no {text}");
    }
    find(&input, "summary").click();
    until("the headers", || has_text(&input, "not kept")).await;
    assert!(has_text(&input, "application/json"));
    assert!(has_text(
        &root,
        "Without what was not kept of the request: cookie."
    ));
    let earlier = "/runs/018f3c7e-0000-7000-8000-000000000006";
    assert_eq!(
        link(&root, "an earlier run").get_attribute("href").as_deref(),
        Some(earlier)
    );
    assert_eq!(
        link(&root, "side by side").get_attribute("href"),
        Some(format!("{ADDRESS}?beside=018f3c7e-0000-7000-8000-000000000006"))
    );
}

#[wasm_bindgen_test]
async fn a_message_and_a_time_are_shown_and_can_be_given_again() {
    for (input, text) in [
        (
            RunInput::Email(json!({"from": "eve@example.com", "subject": "a word"})),
            "subject: \"a word\"",
        ),
        (
            RunInput::LastRunAt(None),
            "It was told that it had never run before.",
        ),
        (
            RunInput::LastRunAt(Some(ago(60))),
            "It was told that it last ran at 2",
        ),
    ] {
        let run = FullRun {
            input: Some(input),
            ..full(RunStatus::Ok)
        };
        let server = server(&run);
        server.refuse(START, ProblemCode::OverCapacity, "every place is taken");
        let (root, _mounted) = mount_app(ADDRESS);
        until("the button", || {
            query_named(&root, "button", "Run again").is_some()
        })
        .await;
        assert!(has_text(&find(&root, "[aria-label=Input]"), text), "no {text}");
        button(&root, "Run again").click();
        until_text(&root, "Every place is taken.").await;
        assert_eq!(
            server.seen(START)[0].json(),
            json!({"version": 3, "replayOf": RUN_ID})
        );
    }
}

#[wasm_bindgen_test]
async fn a_run_of_an_old_version_can_be_run_on_the_latest() {
    let mut run = full(RunStatus::Ok);
    run.run.version = Some(1);
    run.run.request = Some(RunRequest {
        method: "POST".into(),
        url: "http://ada-hello.localhost:8787/a?b=1".into(),
        status: Some(200),
    });
    run.input = Some(RunInput::Request(KeptRequest {
        method: "POST".into(),
        url: "http://ada-hello.localhost:8787/a?b=1".into(),
        headers: Vec::new(),
        body: String::new(),
        base64: false,
        size: 0,
    }));
    let server = server(&run);
    server.refuse(START, ProblemCode::OverCapacity, "every place is taken");
    let (root, _mounted) = mount_app(ADDRESS);
    until("the buttons", || {
        query_named(&root, "button", "Run on latest, v3").is_some()
    })
    .await;
    assert!(query_named(&root, "button", "Run again on v1").is_some());
    assert!(!has_text(&root, "Without what was not kept"));
    button(&root, "Run on latest, v3").click();
    until_text(&root, "Every place is taken.").await;
    let sent = server.seen(START)[0].json();
    assert_eq!(sent, json!({ "replayOf": RUN_ID }), "no version means the latest");
    assert_eq!(address(), ADDRESS);
}

#[wasm_bindgen_test]
async fn what_was_not_kept_can_not_be_given_again() {
    let mut unkept = full(RunStatus::Ok);
    unkept.run.request = Some(RunRequest {
        method: "GET".into(),
        url: "http://ada-hello.localhost:8787/".into(),
        status: Some(200),
    });
    for (run, why) in [
        (
            FullRun {
                args: Some(json!("[\"a very long")),
                truncated: Truncated {
                    args: true,
                    ..Truncated::default()
                },
                ..full(RunStatus::Ok)
            },
            "What it was given is not kept as it was",
        ),
        (
            FullRun {
                input: Some(RunInput::Email(json!({"from": "eve@example.com"}))),
                truncated: Truncated {
                    input: true,
                    ..Truncated::default()
                },
                ..full(RunStatus::Ok)
            },
            "What it was given is not kept as it was",
        ),
        (unkept, "Its request was not kept"),
    ] {
        let _server = server(&run);
        let (root, _mounted) = mount_app(ADDRESS);
        until_text(&root, why).await;
        assert!(query_named(&root, "button", "Run again").is_none());
    }
}

#[wasm_bindgen_test]
async fn a_run_whose_val_is_gone_says_so() {
    let server = server(&full(RunStatus::Ok));
    server.refuse(
        "GET /v1/vals/018f3c7e-0000-7000-8000-000000000001",
        ProblemCode::NotFound,
        "no such val",
    );
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(&root, "Its val is gone").await;
    assert!(query_named(&root, "button", "Run again").is_none());
}

#[wasm_bindgen_test]
async fn a_run_that_goes_on_is_followed_until_it_ends() {
    let server = server(&full(RunStatus::Running));
    let (root, _mounted) = mount_app(ADDRESS);
    until("the button", || query_named(&root, "button", "Cancel").is_some()).await;
    assert!(query_named(&root, "button", "Run again").is_none());
    let mut ended = full(RunStatus::Ok);
    ended.logs.push(line("the end", LogLevel::Info));
    server.on(RUN, 200, &ended);
    come_back();
    until_text(&root, "the end").await;
    assert_eq!(
        find(&root, ".run__head [role=status]").inner_text().trim(),
        "Done after 132 ms"
    );
    assert!(query_named(&root, "button", "Cancel").is_none());
    let looked = server.seen(RUN).len();
    come_back();
    assert_eq!(server.seen(RUN).len(), looked, "nothing more is to be seen");
}

#[wasm_bindgen_test]
async fn what_a_run_prints_is_shown_as_it_is_told() {
    let server = server(&full(RunStatus::Running));
    server.keep_streams();
    let (root, _mounted) = mount_app(ADDRESS);
    until("the stream", || server.streams().len() == 1).await;
    server.tell("log", "3", &line("told later", LogLevel::Info));
    until_text(&root, "told later").await;
    assert!(has_text(&root, "3 lines"));
    come_back();
    assert_eq!(server.seen(RUN).len(), 1, "who is told need not look");

    let mut ended = full(RunStatus::Ok);
    ended.logs.push(line("told later", LogLevel::Info));
    ended.return_value = Some(json!({"city": "Berlin"}));
    server.on(RUN, 200, &ended);
    server.tell("status", "end", &ended.run);
    until_text(&root, "{ city: \"Berlin\" }").await;
    assert_eq!(
        find(&root, ".run__head [role=status]").inner_text().trim(),
        "Done after 132 ms"
    );
    assert!(server.streams().is_empty());
}

#[wasm_bindgen_test]
async fn a_run_can_be_cancelled_while_it_goes_on() {
    let server = server(&full(RunStatus::Running));
    let cancel = "POST /v1/vals/018f3c7e-0000-7000-8000-000000000001/evaluations/018f3c7e-0000-7000-8000-000000000007/cancel";
    server.on(cancel, 200, &json!({"found": true}));
    let (root, _mounted) = mount_app(ADDRESS);
    until("the button", || query_named(&root, "button", "Cancel").is_some()).await;
    server.on(
        RUN,
        200,
        &FullRun {
            run: BaseRun {
                error: None,
                ..run(7, "hello", RunStatus::Cancelled)
            },
            ..full(RunStatus::Cancelled)
        },
    );
    button(&root, "Cancel").click();
    until_text(&root, "Cancelled after 132 ms").await;
    assert_eq!(server.seen(cancel).len(), 1);
}

#[wasm_bindgen_test]
async fn which_lines_are_shown_is_in_the_address() {
    let _server = server(&full(RunStatus::Ok));
    let (root, _mounted) = mount_app("/runs/018f3c7e-0000-7000-8000-000000000007?level=error");
    until_text(&root, "1 of 2 lines").await;
    assert!(!has_text(&root, "Hello, Berlin"));
    find_all(&root, ".log__level")[0].click();
    until("the address", || address() == ADDRESS).await;
    write(&find(&root, "input[type=search]"), "berlin");
    until("the address", || address().ends_with("?q=berlin")).await;
    assert!(has_text(&root, "Hello, Berlin") && !has_text(&root, "no answer"));
}

#[wasm_bindgen_test]
async fn a_run_that_is_not_there_is_not_found_and_no_run_is_asked_for_by_another_word() {
    let server = server(&full(RunStatus::Ok));
    server.refuse(RUN, ProblemCode::NotFound, "no such run");
    let (root, mounted) = mount_app(ADDRESS);
    until_text(&root, "Nothing here").await;
    drop(mounted);
    let (root, _mounted) = mount_app("/runs/yesterday");
    until_text(&root, "Nothing here").await;
    assert!(server.seen("GET /v1/runs/yesterday").is_empty());
}

#[wasm_bindgen_test]
async fn who_is_not_signed_in_is_asked_to() {
    let server = Server::start();
    server.refuse(RUN, ProblemCode::NotFound, "no such run");
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(&root, "Sign in to see this").await;
    assert!(!has_text(&root, "Nothing here"));
}

#[wasm_bindgen_test]
async fn a_server_that_is_down_is_told_and_asked_again() {
    let server = server(&full(RunStatus::Ok));
    server.refuse(RUN, ProblemCode::Unavailable, "the database can't be reached");
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(&root, "The database can't be reached.").await;
    server.on(RUN, 200, &full(RunStatus::Ok));
    button(&root, "Retry").click();
    until_text(&root, "Done after 132 ms").await;
    assert!(query(&root, "[role=alert]").is_none());
}
