//! Calling vals as functions, on the real Deno.

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use hamlet_models::{BaseRun, FullRun, Page, Privacy, ProblemCode, RunStatus, Trigger, ValKind};
use hamlet_server::config::Settings;
use serde_json::{Value, json};

use crate::test_app::{Client, TestApp};

/// The one run of a val, with everything recorded.
async fn only_run(owner: &Client, val: &hamlet_models::ExtendedVal) -> FullRun {
    let runs: Page<BaseRun> = owner.get(&format!("/v1/vals/{}/runs", val.id)).await.json();
    assert_eq!(runs.data.len(), 1, "one call makes one run");
    owner.get(&format!("/v1/runs/{}", runs.data[0].id)).await.json()
}

async fn script(owner: &Client, name: &str, code: &str) -> hamlet_models::ExtendedVal {
    owner
        .write_val(name, ValKind::Script, Privacy::Private, code)
        .await
}

async fn make_callable(owner: &Client, val: &hamlet_models::ExtendedVal) {
    owner
        .put(&format!("/v1/vals/{}", val.id), &json!({"callable": true}))
        .await
        .nothing();
}

#[tokio::test]
async fn a_val_is_called_with_arguments_however_they_come() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    script(
        &ada,
        "add",
        "export default (a: number, b = 10) => ({ sum: a + b });",
    )
    .await;
    for answer in [
        ada.get("/v1/run/ada.add?args=[1,2]").await,
        ada.get("/v1/run/@Ada.ADD?args=%5B1%2C%202%5D").await,
        ada.post("/v1/run/ada.add", &json!({"args": [1, 2]})).await,
        ada.post("/v1/run/ada.add", &json!([1, 2])).await,
    ] {
        assert_eq!(answer.text(), r#"{"sum":3}"#);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (StatusCode::OK, "application/json")
        );
    }
    assert_eq!(
        ada.post("/v1/run/ada.add", &json!([1])).await.value(),
        json!({"sum": 11})
    );
}

#[tokio::test]
async fn a_call_without_arguments_is_a_call() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    script(&ada, "count", "export default (...args) => args.length;").await;
    for answer in [
        ada.get("/v1/run/ada.count").await,
        ada.get("/v1/run/ada.count?args=").await,
        ada.send(Method::POST, "/v1/run/ada.count", Body::empty()).await,
        ada.post("/v1/run/ada.count", &json!({})).await,
        ada.post("/v1/run/ada.count", &json!([])).await,
        ada.post("/v1/eval", &json!({"code": "(...args) => args.length"}))
            .await,
        ada.get("/v1/eval/(...args)=%3Eargs.length").await,
    ] {
        assert_eq!(answer.value(), 0);
    }
    script(&ada, "words", "export default [\"no\", \"function\"];").await;
    assert_eq!(
        ada.get("/v1/run/ada.words").await.value(),
        json!(["no", "function"])
    );
}

#[tokio::test]
async fn a_call_leaves_a_run_with_all_there_is_to_know() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default (name: string) => {\n  console.log(\"greeting\", name);\n  console.error(\"loud\");\n  return `hi ${name}`;\n};";
    let val = script(&ada, "greet", code).await;
    assert_eq!(
        ada.post("/v1/run/ada.greet", &json!(["Bo"])).await.value(),
        "hi Bo"
    );

    let run = only_run(&ada, &val).await;
    assert_eq!(
        (run.status, run.trigger, run.version),
        (RunStatus::Ok, Trigger::Run, Some(0))
    );
    assert_eq!(
        (run.val_id, run.author.as_ref().map(|author| author.id)),
        (Some(val.id), Some(ada.id))
    );
    assert_eq!(run.name.as_ref().map(|name| name.as_str()), Some("greet"));
    assert!(run.run_end_at.is_some_and(|end| end >= run.run_start_at));
    assert!(run.duration_ms.is_some_and(|duration| duration > 0.0));
    assert_eq!(
        (run.args.as_ref(), run.return_value.as_ref()),
        (Some(&json!(["Bo"])), Some(&json!("hi Bo")))
    );
    let lines: Vec<&str> = run.logs.iter().map(|line| line.message.as_str()).collect();
    assert_eq!(lines, ["greeting Bo", "loud"]);
    assert_eq!((run.error.as_ref(), run.parent_id), (None, None));
}

#[tokio::test]
async fn a_value_keeps_the_order_of_its_keys() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = script(
        &ada,
        "ordered",
        "export default () => ({ z: 1, a: { y: 2, b: 3 } });",
    )
    .await;
    let said = r#"{"z":1,"a":{"y":2,"b":3}}"#;
    assert_eq!(ada.get("/v1/run/ada.ordered").await.text(), said);
    let run = only_run(&ada, &val).await;
    let record = ada.get(&format!("/v1/runs/{}", run.id)).await;
    assert!(record.text().contains(said), "{}", record.text());
}

