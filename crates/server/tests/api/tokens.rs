//! `/v1/me/tokens`.

use axum::http::StatusCode;
use hamlet_models::{CreatedToken, Page, ProblemCode, Scopes, Token};
use serde_json::json;

use crate::test_app::TestApp;

#[tokio::test]
async fn a_token_is_shown_once_works_and_is_revoked_at_once() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let answer = ada.post("/v1/me/tokens", &json!({"name": "CI"})).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    let made: CreatedToken = answer.json();
    assert!(
        made.secret.starts_with("hmlt_") && made.secret.len() >= 5 + 27,
        "at least 160 bits"
    );
    assert_eq!(made.token.scopes, Scopes::all());

    let listed = ada.get("/v1/me/tokens").await;
    assert!(
        !listed.text().contains(&made.secret),
        "the secret is never shown again"
    );
    let listed: Page<Token> = listed.json();
    assert_eq!(listed.data[0], made.token);

    let client = app.anonymous().with_token(&made.secret);
    assert_eq!(client.get("/v1/me").await.value()["username"], "ada");
    let path = format!("/v1/me/tokens/{}", made.token.id);
    ada.delete(&path).await.nothing();
    client.get("/v1/me").await.refused(ProblemCode::BadToken);
    client.get("/v1/vals").await.refused(ProblemCode::BadToken);
    ada.delete(&path).await.refused(ProblemCode::NotFound);
}

#[tokio::test]
async fn an_expired_token_is_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (expires_at, code) in [
        ("2020-01-01T00:00:00Z", ProblemCode::Invalid),
        ("tomorrow", ProblemCode::Invalid),
    ] {
        let problem = ada
            .post("/v1/me/tokens", &json!({"name": "x", "expiresAt": expires_at}))
            .await
            .refused(code);
        assert_eq!(problem.details[0].path, "expiresAt");
    }
    let new =
        serde_json::from_value(json!({"name": "old", "expiresAt": "2020-01-01T00:00:00Z"})).expect("a token");
    let hash = hamlet_store::hash_secret("hmlt_old");
    app.store.create_token(ada.id, &new, hash).await.expect("a token");
    app.anonymous()
        .with_token("hmlt_old")
        .get("/v1/vals")
        .await
        .refused(ProblemCode::BadToken);
}

#[tokio::test]
async fn a_token_makes_no_other_that_may_do_more() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let scopes = ["user:read", "user:write"]
        .iter()
        .map(|scope| scope.parse().expect("a scope"))
        .collect();
    let limited = app.token(&ada, scopes).await;
    for body in [
        json!({"name": "x"}),
        json!({"name": "x", "scopes": ["user:read", "val:write"]}),
    ] {
        limited
            .post("/v1/me/tokens", &body)
            .await
            .refused(ProblemCode::MissingScope);
    }
    let fine = limited
        .post("/v1/me/tokens", &json!({"name": "x", "scopes": ["user:read"]}))
        .await;
    assert_eq!(fine.status, StatusCode::CREATED);
}

#[tokio::test]
async fn anothers_tokens_are_out_of_reach() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let made: CreatedToken = ada.post("/v1/me/tokens", &json!({"name": "mine"})).await.json();
    eve.delete(&format!("/v1/me/tokens/{}", made.token.id))
        .await
        .refused(ProblemCode::NotFound);
    let listed: Page<Token> = eve.get("/v1/me/tokens").await.json();
    assert!(listed.data.iter().all(|token| token.id != made.token.id));
    app.anonymous()
        .get("/v1/me/tokens")
        .await
        .refused(ProblemCode::SignedOut);
    assert_eq!(
        app.anonymous()
            .with_token(&made.secret)
            .get("/v1/me")
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_token_with_a_bad_name_or_scope_is_not_made() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (body, path) in [
        (json!({"name": ""}), "name"),
        (json!({"name": "a".repeat(65)}), "name"),
        (json!({"name": "a\nb"}), "name"),
        (json!({"name": "x", "scopes": ["val:destroy"]}), "scopes[0]"),
        (json!({"name": "x", "scopes": "val:read"}), "scopes"),
    ] {
        let problem = ada
            .post("/v1/me/tokens", &body)
            .await
            .refused(ProblemCode::Invalid);
        assert_eq!(problem.details[0].path, path, "{problem:?}");
    }
    let listed: Page<Token> = ada.get("/v1/me/tokens").await.json();
    assert_eq!(listed.data.len(), 1, "the test's own");
}
