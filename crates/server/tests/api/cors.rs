//! Pages of other sites and HTTP vals: what their browsers ask first, and what they are answered.

use axum::http::{Method, StatusCode, header, request::Builder};
use hamlet_models::{BaseRun, Page, Privacy, RunStatus};

use crate::{
    gateway::{at, end_of, page, runs_of, visit},
    test_app::TestApp,
};

const ORIGINS: &str = "access-control-allow-origin";
const CREDENTIALS: &str = "access-control-allow-credentials";

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

#[tokio::test]
async fn what_is_answered_in_a_vals_place_can_be_read_by_any_page() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let broken = "export default () => { throw new Error('no'); };";
    page(&ada, "broken", Privacy::Public, broken).await;
    let secret = page(&ada, "secret", Privacy::Private, broken).await;
    for (label, status) in [
        ("ada-broken", StatusCode::BAD_GATEWAY),
        ("ada-secret", StatusCode::NOT_FOUND),
        ("ada-missing", StatusCode::NOT_FOUND),
    ] {
        let from = at(Method::GET, label, "/").header(header::ORIGIN, "https://example.com");
        let answer = visit(&app, from).await;
        assert_eq!((answer.status, answer.header(ORIGINS)), (status, "*"), "{label}");
        assert!(!answer.headers.contains_key(CREDENTIALS), "{label}");

        let asked = visit(&app, ask(label)).await;
        assert_eq!(
            (asked.status, asked.text()),
            (StatusCode::NO_CONTENT, ""),
            "{label}"
        );
        assert_eq!(asked.header(ORIGINS), "*", "{label}");
        assert_eq!(asked.header("access-control-allow-headers"), "x-one", "{label}");
        assert_eq!(
            asked.header("access-control-allow-methods"),
            "GET, HEAD, PUT, PATCH, POST, DELETE",
            "{label}"
        );
        assert!(!asked.headers.contains_key(CREDENTIALS), "{label}");
    }
    assert!(
        runs_of(&ada, &secret).await.is_empty(),
        "a stranger's question runs no private val"
    );
}