#[tokio::test]
async fn a_val_without_a_value_answers_null() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    script(&ada, "quiet", "export default () => {};").await;
    assert_eq!(
        ada.post("/v1/run/ada.quiet", &json!([])).await.value(),
        Value::Null
    );
}

#[tokio::test]
async fn only_the_author_may_call_a_val_unless_it_is_callable() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    ada.write_val(
        "hidden",
        ValKind::Script,
        Privacy::Private,
        "export default () => 1",
    )
    .await;
    let open = ada
        .write_val("open", ValKind::Script, Privacy::Public, "export default () => 1")
        .await;

    eve.get("/v1/run/ada.hidden").await.refused(ProblemCode::NotFound);
    app.anonymous()
        .get("/v1/run/ada.hidden")
        .await
        .refused(ProblemCode::NotFound);
    eve.get("/v1/run/ada.open").await.refused(ProblemCode::NotOwner);
    app.anonymous()
        .get("/v1/run/ada.open")
        .await
        .refused(ProblemCode::SignedOut);
    make_callable(&ada, &open).await;
    assert_eq!(eve.get("/v1/run/ada.open").await.value(), 1);
    assert_eq!(app.anonymous().get("/v1/run/ada.open").await.value(), 1);

    let reader = app
        .token(&ada, [hamlet_server::auth::RUN_READ].into_iter().collect())
        .await;
    reader
        .get("/v1/run/ada.open")
        .await
        .refused(ProblemCode::MissingScope);
    ada.with_token("hmlt_unknown")
        .get("/v1/run/ada.open")
        .await
        .refused(ProblemCode::BadToken);
}

#[tokio::test]
async fn what_can_not_be_called_says_why() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    ada.write_val(
        "page",
        ValKind::Http,
        Privacy::Private,
        "export default () => new Response()",
    )
    .await;
    script(&ada, "add", "export default () => 1").await;
    ada.get("/v1/run/ada.page").await.refused(ProblemCode::Invalid);
    ada.get("/v1/run/ada.missing")
        .await
        .refused(ProblemCode::NotFound);
    ada.get("/v1/run/ada").await.refused(ProblemCode::Malformed);
    ada.get("/v1/run/ada.add?args=1")
        .await
        .refused(ProblemCode::Invalid);
    ada.get("/v1/run/ada.add?args=[")
        .await
        .refused(ProblemCode::Invalid);
    ada.post("/v1/run/ada.add", &json!("x"))
        .await
        .refused(ProblemCode::Invalid);
}

#[tokio::test]
async fn a_val_that_throws_tells_its_author_where() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let code = "type Row = { n: number };\n\nexport default (row: Row) => {\n  throw new TypeError(\"no rows\");\n};";
    let val = ada
        .write_val("broken", ValKind::Script, Privacy::Public, code)
        .await;
    make_callable(&ada, &val).await;

    let answer = ada.post("/v1/run/ada.broken", &json!([{"n": 1}])).await;
    assert_eq!(
        answer.refused(ProblemCode::RunFailed).message,
        "TypeError: no rows"
    );
    assert_eq!(answer.header("x-should-retry"), "false");
    let own: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let stack = own["stack"].as_str().expect("a stack");
    assert!(stack.contains("/v/ada/broken?v=0:4:9"), "{stack}");
    assert!(
        only_run(&ada, &val)
            .await
            .error
            .as_ref()
            .is_some_and(|error| error.stack == stack && error.name == "TypeError")
    );

    let answer = eve.get("/v1/run/ada.broken?args=[{}]").await;
    assert_eq!(
        answer.refused(ProblemCode::RunFailed).message,
        "TypeError: no rows"
    );
    assert_eq!(answer.header("x-should-retry"), "false");
    assert!(
        !answer.text().contains("stack") && !answer.text().contains(":4:9"),
        "{}",
        answer.text()
    );
}

#[tokio::test]
async fn a_val_that_takes_too_long_is_ended() {
    let app = TestApp::running_with(Settings {
        wall_seconds: Some(1),
        ..Settings::default()
    })
    .await;
    let ada = app.user("ada").await;
    let val = script(&ada, "slow", "export default () => { console.log(\"begun\"); return new Promise(() => setInterval(() => {}, 1000)); }").await;
    let answer = ada.post("/v1/run/ada.slow", &json!([])).await;
    answer.refused(ProblemCode::RunTimedOut);
    assert_eq!(answer.header("x-should-retry"), "false");
    let run = only_run(&ada, &val).await;
    assert_eq!(
        (run.status, run.logs[0].message.as_str()),
        (RunStatus::Timeout, "begun")
    );
}

#[tokio::test]
async fn a_new_version_is_what_the_next_call_runs() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = script(&ada, "number", "export default () => 1").await;
    assert_eq!(ada.get("/v1/run/ada.number").await.value(), 1);
    let save = json!({"code": "export default () => 2"});
    let saved = ada.post(&format!("/v1/vals/{}/versions", val.id), &save).await;
    assert_eq!(saved.status, StatusCode::CREATED);
    assert_eq!(ada.get("/v1/run/ada.number").await.value(), 2);
    let runs: Page<BaseRun> = ada.get("/v1/me/runs").await.json();
    assert_eq!(
        runs.data.iter().map(|run| run.version).collect::<Vec<_>>(),
        [Some(1), Some(0)]
    );
}

