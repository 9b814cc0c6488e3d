//! `/v1/session`: signing in and out of the web app.

use axum::http::StatusCode;
use hamlet_models::{NewVal, Privacy, ProblemCode, Scopes};
use hamlet_server::config::Settings;
use hamlet_store::hash_secret;
use serde_json::json;

use crate::test_app::{Answer, Client, TestApp};

const PASSWORD: &str = "correct horse battery";

/// The same person with the cookie that the answer set, on this instance's own pages.
fn with_cookie_of(client: &Client, answer: &Answer) -> Client {
    let cookie = answer
        .header("set-cookie")
        .split(';')
        .next()
        .expect("a cookie")
        .to_owned();
    client
        .with("cookie", &cookie)
        .with("sec-fetch-site", "same-origin")
}

#[tokio::test]
async fn a_name_and_password_open_a_session_until_it_is_ended() {
    let app = TestApp::new().await;
    app.user_with_password("Ada", Some(PASSWORD)).await;
    let answer = app
        .anonymous()
        .post("/v1/session", &json!({"username": "ada", "password": PASSWORD}))
        .await;
    assert_eq!(answer.value()["username"], "Ada");
    let cookie = answer.header("set-cookie");
    for part in ["hamlet_session=", "HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "this instance is reached by http");

    let browser = with_cookie_of(&app.anonymous(), &answer);
    assert_eq!(browser.get("/v1/me").await.value()["hasPassword"], true);
    assert_eq!(browser.get("/v1/session").await.value()["username"], "Ada");
    let ended = browser.delete("/v1/session").await;
    ended.nothing();
    assert!(ended.header("set-cookie").contains("Max-Age=0"));
    browser.get("/v1/me").await.refused(ProblemCode::SignedOut);
    assert!(
        browser.get("/v1/session").await.value().is_null(),
        "nobody is no failure"
    );
    assert_eq!(
        browser.get("/v1/vals").await.status,
        StatusCode::OK,
        "a session that is over makes a stranger"
    );
}

#[tokio::test]
async fn the_cookie_is_for_https_alone_where_the_instance_is() {
    let settings = Settings {
        base_url: Some("https://vals.example.com".into()),
        ..Settings::default()
    };
    let app = TestApp::with_settings(settings).await;
    app.user_with_password("ada", Some(PASSWORD)).await;
    let answer = app
        .anonymous()
        .post("/v1/session", &json!({"username": "ada", "password": PASSWORD}))
        .await;
    let cookie = answer.header("set-cookie");
    assert!(
        cookie.starts_with("__Host-hamlet_session=") && cookie.contains("; Secure"),
        "{cookie}"
    );
    let browser = with_cookie_of(&app.anonymous(), &answer);
    assert_eq!(browser.get("/v1/session").await.value()["username"], "ada");
    let planted = cookie
        .trim_start_matches("__Host-")
        .split(';')
        .next()
        .expect("a cookie");
    let browser = browser.with("cookie", planted);
    assert!(
        browser.get("/v1/session").await.value().is_null(),
        "any host of the domain may set that one"
    );
    let browser = with_cookie_of(&app.anonymous(), &answer);
    let ended = browser.delete("/v1/session").await;
    ended.nothing();
    assert!(ended.header("set-cookie").starts_with("__Host-hamlet_session=;"));
    assert!(browser.get("/v1/session").await.value().is_null());
}

#[tokio::test]
async fn every_wrong_way_in_looks_the_same() {
    let app = TestApp::new().await;
    app.user_with_password("ada", Some(PASSWORD)).await;
    app.user("nopassword").await;
    let mut answers = Vec::new();
    for (username, password) in [
        ("ada", "wrong password"),
        ("nobody", PASSWORD),
        ("nopassword", ""),
        ("", ""),
    ] {
        let answer = app
            .anonymous()
            .post(
                "/v1/session",
                &json!({"username": username, "password": password}),
            )
            .await;
        answer.refused(ProblemCode::BadCredentials);
        assert_eq!(answer.header("set-cookie"), "");
        answers.push(answer.body);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "the answers tell nothing apart");
    for body in [
        json!({}),
        json!({"username": "ada"}),
        json!({"username": 1, "password": "x"}),
        json!([]),
    ] {
        let problem = app
            .anonymous()
            .post("/v1/session", &body)
            .await
            .refused(ProblemCode::Invalid);
        assert!(
            problem.message.contains("username and password"),
            "{}",
            problem.message
        );
    }
}

#[tokio::test]
async fn guessing_is_slowed_down() {
    let app = TestApp::new().await;
    app.user_with_password("ada", Some(PASSWORD)).await;
    let attempt = async |password: &str| {
        app.anonymous()
            .post("/v1/session", &json!({"username": "Ada", "password": password}))
            .await
    };
    for _ in 0..10 {
        attempt("a wrong guess")
            .await
            .refused(ProblemCode::BadCredentials);
    }
    let answer = attempt(PASSWORD).await;
    answer.refused(ProblemCode::TooManyRequests);
    let seconds: u64 = answer.header("retry-after").parse().expect("seconds");
    assert!(seconds > 0);
}

#[tokio::test]
async fn a_token_opens_a_session_that_does_no_more_and_ends_with_it() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let scopes: Scopes = ["user:read", "user:write"]
        .iter()
        .map(|scope| scope.parse().expect("a scope"))
        .collect();
    let made = ada
        .post("/v1/me/tokens", &json!({"name": "browser", "scopes": scopes}))
        .await
        .value();
    let secret = made["secret"].as_str().expect("a secret");

    let answer = app
        .anonymous()
        .post("/v1/session", &json!({"token": secret}))
        .await;
    assert_eq!(answer.value()["username"], "ada");
    let browser = with_cookie_of(&app.anonymous(), &answer);
    assert_eq!(browser.get("/v1/me").await.value()["username"], "ada");
    browser
        .post("/v1/vals", &NewVal::of_code("1"))
        .await
        .refused(ProblemCode::MissingScope);

    ada.delete(&format!("/v1/me/tokens/{}", made["id"].as_str().expect("an id")))
        .await
        .nothing();
    browser.get("/v1/me").await.refused(ProblemCode::SignedOut);
    app.anonymous()
        .post("/v1/session", &json!({"token": secret}))
        .await
        .refused(ProblemCode::BadCredentials);
}

