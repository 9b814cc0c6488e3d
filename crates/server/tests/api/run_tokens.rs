//! What a val may do with the token that its runs are given, and for how long.

use axum::http::StatusCode;
use hamlet_models::{ExtendedVal, NewVal, Privacy, ProblemCode, ValKind};
use serde_json::json;

use crate::test_app::{Answer, Client, TestApp};

const SAYS_ITS_TOKEN: &str = "export default () => new Response(Deno.env.get(\"valtown\"));";

/// The token that an HTTP val of Ada's is given now.
async fn token_of_worker(app: &TestApp, ada: &Client) -> Client {
    let page = app.anonymous().with("host", "ada-teller.localhost:8787");
    let answer = page.get("/").await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    ada.with_token(answer.text())
}

async fn teller(ada: &Client) -> ExtendedVal {
    ada.write_val("teller", ValKind::Http, Privacy::Public, SAYS_ITS_TOKEN)
        .await
}

async fn makes_a_val(client: &Client) -> Answer {
    client.post("/v1/vals", &NewVal::of_code("1")).await
}

#[tokio::test]
async fn a_grant_holds_from_when_it_is_given_until_it_is_taken_back() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let path = format!("/v1/vals/{}", teller(&ada).await.id);
    let before = token_of_worker(&app, &ada).await;
    makes_a_val(&before).await.refused(ProblemCode::MissingScope);

    ada.put(&path, &json!({"grants": ["val:write"]})).await.nothing();
    makes_a_val(&before).await.refused(ProblemCode::MissingScope);
    let granted = token_of_worker(&app, &ada).await;
    assert_eq!(makes_a_val(&granted).await.status, StatusCode::OK);

    ada.put(&path, &json!({"grants": []})).await.nothing();
    makes_a_val(&granted).await.refused(ProblemCode::MissingScope);
    assert_eq!(
        granted.get("/v1/me").await.status,
        StatusCode::OK,
        "what every val may do it still may"
    );
    let after = token_of_worker(&app, &ada).await;
    makes_a_val(&after).await.refused(ProblemCode::MissingScope);
}

#[tokio::test]
async fn the_tokens_of_a_val_end_with_it() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let page = teller(&ada).await;
    let script = ada
        .write_val(
            "script",
            ValKind::Script,
            Privacy::Private,
            "export default Deno.env.get('valtown')",
        )
        .await;
    let of_worker = token_of_worker(&app, &ada).await;
    let told = ada.post("/v1/run/ada.script", &json!([])).await.value();
    let of_run = ada.with_token(told.as_str().expect("a token"));
    for (val, token) in [(page, of_worker), (script, of_run)] {
        assert_eq!(token.get("/v1/me").await.status, StatusCode::OK);
        ada.delete(&format!("/v1/vals/{}", val.id)).await.nothing();
        token.get("/v1/me").await.refused(ProblemCode::BadToken);
        makes_a_val(&token).await.refused(ProblemCode::BadToken);
    }
}
