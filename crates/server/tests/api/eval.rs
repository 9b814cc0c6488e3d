//! Evaluating code without keeping it, on the real Deno.

use axum::http::StatusCode;
use hamlet_models::{BaseRun, BasicVal, FullRun, Page, ProblemCode, RunStatus, Trigger};
use hamlet_server::config::Settings;
use serde_json::{Value, json};

use crate::test_app::TestApp;

#[tokio::test]
async fn an_expression_a_function_and_a_module_each_give_a_value() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    for (code, args, value) in [
        ("1 + 1", json!([]), json!(2)),
        (
            "({ a: [1, \"two\", null] })",
            json!([]),
            json!({"a": [1, "two", null]}),
        ),
        ("(a: number, b: number) => a * b", json!([6, 7]), json!(42)),
        ("async (name) => `hi ${name}`", json!(["Bo"]), json!("hi Bo")),
        ("const n: number = 3; export default n + 1;", json!([]), json!(4)),
        ("export default (n: number) => n * 2;", json!([4]), json!(8)),
    ] {
        let answer = ada.post("/v1/eval", &json!({"code": code, "args": args})).await;
        assert_eq!(answer.value(), value, "{code}");
    }
}

#[tokio::test]
async fn an_expression_in_the_address_keeps_its_slashes_and_pluses() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    assert_eq!(ada.get("/v1/eval/8/2/2").await.value(), 2);
    assert_eq!(ada.get("/v1/eval/1+1").await.value(), 2);
    assert_eq!(ada.get("/v1/eval/1%20%2B%202").await.value(), 3);
    assert_eq!(ada.get("/v1/eval/(a)=%3Ea+1?args=[41]").await.value(), 42);
}

#[tokio::test]
async fn code_that_fails_is_the_callers_own_fault() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    for (code, name) in [
        ("(() => { throw new RangeError(\"too far\") })()", "RangeError"),
        ("let let = 1", "SyntaxError"),
    ] {
        let answer = ada.post("/v1/eval", &json!({"code": code})).await;
        answer.refused(ProblemCode::EvaluationFailed);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        let body: Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(
            (&body["type"], &body["name"]),
            (&json!("error"), &json!(name)),
            "{body}"
        );
        assert!(body["stack"].is_string() && body["error"].is_string());
        assert_eq!(answer.header("x-should-retry"), "");
    }
    ada.post("/v1/eval", &json!({"code": ""}))
        .await
        .refused(ProblemCode::Invalid);
    ada.post("/v1/eval", &json!({}))
        .await
        .refused(ProblemCode::Invalid);
    ada.get("/v1/eval/1?args=x").await.refused(ProblemCode::Invalid);
}

#[tokio::test]
async fn code_that_never_ends_is_ended() {
    let app = TestApp::running_with(Settings {
        wall_seconds: Some(1),
        ..Settings::default()
    })
    .await;
    let ada = app.user("ada").await;
    let answer = ada.post("/v1/eval", &json!({"code": "while (true);"})).await;
    answer.refused(ProblemCode::RunTimedOut);
    assert_eq!(answer.header("x-should-retry"), "false");
}

#[tokio::test]
async fn an_evaluation_is_a_run_of_its_caller_and_no_val() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    ada.post(
        "/v1/eval",
        &json!({"code": "(n) => { console.log(n); return n; }", "args": [7]}),
    )
    .await;
    let runs: Page<BaseRun> = ada.get("/v1/me/runs").await.json();
    let [run] = runs.data.as_slice() else {
        panic!("one evaluation makes one run: {runs:?}")
    };
    assert_eq!(
        (run.status, run.trigger, run.val_id, run.version),
        (RunStatus::Ok, Trigger::Eval, None, None)
    );
    let path = format!("/v1/runs/{}", run.id);
    let full: FullRun = ada.get(&path).await.json();
    assert_eq!((full.args, full.return_value), (Some(json!([7])), Some(json!(7))));
    assert_eq!(full.logs[0].message, "7");
    eve.get(&path).await.refused(ProblemCode::NotFound);
    app.anonymous().get(&path).await.refused(ProblemCode::SignedOut);
    let vals: Page<BasicVal> = ada.get(&format!("/v1/users/{}/vals", ada.id)).await.json();
    assert!(vals.data.is_empty());
}

#[tokio::test]
async fn only_who_may_run_may_evaluate() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    app.anonymous()
        .post("/v1/eval", &json!({"code": "1"}))
        .await
        .refused(ProblemCode::SignedOut);
    app.anonymous()
        .get("/v1/eval/1")
        .await
        .refused(ProblemCode::SignedOut);
    let reader = app
        .token(&ada, [hamlet_server::auth::RUN_READ].into_iter().collect())
        .await;
    reader
        .post("/v1/eval", &json!({"code": "1"}))
        .await
        .refused(ProblemCode::MissingScope);
    let runs: Page<BaseRun> = ada.get("/v1/me/runs").await.json();
    assert!(runs.data.is_empty(), "what is refused makes no run");
}

#[tokio::test]
async fn where_anyone_may_evaluate_code_runs_with_no_account() {
    let app = TestApp::running_with(Settings {
        anonymous_eval: Some(true),
        ..Settings::default()
    })
    .await;
    let ada = app.user("ada").await;
    ada.put("/v1/me/secrets/KEY", &json!({"value": "hidden"})).await;
    ada.write_val(
        "mine",
        hamlet_models::ValKind::Script,
        hamlet_models::Privacy::Private,
        "export default 1",
    )
    .await;
    let anyone = app.anonymous();
    let code = "Object.keys(Deno.env.toObject()).sort()";
    assert_eq!(
        anyone.post("/v1/eval", &json!({ "code": code })).await.value(),
        json!(["HAMLET_RUN_ID", "VALTOWN_API_URL", "VAL_TOWN_BASE_URL"])
    );
    assert_eq!(anyone.get("/v1/eval/1+1").await.value(), 2);
    let import = json!({"code": "import one from 'https://esm.town/v/ada/mine'; export default one"});
    anyone
        .post("/v1/eval", &import)
        .await
        .refused(ProblemCode::EvaluationFailed);
    let runs: Page<BaseRun> = ada.get("/v1/me/runs").await.json();
    assert!(runs.data.is_empty(), "the runs are nobody's");
}
