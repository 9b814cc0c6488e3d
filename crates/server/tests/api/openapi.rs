//! `/v1/openapi.json` and `/docs`.

use std::collections::BTreeSet;

use axum::{body::Body, http::Method};
use serde_json::Value;

use crate::test_app::TestApp;

/// What the contract names, and ours beside it.
const ROUTES: &[&str] = &[
    "POST /v1/vals",
    "PUT /v1/vals",
    "GET /v1/vals",
    "GET /v1/vals/{val_id}",
    "PUT /v1/vals/{val_id}",
    "DELETE /v1/vals/{val_id}",
    "GET /v1/vals/{val_id}/versions",
    "POST /v1/vals/{val_id}/versions",
    "GET /v1/vals/{val_id}/versions/{version}",
    "DELETE /v1/vals/{val_id}/versions/{version}",
    "GET /v1/users/{user_id}",
    "GET /v1/users/{user_id}/vals",
    "GET /v1/alias/{username}",
    "GET /v1/alias/{username}/{val_name}",
    "GET /v1/me",
    "PUT /v1/me",
    "POST /v1/me/password",
    "GET /v1/me/tokens",
    "POST /v1/me/tokens",
    "DELETE /v1/me/tokens/{token_id}",
    "GET /v1/me/secrets",
    "PUT /v1/me/secrets/{name}",
    "DELETE /v1/me/secrets/{name}",
    "GET /v1/session",
    "POST /v1/session",
    "DELETE /v1/session",
    "GET /v1/vals/{val_id}/runs",
    "POST /v1/vals/{val_id}/runs",
    "POST /v1/vals/{val_id}/evaluations/{run_id}/cancel",
    "GET /v1/runs/{run_id}",
    "GET /v1/me/runs",
    "POST /v1/eval",
    "GET /v1/blob",
    "GET /v1/blob/{*key}",
    "POST /v1/blob/{*key}",
    "DELETE /v1/blob/{*key}",
    "POST /v1/email",
    "GET /v1/me/outbox",
    "GET /v1/me/outbox/{email_id}",
    "DELETE /v1/me/outbox/{email_id}",
    "POST /v1/sqlite/execute",
    "POST /v1/sqlite/batch",
    "GET /v1/instance",
    "POST /v1/markdown",
    "GET /healthz",
    "GET /v1/openapi.json",
    "GET /docs",
];

async fn document(app: &TestApp) -> Value {
    app.anonymous().get("/v1/openapi.json").await.value()
}

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths
        .iter()
        .flat_map(|(path, item)| {
            let item = item.as_object().expect("operations");
            item.iter()
                .map(move |(method, operation)| (method.to_uppercase(), path.clone(), operation.clone()))
        })
        .collect()
}

#[tokio::test]
async fn every_route_is_described() {
    let document = document(&TestApp::new().await).await;
    assert!(
        document["openapi"]
            .as_str()
            .is_some_and(|version| version.starts_with("3.1"))
    );
    let described: BTreeSet<String> = operations(&document)
        .into_iter()
        .map(|(method, path, _)| format!("{method} {path}"))
        .collect();
    for route in ROUTES {
        assert!(described.contains(*route), "{route} is not described");
    }
}

#[tokio::test]
async fn every_described_route_is_there() {
    let app = TestApp::new().await;
    for (method, path, operation) in operations(&document(&app).await) {
        let concrete = path
            .replace("{version}", "0")
            .split('/')
            .map(|part| {
                if part.starts_with('{') {
                    "018f3c7e-0000-7000-8000-000000000001"
                } else {
                    part
                }
            })
            .collect::<Vec<_>>()
            .join("/");
        let method: Method = method.parse().expect("a method");
        let answer = app
            .anonymous()
            .send(method.clone(), &concrete, Body::empty())
            .await;
        if !answer.status.is_success() {
            let problem = answer.problem();
            assert_ne!(problem.message, "no such address", "{method} {path}");
            assert_ne!(answer.status, 405, "{method} {path}");
        }
        for part in ["summary", "operationId"] {
            assert!(
                operation[part].as_str().is_some_and(|text| !text.is_empty()),
                "{method} {path} has no {part}"
            );
        }
        assert!(operation["tags"][0].is_string(), "{method} {path} is in no group");
    }
}

#[tokio::test]
async fn every_reference_leads_somewhere_and_every_operation_has_its_own_id() {
    let document = document(&TestApp::new().await).await;
    let mut references = Vec::new();
    collect_references(&document, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference
            .strip_prefix('#')
            .expect("a reference within the document");
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    let operations = operations(&document);
    let ids: BTreeSet<_> = operations
        .iter()
        .map(|(_, _, operation)| operation["operationId"].to_string())
        .collect();
    assert_eq!(ids.len(), operations.len());
}

fn collect_references(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            into.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| collect_references(field, into));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, into)),
        _ => {}
    }
}

#[tokio::test]
async fn the_page_for_people_names_every_route_and_loads_nothing() {
    let app = TestApp::new().await;
    let page = app.anonymous().get("/docs").await;
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(
        page.header("content-security-policy")
            .contains("default-src 'none'")
    );
    let html = page.text();
    assert!(!html.contains("<script") && !html.contains("src="));
    for (method, path, operation) in operations(&document(&app).await) {
        assert!(html.contains(&format!("{method} {path}")), "{method} {path}");
        let tag = operation["tags"][0].as_str().expect("a group");
        assert!(
            html.contains(&format!("<section id=\"{tag}\"")),
            "{tag} has no section"
        );
    }
}