#[tokio::test]
async fn a_val_imports_what_its_author_may_read_and_nothing_else() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let own = script(&ada, "own", "export const word = \"first\";").await;
    ada.post(
        &format!("/v1/vals/{}/versions", own.id),
        &json!({"code": "export const word = \"second\";"}),
    )
    .await;
    eve.write_val(
        "shared",
        ValKind::Script,
        Privacy::Unlisted,
        "export const word = \"shared\";",
    )
    .await;
    eve.write_val(
        "secret",
        ValKind::Script,
        Privacy::Private,
        "export const word = \"hush\";",
    )
    .await;

    let code = "import { word as pinned } from \"https://esm.town/v/ada/own?v=0\";\n\
        import { word } from \"https://esm.town/v/ada/own\";\n\
        import { word as shared } from \"http://localhost:8787/v/eve/shared\";\n\
        export default () => [pinned, word, shared];";
    script(&ada, "importer", code).await;
    let words = ada.post("/v1/run/ada.importer", &json!([])).await.value();
    assert_eq!(words, json!(["first", "second", "shared"]));

    script(
        &ada,
        "thief",
        "import { word } from \"https://esm.town/v/eve/secret\"; export default () => word;",
    )
    .await;
    let answer = ada.post("/v1/run/ada.thief", &json!([])).await;
    answer.refused(ProblemCode::RunFailed);
    assert!(!answer.text().contains("hush"), "{}", answer.text());
}

#[tokio::test]
async fn a_val_has_its_authors_token_and_nothing_of_the_hosts() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default async () => {\n\
        const { VALTOWN_API_URL: url, VAL_TOWN_API_KEY: key, ...rest } = Deno.env.toObject();\n\
        const headers = { authorization: `Bearer ${key}` };\n\
        const me = await (await fetch(`${url}/v1/me`, { headers })).json();\n\
        const body = JSON.stringify({ code: \"1\" });\n\
        const refused = await fetch(`${url}/v1/vals`, { method: \"POST\", headers, body });\n\
        return { me: me.username, refused: refused.status, rest, same: rest.valtown === key };\n};";
    let val = script(&ada, "self", code).await;
    let value = ada.post("/v1/run/ada.self", &json!([])).await.value();
    assert_eq!(
        (&value["me"], &value["refused"], &value["same"]),
        (&json!("ada"), &json!(403), &json!(true))
    );
    let rest = value["rest"].as_object().expect("the environment");
    let mut names: Vec<&str> = rest.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["HAMLET_RUN_ID", "HAMLET_VAL_ID", "VAL_TOWN_BASE_URL", "valtown"]
    );
    let run = only_run(&ada, &val).await;
    assert_eq!(
        (&rest["HAMLET_VAL_ID"], &rest["HAMLET_RUN_ID"]),
        (&json!(val.id), &json!(run.id))
    );
}

#[tokio::test]
async fn a_run_that_a_run_starts_names_it_as_its_parent() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let inner = script(&ada, "inner", "export default () => 1").await;
    let code = "export default async () => {\n\
        const headers = { authorization: `Bearer ${Deno.env.get(\"valtown\")}` };\n\
        return await (await fetch(`${Deno.env.get(\"VALTOWN_API_URL\")}/v1/run/ada.inner`, { headers })).json();\n};";
    let outer = script(&ada, "outer", code).await;
    assert_eq!(ada.post("/v1/run/ada.outer", &json!([])).await.value(), 1);
    let (inner, outer) = (only_run(&ada, &inner).await, only_run(&ada, &outer).await);
    assert_eq!((inner.parent_id, outer.parent_id), (Some(outer.id), None));
}

#[tokio::test]
async fn a_value_may_be_larger_than_what_is_kept_of_it() {
    let app = TestApp::running_with(Settings {
        value_kb: Some(1),
        ..Settings::default()
    })
    .await;
    let ada = app.user("ada").await;
    let val = script(&ada, "long", "export default (text: string) => text.repeat(2)").await;
    let text = "é".repeat(1_000);
    let value = ada.post("/v1/run/ada.long", &json!([text])).await.value();
    assert_eq!(value, text.repeat(2));
    let run = only_run(&ada, &val).await;
    assert!(run.truncated.return_value && run.truncated.args);
    let kept = run.return_value.expect("its beginning");
    assert!(
        kept.as_str()
            .is_some_and(|kept| kept.len() <= 1_000 && kept.starts_with("\"éé")),
        "{kept}"
    );
}

#[tokio::test]
async fn a_server_without_a_runtime_says_so() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_val("one", Privacy::Private).await;
    let answer = ada.get("/v1/run/ada.one").await;
    answer.refused(ProblemCode::Unavailable);
    assert!(!answer.header("retry-after").is_empty());
}
