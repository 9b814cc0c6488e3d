//! What visitors of an HTTP val are answered when its run fails.

use axum::http::{Method, StatusCode, header};
use hamlet_models::{BaseRun, Page, Privacy, RunStatus};
use hamlet_server::config::Settings;
use serde_json::{Value, json};

use crate::{
    gateway::{at, end_of, page, visit},
    test_app::TestApp,
};

#[tokio::test]
async fn whatever_ends_a_run_its_visitor_is_told_and_nothing_is_sent_again() {
    let settings = Settings {
        wall_seconds: Some(1),
        memory_mb: Some(64),
        ..Settings::default()
    };
    let app = TestApp::running_with(settings).await;
    let ada = app.user("ada").await;
    for (name, code, status, title, message) in [
        (
            "slow",
            "export default () => new Promise(() => setInterval(() => {}, 1000));",
            RunStatus::Timeout,
            "This val took too long",
            "1 s that a run may take",
        ),
        (
            "greedy",
            "export default () => { const held = []; for (;;) held.push(new Array(1_000_000).fill(1)); };",
            RunStatus::OutOfMemory,
            "This val ran out of memory",
            "64 MB of memory",
        ),
        (
            "leaves",
            "export default () => Deno.exit(7);",
            RunStatus::Error,
            "This val failed",
            "exit code 7",
        ),
    ] {
        page(&ada, name, Privacy::Public, code).await;
        let ask = || at(Method::POST, &format!("ada-{name}"), "/");
        let answer = visit(&app, ask().header(header::AUTHORIZATION, ada.authorization())).await;
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{name}");
        assert_eq!(answer.header("x-should-retry"), "false", "{name}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{name}");
        let text = answer.text();
        assert!(text.contains(&format!("<h1>{title}</h1>")), "{name}: {text}");
        assert!(text.contains(message), "{name}: {text}");

        let runs: Page<BaseRun> = ada.get("/v1/me/runs").await.json();
        let (ended, run) = end_of(&ada, &runs.data[0]).await;
        assert_eq!(ended, status, "{name}");
        assert_eq!(
            run.request.as_ref().and_then(|request| request.status),
            Some(502),
            "{name}"
        );

        let strangers = visit(&app, ask().header(header::ACCEPT, "application/json")).await;
        assert_eq!(strangers.status, StatusCode::BAD_GATEWAY, "{name}");
        assert_eq!(strangers.header("x-should-retry"), "false", "{name}");
        let problem: Value = serde_json::from_str(strangers.text()).expect("JSON");
        let code = if status == RunStatus::Timeout {
            "run_timed_out"
        } else {
            "run_failed"
        };
        assert_eq!(
            (&problem["code"], problem.get("stack")),
            (&json!(code), None),
            "{name}"
        );
        let page = visit(&app, ask()).await;
        assert!(
            !page.text().contains("<pre>"),
            "the stack is the owner's: {}",
            page.text()
        );
    }
}