#[tokio::test]
async fn a_link_opens_one_session() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let soon = hamlet_server::clock::after(std::time::Duration::from_secs(60));
    app.store
        .create_sign_in_link(ada.id, hash_secret("the-link"), soon)
        .await
        .expect("a link");
    app.store
        .create_sign_in_link(ada.id, hash_secret("too-late"), hamlet_server::clock::now())
        .await
        .expect("a link");

    let answer = app
        .anonymous()
        .post("/v1/session", &json!({"link": "the-link"}))
        .await;
    assert_eq!(answer.value()["username"], "ada");
    assert_eq!(
        with_cookie_of(&app.anonymous(), &answer)
            .get("/v1/me")
            .await
            .value()["hasPassword"],
        false
    );
    for link in ["the-link", "too-late", "made-up", ""] {
        app.anonymous()
            .post("/v1/session", &json!({"link": link}))
            .await
            .refused(ProblemCode::BadCredentials);
    }
}

#[tokio::test]
async fn another_site_can_not_act_with_the_session() {
    let app = TestApp::new().await;
    app.user_with_password("ada", Some(PASSWORD)).await;
    let sign_in = json!({"username": "ada", "password": PASSWORD});
    let answer = app.anonymous().post("/v1/session", &sign_in).await;
    let cookie = answer
        .header("set-cookie")
        .split(';')
        .next()
        .expect("a cookie")
        .to_owned();
    let browser = app.anonymous().with("cookie", &cookie);

    for (header, value, may_write, may_read) in [
        ("sec-fetch-site", "same-origin", true, true),
        ("sec-fetch-site", "same-site", false, false),
        ("sec-fetch-site", "cross-site", false, false),
        ("sec-fetch-site", "none", false, true),
        ("origin", "http://hamlet.test", true, true),
        ("origin", "https://hamlet.test", false, false),
        ("origin", "http://hamlet.test.evil.example", false, false),
        ("origin", "http://ada-hello.hamlet.test", false, false),
        ("origin", "null", false, false),
        ("x-nothing", "said", false, true),
    ] {
        let page = browser.with(header, value);
        let written = page.post("/v1/vals", &NewVal::of_code("1")).await;
        let read = page.get("/v1/me").await;
        for (answer, allowed) in [(written, may_write), (read, may_read)] {
            if allowed {
                assert!(answer.status.is_success(), "{header}: {value}: {}", answer.text());
            } else {
                answer.refused(ProblemCode::CrossSite);
            }
        }
    }
    let foreign = app.anonymous().with("sec-fetch-site", "cross-site");
    foreign
        .post("/v1/session", &sign_in)
        .await
        .refused(ProblemCode::CrossSite);
    let token = app
        .user("eve")
        .await
        .with("sec-fetch-site", "cross-site")
        .with("origin", "https://elsewhere.example");
    token.create_val("fine", Privacy::Private).await;
}
