//! `/v1/sqlite`: every account's own database.

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use hamlet_models::ProblemCode;
use hamlet_server::auth::{SQLITE_READ, SQLITE_WRITE, VAL_READ};
use serde_json::json;

use crate::test_app::TestApp;

const EXECUTE: &str = "/v1/sqlite/execute";
const BATCH: &str = "/v1/sqlite/batch";

#[tokio::test]
async fn a_statement_answers_columns_types_and_rows_as_lists() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let made = ada
        .post(
            EXECUTE,
            &json!({"statement": "create table notes (id integer primary key, body text)"}),
        )
        .await;
    assert_eq!(made.status, StatusCode::OK);
    let statement = json!({"sql": "insert into notes (body) values (?), (?)", "args": ["one", "two"]});
    let inserted = ada
        .post(EXECUTE, &json!({ "statement": statement }))
        .await
        .value();
    assert_eq!(
        (&inserted["rowsAffected"], &inserted["lastInsertRowid"]),
        (&json!(2), &json!(2))
    );
    for args in [json!({"body": "two"}), json!({":body": "two"})] {
        let statement = json!({"sql": "select id, body from notes where body = :body", "args": args});
        assert_eq!(
            ada.post(EXECUTE, &json!({ "statement": statement }))
                .await
                .value(),
            json!({
                "columns": ["id", "body"], "columnTypes": ["INTEGER", "TEXT"], "rows": [[2, "two"]],
                "rowsAffected": 0, "lastInsertRowid": 2,
            })
        );
    }
}

#[tokio::test]
async fn a_number_comes_back_as_it_was_sent() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let sent = json!([
        123_456_789.123_456_79,
        0.1,
        5e-324,
        1.797_693_134_862_315_7e308,
        -1
    ]);
    let statement = json!({"sql": "select ?, ?, ?, ?, ?", "args": sent});
    let answered = ada
        .post(EXECUTE, &json!({ "statement": statement }))
        .await
        .value();
    assert_eq!(answered["rows"][0].to_string(), sent.to_string());
}

#[tokio::test]
async fn a_batch_is_one_transaction_in_each_mode() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let statements = json!(["create table t (a unique)", {"sql": "insert into t values (?)", "args": [1]}]);
    let done = ada
        .post(BATCH, &json!({"statements": statements, "mode": "write"}))
        .await
        .value();
    assert_eq!(
        (done.as_array().map(Vec::len), &done[1]["rowsAffected"]),
        (Some(2), &json!(1))
    );

    let conflict = json!({"statements": ["insert into t values (2)", "insert into t values (1)"]});
    let problem = ada.post(BATCH, &conflict).await.refused(ProblemCode::Invalid);
    assert!(problem.message.contains("UNIQUE"), "{}", problem.message);
    let writes = json!({"statements": ["insert into t values (3)"], "mode": "read"});
    ada.post(BATCH, &writes).await.refused(ProblemCode::Invalid);
    let reads = json!({"statements": ["select a from t"], "mode": "read"});
    assert_eq!(ada.post(BATCH, &reads).await.value()[0]["rows"], json!([[1]]));
}

#[tokio::test]
async fn the_body_is_json_whatever_it_says() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = r#"{"statement": "select 1"}"#;
    for content_type in ["application/json", "text/plain", "application/octet-stream"] {
        let answer = ada
            .with("content-type", content_type)
            .send(Method::POST, EXECUTE, Body::from(body))
            .await;
        assert_eq!(answer.value()["rows"], json!([[1]]), "{content_type}");
    }
    ada.send(Method::POST, EXECUTE, Body::from(body)).await.value();
    for body in ["", "select 1", "{}", r#"{"statement": 1}"#] {
        let refused = ada.send(Method::POST, EXECUTE, Body::from(body)).await;
        assert_eq!(refused.problem().code.status(), 400, "{body:?}");
    }
}

#[tokio::test]
async fn an_account_is_alone_with_its_database() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    ada.post(EXECUTE, &json!({"statement": "create table mine (a)"}))
        .await
        .value();
    let problem = eve
        .post(EXECUTE, &json!({"statement": "select * from mine"}))
        .await
        .refused(ProblemCode::Invalid);
    assert!(problem.message.contains("no such table"));
    for path in [EXECUTE, BATCH] {
        app.anonymous()
            .post(path, &json!({}))
            .await
            .refused(ProblemCode::SignedOut);
    }
    let files = json!({"statement": "attach database '/etc/passwd' as other"});
    ada.post(EXECUTE, &files).await.refused(ProblemCode::Invalid);
}

#[tokio::test]
async fn a_token_that_may_only_read_changes_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.post(EXECUTE, &json!({"statement": "create table t (a)"}))
        .await
        .value();
    let reader = app.token(&ada, [SQLITE_READ].into_iter().collect()).await;
    let insert = json!({"statement": "insert into t values (1)"});
    let batch = |mode: &str| json!({"statements": ["insert into t values (1)"], "mode": mode});
    reader
        .post(EXECUTE, &insert)
        .await
        .refused(ProblemCode::MissingScope);
    for mode in ["deferred", "write", "read"] {
        reader
            .post(BATCH, &batch(mode))
            .await
            .refused(ProblemCode::MissingScope);
    }
    let count = json!({"statement": "select count(*) from t"});
    assert_eq!(reader.post(EXECUTE, &count).await.value()["rows"], json!([[0]]));
    for scope in [SQLITE_WRITE, VAL_READ] {
        let other = app.token(&ada, [scope].into_iter().collect()).await;
        other
            .post(EXECUTE, &count)
            .await
            .refused(ProblemCode::MissingScope);
    }
}
