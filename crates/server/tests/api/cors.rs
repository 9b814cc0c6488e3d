//! Pages of other sites and HTTP vals: what their browsers ask first, and what they are answered.

use axum::http::{Method, StatusCode, header, request::Builder};
use hamlet_models::{BaseRun, Page, Privacy, RunStatus};

use crate::{
    gateway::{at, end_of, page, visit},
    test_app::TestApp,
};

/// What a browser asks before it sends a request for a page of another site.
fn ask(label: &str) -> Builder {
    at(Method::OPTIONS, label, "/")
        .header(header::ORIGIN, "https://example.com")
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, "PUT")
        .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "x-one")
}

#[tokio::test]
async fn a_preflight_leaves_the_run_that_its_val_made_of_it() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let endless = "export default () => new Response(new ReadableStream({ pull(stream) {
      stream.enqueue(new Uint8Array(100_000));
    } }));";
    let parts = "export default () => new Response(new ReadableStream({ async start(stream) {
      for (let part = 0; part < 3; part++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        stream.enqueue(new TextEncoder().encode('part'));
      }
      stream.close();
    } }));";
    for (name, code, status) in [
        (
            "whole",
            "export default () => new Response('hello');",
            RunStatus::Ok,
        ),
        ("empty", "export default () => new Response();", RunStatus::Ok),
        ("parts", parts, RunStatus::Ok),
        ("endless", endless, RunStatus::Cancelled),
        (
            "broken",
            "export default () => { throw new Error('no'); };",
            RunStatus::Error,
        ),
    ] {
        page(&ada, name, Privacy::Public, code).await;
        let answer = visit(&app, ask(&format!("ada-{name}"))).await;
        assert_eq!(
            (answer.status, answer.text()),
            (StatusCode::NO_CONTENT, ""),
            "{name}"
        );
        let runs: Page<BaseRun> = ada.get("/v1/me/runs").await.json();
        assert_eq!(end_of(&ada, &runs.data[0]).await.0, status, "{name}");
    }
}
