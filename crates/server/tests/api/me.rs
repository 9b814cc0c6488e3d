//! `/v1/me` and `/v1/me/password`.

use axum::http::StatusCode;
use hamlet_models::{ExtendedVal, Privacy, ProblemCode, Scopes};
use serde_json::{Value, json};

use crate::test_app::TestApp;

#[tokio::test]
async fn the_caller_sees_what_only_they_may() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let me = ada.get("/v1/me").await.value();
    for (field, expected) in [
        ("id", json!(ada.id)),
        ("username", json!("ada")),
        ("bio", Value::Null),
        ("profileImageUrl", Value::Null),
        ("url", json!("http://hamlet.test/u/ada")),
        (
            "links",
            json!({"self": format!("http://hamlet.test/v1/users/{}", ada.id)}),
        ),
        ("email", Value::Null),
        ("tier", Value::Null),
        ("admin", json!(false)),
        ("hasPassword", json!(false)),
    ] {
        assert_eq!(me.get(field), Some(&expected), "{field}");
    }
    app.anonymous()
        .get("/v1/me")
        .await
        .refused(ProblemCode::SignedOut);
}

#[tokio::test]
async fn a_profile_is_changed_field_by_field() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let update =
        json!({"bio": "mathematician", "email": "ada@example.com", "profileImageUrl": "https://x/y.png"});
    let me = ada.put("/v1/me", &update).await.value();
    assert_eq!(
        (&me["bio"], &me["email"]),
        (&json!("mathematician"), &json!("ada@example.com"))
    );
    let me = ada.put("/v1/me", &json!({"email": null})).await.value();
    assert_eq!(
        (&me["bio"], &me["email"]),
        (&json!("mathematician"), &Value::Null)
    );
    assert_eq!(ada.get("/v1/me").await.value(), me);
    let seen = app
        .anonymous()
        .get(&format!("/v1/users/{}", ada.id))
        .await
        .value();
    assert_eq!(seen["bio"], "mathematician");
    assert!(seen.get("email").is_none(), "an address is the owner's to see");
}

#[tokio::test]
async fn a_new_username_moves_every_address() {
    let app = TestApp::new().await;
    let (ada, _eve) = (app.user("ada").await, app.user("eve").await);
    let val = ada.create_val("hello", Privacy::Public).await;
    ada.put("/v1/me", &json!({"username": "EVE"}))
        .await
        .refused(ProblemCode::NameTaken);
    assert_eq!(
        ada.put("/v1/me", &json!({"username": "countess"})).await.status,
        StatusCode::OK
    );
    ada.get("/v1/alias/ada/hello")
        .await
        .refused(ProblemCode::NotFound);
    let moved: ExtendedVal = app.anonymous().get("/v1/alias/countess/hello").await.json();
    assert_eq!(
        (moved.id, moved.url.as_str()),
        (val.id, "http://hamlet.test/v/countess/hello")
    );
    assert_eq!(
        moved.author.as_ref().map(|author| author.username.as_str()),
        Some("countess")
    );
}

#[tokio::test]
async fn a_bad_profile_changes_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (update, path) in [
        (json!({"bio": "x", "username": "@ada"}), "username"),
        (json!({"bio": "x", "username": "std"}), "username"),
        (json!({"bio": "a".repeat(501)}), "bio"),
        (json!({"bio": "x", "email": "nowhere"}), "email"),
        (
            json!({"bio": "x", "profileImageUrl": "javascript:alert(1)"}),
            "profileImageUrl",
        ),
    ] {
        let problem = ada.put("/v1/me", &update).await.refused(ProblemCode::Invalid);
        assert_eq!(problem.details[0].path, path, "{problem:?}");
    }
    assert_eq!(ada.get("/v1/me").await.value()["bio"], Value::Null);
}

#[tokio::test]
async fn a_password_is_set_once_freely_and_changed_by_who_knows_it() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let sign_in = async |password: &str| {
        app.anonymous()
            .post("/v1/session", &json!({"username": "ada", "password": password}))
            .await
    };
    let change = async |body: Value| ada.post("/v1/me/password", &body).await;

    let problem = change(json!({"new": "short"}))
        .await
        .refused(ProblemCode::Invalid);
    assert_eq!(problem.details[0].path, "new");
    change(json!({"new": "the first password"})).await.nothing();
    assert_eq!(ada.get("/v1/me").await.value()["hasPassword"], true);
    let session = sign_in("the first password").await;
    assert_eq!(session.status, StatusCode::OK);

    for wrong in [
        json!({"new": "the second password"}),
        json!({"current": "wrong", "new": "the second password"}),
    ] {
        let problem = change(wrong).await.refused(ProblemCode::Invalid);
        assert_eq!(problem.details[0].path, "current");
    }
    let cookie = session
        .header("set-cookie")
        .split(';')
        .next()
        .expect("a cookie")
        .to_owned();
    let browser = app
        .anonymous()
        .with("cookie", &cookie)
        .with("sec-fetch-site", "same-origin");
    let other = sign_in("the first password").await;
    let other_cookie = other
        .header("set-cookie")
        .split(';')
        .next()
        .expect("a cookie")
        .to_owned();
    let changed = browser
        .post(
            "/v1/me/password",
            &json!({"current": "the first password", "new": "the second password"}),
        )
        .await;
    changed.nothing();

    sign_in("the first password")
        .await
        .refused(ProblemCode::BadCredentials);
    assert_eq!(sign_in("the second password").await.status, StatusCode::OK);
    let elsewhere = app.anonymous().with("cookie", &other_cookie);
    elsewhere.get("/v1/me").await.refused(ProblemCode::SignedOut);
    let new_cookie = changed
        .header("set-cookie")
        .split(';')
        .next()
        .expect("a cookie")
        .to_owned();
    let here = app.anonymous().with("cookie", &new_cookie);
    assert_eq!(
        here.get("/v1/me").await.status,
        StatusCode::OK,
        "who changed it stays signed in"
    );
}

#[tokio::test]
async fn a_token_that_may_not_do_everything_sets_no_first_password() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let scopes = Scopes::all().without(&["blob:write".parse().expect("a scope")]);
    let limited = app.token(&ada, scopes).await;
    let new = json!({"new": "the first password"});
    let problem = limited
        .post("/v1/me/password", &new)
        .await
        .refused(ProblemCode::MissingScope);
    assert!(problem.message.contains("blob:write"), "{}", problem.message);
    ada.post("/v1/me/password", &new).await.nothing();
}
