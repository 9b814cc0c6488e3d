//! How the owner's browser opens a private HTTP val, and when that ends.

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use hamlet_models::{ExtendedVal, Privacy, ProblemCode, ValKind};
use hamlet_server::config::Settings;
use serde_json::json;

use crate::test_app::{Answer, Client, TestApp};

const PASSWORD: &str = "correct horse battery";
const SAYS_ITS_COOKIES: &str =
    "export default (request: Request) => new Response(`cookies: ${request.headers.get(\"cookie\")}`);";

async fn private_page(ada: &Client, name: &str) -> ExtendedVal {
    ada.write_val(name, ValKind::Http, Privacy::Private, SAYS_ITS_COOKIES)
        .await
}

/// The address with a pass, below the val's host, that this caller is led to.
async fn address(caller: &Client, val: &ExtendedVal) -> String {
    let opened = caller.get(&format!("/v1/vals/{}/open", val.id)).await;
    assert_eq!(opened.status, StatusCode::FOUND, "{}", opened.text());
    let endpoint = val.links.endpoint.as_deref().expect("an HTTP val");
    let address = opened.header("location").strip_prefix(endpoint);
    address.expect("the val's host").to_owned()
}

fn cookie_of(answer: &Answer) -> String {
    let cookie = answer.header("set-cookie").split(';').next();
    cookie.expect("a cookie").to_owned()
}

/// A stranger's browser at this val's host.
fn browser_at(app: &TestApp, val: &str) -> Client {
    app.anonymous().with("host", &format!("ada-{val}.localhost:8787"))
}

/// The same browser once it was let in.
async fn let_in(app: &TestApp, caller: &Client, val: &ExtendedVal) -> Client {
    let browser = browser_at(app, val.val.name.as_str());
    let entered = browser.get(&address(caller, val).await).await;
    browser.with("cookie", &cookie_of(&entered))
}

async fn sign_in(app: &TestApp, with: serde_json::Value) -> Client {
    let signed_in = app.anonymous().post("/v1/session", &with).await;
    assert_eq!(signed_in.status, StatusCode::OK, "{}", signed_in.text());
    app.anonymous()
        .with("cookie", &cookie_of(&signed_in))
        .with("sec-fetch-site", "same-origin")
}

#[tokio::test]
async fn a_browser_is_let_in_until_the_session_ends_that_asked() {
    let app = TestApp::running().await;
    let ada = app.user_with_password("ada", Some(PASSWORD)).await;
    let val = private_page(&ada, "secret").await;
    let by_password = || sign_in(&app, json!({"username": "ada", "password": PASSWORD}));
    let (session, other) = (by_password().await, by_password().await);
    let (browser, others) = (
        let_in(&app, &session, &val).await,
        let_in(&app, &other, &val).await,
    );
    assert_eq!(browser.get("/").await.text(), "cookies: null");

    let pass = address(&session, &val).await;
    session.delete("/v1/session").await.nothing();
    assert_eq!(browser.get("/").await.status, StatusCode::NOT_FOUND);
    let late = browser_at(&app, "secret").get(&pass).await;
    let late = browser.with("cookie", &cookie_of(&late));
    assert_eq!(late.get("/").await.status, StatusCode::NOT_FOUND, "its pass too");

    assert_eq!(others.get("/").await.status, StatusCode::OK, "another session's");
    let change = json!({"current": PASSWORD, "new": "another horse battery"});
    let changed = other.post("/v1/me/password", &change).await;
    assert_eq!(changed.status, StatusCode::NO_CONTENT, "{}", changed.text());
    assert_eq!(others.get("/").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_browser_is_let_in_until_the_token_is_revoked_that_asked() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = private_page(&ada, "secret").await;
    let made = ada
        .post("/v1/me/tokens", &json!({"name": "browser"}))
        .await
        .value();
    let secret = made["secret"].as_str().expect("a secret");
    let by_token = let_in(&app, &ada.with_token(secret), &val).await;
    let session = sign_in(&app, json!({"token": secret})).await;
    let by_session = let_in(&app, &session, &val).await;
    for browser in [&by_token, &by_session] {
        assert_eq!(browser.get("/").await.status, StatusCode::OK);
    }
    let path = format!("/v1/me/tokens/{}", made["id"].as_str().expect("an id"));
    ada.delete(&path).await.nothing();
    for browser in [&by_token, &by_session] {
        assert_eq!(browser.get("/").await.status, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn a_pass_opens_the_one_val_that_it_was_asked_for() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = private_page(&ada, "secret").await;
    private_page(&ada, "other").await;
    let pass = address(&ada, &val).await;
    let elsewhere = browser_at(&app, "other");
    let entered = elsewhere.get(&pass).await;
    let cookie = cookie_of(&entered);
    let answer = elsewhere.with("cookie", &cookie).get("/").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);

    let browser = browser_at(&app, "secret");
    for _ in 0..2 {
        let entered = browser.get(&pass).await;
        let again = browser.with("cookie", &cookie_of(&entered));
        assert_eq!(again.get("/").await.status, StatusCode::OK, "within its minute");
    }
    let (_, secret) = pass.split_once('=').expect("a pass");
    ada.with_token(secret)
        .get("/v1/me")
        .await
        .refused(ProblemCode::BadToken);
}

#[tokio::test]
async fn a_val_sees_no_pass_on_whichever_line_it_comes() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = private_page(&ada, "secret").await;
    let entered = browser_at(&app, "secret").get(&address(&ada, &val).await).await;
    let request = axum::http::Request::builder()
        .method(Method::GET)
        .uri("/")
        .header(header::HOST, "ada-secret.localhost:8787")
        .header(header::COOKIE, "a=1")
        .header(header::COOKIE, format!("b=2; {}", cookie_of(&entered)));
    let request = request.body(Body::empty()).expect("a request");
    let answer = Answer::of(app.anonymous().open(request).await).await;
    assert_eq!(answer.text(), "cookies: a=1; b=2");
}

#[tokio::test]
async fn the_token_of_a_run_opens_no_browser() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = private_page(&ada, "secret").await;
    let code = "export default Deno.env.get('valtown')";
    let told = ada.post("/v1/eval", &json!({ "code": code })).await.value();
    ada.with_token(told.as_str().expect("a token"))
        .get(&format!("/v1/vals/{}/open", val.id))
        .await
        .refused(ProblemCode::Invalid);
}

#[tokio::test]
async fn under_https_no_other_host_sets_what_lets_a_browser_in() {
    let settings = Settings {
        base_url: Some("https://hamlet.example.org".into()),
        vals_domain: Some("vals.example.net".into()),
        ..Settings::default()
    };
    let app = TestApp::running_with(settings).await;
    let ada = app.user("ada").await;
    let val = private_page(&ada, "secret").await;
    let host = app.anonymous().with("host", "ada-secret.vals.example.net");
    let cookie = cookie_of(&host.get(&address(&ada, &val).await).await);
    let planted = cookie.strip_prefix("__Host-").expect("a name for one host alone");
    let answer = host.with("cookie", &cookie).get("/").await;
    assert_eq!(answer.text(), "cookies: null");
    let answer = host.with("cookie", planted).get("/").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}
