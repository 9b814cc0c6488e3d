//! `/v1/instance`, `/v1/markdown` and `/healthz`.

use axum::http::StatusCode;
use hamlet_models::{Instance, InstanceLimits, ProblemCode};
use hamlet_server::config::Settings;
use serde_json::json;

use crate::test_app::TestApp;

#[tokio::test]
async fn the_instance_tells_its_limits() {
    let app = TestApp::new().await;
    let instance: Instance = app.anonymous().get("/v1/instance").await.json();
    assert_eq!(instance.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(instance.vals_domain, "localhost:8787");
    let InstanceLimits { runs, sql, email, .. } = instance.limits;
    assert_eq!((runs.wall_seconds, runs.memory_mb), (60, 256));
    assert_eq!((sql.seconds, sql.memory_mb, sql.database_mb), (10, 256, 1_024));
    assert_eq!((email.incoming_mb, email.waiting), (30, 1_000));
}

#[tokio::test]
async fn the_limits_are_the_settings_in_force() {
    let settings = Settings {
        wall_seconds: Some(7),
        blobs_mb: Some(8),
        keep_runs_days: Some(9),
        ..Settings::default()
    };
    let app = TestApp::with_settings(settings).await;
    let limits = app.anonymous().get("/v1/instance").await.value()["limits"].take();
    assert_eq!(
        (
            &limits["wallSeconds"],
            &limits["blobsMb"],
            &limits["keepRunsDays"]
        ),
        (&json!(7), &json!(8), &json!(9))
    );
}

#[tokio::test]
async fn health_is_the_databases() {
    let app = TestApp::new().await;
    assert_eq!(
        app.anonymous().get("/healthz").await.value(),
        json!({"status": "ok"})
    );
    app.store.close().await.expect("closed");
    let answer = app.anonymous().get("/healthz").await;
    answer.refused(ProblemCode::Unavailable);
    assert!(!answer.header("retry-after").is_empty());
}

#[tokio::test]
async fn markdown_is_rendered_without_what_acts() {
    let app = TestApp::new().await;
    for text in [
        "# Hi <script>alert(1)</script>".to_owned(),
        format!("# Hi <script>alert(1)</script>{}", " x".repeat(10_000)),
    ] {
        let html = app
            .anonymous()
            .post("/v1/markdown", &json!({"markdown": text}))
            .await
            .value();
        let html = html["html"].as_str().expect("HTML");
        assert!(html.starts_with("<h1>Hi") && !html.contains("script"), "{html}");
    }
    // Quotes in quotes took seconds: what makes HTML safe looks through all that is open.
    for refused in ["a".repeat(64_001), ">".repeat(64_000)] {
        let problem = app
            .anonymous()
            .post("/v1/markdown", &json!({"markdown": refused}))
            .await
            .refused(ProblemCode::Invalid);
        assert_eq!(problem.details[0].path, "markdown");
    }
    assert_eq!(
        app.anonymous()
            .post("/v1/markdown", &json!({"markdown": "a".repeat(64_000)}))
            .await
            .status,
        StatusCode::OK
    );
}
