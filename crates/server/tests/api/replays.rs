//! What runs were given is kept, and can be given again.

use std::convert::Infallible;

use axum::{
    body::{Body, Bytes},
    http::{Method, Request, header, request::Builder},
};
use futures_util::stream;
use hamlet_models::{
    BaseRun, ExtendedVal, FullRun, KeptRequest, Page, Privacy, ProblemCode, RunInput, RunStatus, Trigger,
    ValKind,
};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::{
    runs::{ended, start},
    test_app::{Client, TestApp},
};

const ECHO: &str = "export default async (request: Request) => new Response(\n\
    [request.method, request.url, request.headers.get(\"x-word\"), request.headers.get(\"authorization\"),\n\
      [...new Uint8Array(await request.arrayBuffer())]].join(\"|\"),\n);";

/// Asks the val `echo` of Ada's at its address, and answers the one run of it that there is.
async fn asked(app: &TestApp, ada: &Client, val: &ExtendedVal, request: Builder, body: Body) -> FullRun {
    let request = request
        .header(header::HOST, "ada-echo.localhost:8787")
        .body(body)
        .expect("a request");
    let response = app.app.clone().answer(request).await;
    response.into_body().collect().await.expect("a body");
    let runs: Page<BaseRun> = ada
        .get(&format!("/v1/vals/{}/runs?trigger=http", val.id))
        .await
        .json();
    let [run] = <[BaseRun; 1]>::try_from(runs.data).expect("one run");
    ada.get(&format!("/v1/runs/{}", run.id)).await.json()
}

fn request_of(run: &FullRun) -> &KeptRequest {
    match &run.input {
        Some(RunInput::Request(request)) => request,
        other => panic!("no request is kept: {other:?}"),
    }
}

async fn repeat(client: &Client, val: &ExtendedVal, run: &FullRun) -> FullRun {
    let again = start(client, val, json!({"replayOf": run.id})).await;
    assert_eq!(
        (again.trigger, again.replay_of, again.val_id),
        (Trigger::Replay, Some(run.id), Some(val.id))
    );
    ended(client, again.id).await
}

async fn refused(client: &Client, val: &ExtendedVal, new: Value) -> String {
    let refused = client
        .post(&format!("/v1/vals/{}/runs", val.id), &new)
        .await
        .refused(ProblemCode::Invalid);
    assert_eq!(refused.details[0].path, "replayOf");
    refused.message
}

#[tokio::test]
async fn a_request_is_kept_without_credentials_and_sent_again() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = ada.write_val("echo", ValKind::Http, Privacy::Public, ECHO).await;
    let request = Request::put("/a?b=c")
        .header("x-word", "one")
        .header(header::AUTHORIZATION, "Basic c2VjcmV0")
        .header(header::COOKIE, "session=c2VjcmV0")
        .header(header::CONNECTION, "close");
    let run = asked(&app, &ada, &val, request, Body::from("h\u{e9}")).await;
    assert_eq!((run.trigger, run.replay_of), (Trigger::Http, None));
    let kept = request_of(&run);
    assert_eq!(
        (kept.method.as_str(), kept.url.as_str()),
        ("PUT", "http://ada-echo.localhost:8787/a?b=c")
    );
    assert_eq!(
        (kept.body.as_str(), kept.base64, kept.size),
        ("h\u{e9}", false, 3)
    );
    let headers: Vec<(&str, Option<&str>)> = kept
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_deref()))
        .collect();
    assert_eq!(
        headers,
        [
            ("x-word", Some("one")),
            ("authorization", None),
            ("cookie", None),
            ("host", Some("ada-echo.localhost:8787")),
        ]
    );
    let text = serde_json::to_string(&run).expect("JSON");
    assert!(!text.contains("c2VjcmV0") && !run.truncated.input, "{text}");

    let again = repeat(&ada, &val, &run).await;
    assert_eq!(
        again.response.as_ref().expect("the answer").body,
        "PUT|http://ada-echo.localhost:8787/a?b=c|one||104,195,169"
    );
    assert_eq!(request_of(&again).body, kept.body);

    let code = "export default () => new Response(\"other\");";
    ada.post(&format!("/v1/vals/{}/versions", val.id), &json!({ "code": code }))
        .await;
    let (latest, first) = (
        start(&ada, &val, json!({"replayOf": again.id})).await,
        start(&ada, &val, json!({"replayOf": again.id, "version": 0})).await,
    );
    assert_eq!((latest.version, first.version), (Some(1), Some(0)));
    assert_eq!(
        ended(&ada, latest.id)
            .await
            .response
            .clone()
            .expect("an answer")
            .body,
        "other"
    );
    assert_eq!(ended(&ada, first.id).await.response, again.response);
    let listed: Page<BaseRun> = ada
        .get(&format!("/v1/vals/{}/runs?trigger=replay", val.id))
        .await
        .json();
    assert_eq!(listed.data.len(), 3);
    assert_eq!(listed.data[2].replay_of, Some(run.id));
}

#[tokio::test]
async fn a_body_that_is_no_text_is_sent_again_byte_for_byte() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = ada.write_val("echo", ValKind::Http, Privacy::Public, ECHO).await;
    let chunks = [&[0_u8, 255][..], &[10, 200]].map(|chunk| Ok::<_, Infallible>(Bytes::from(chunk)));
    let body = Body::from_stream(stream::iter(chunks));
    let run = asked(&app, &ada, &val, Request::post("/"), body).await;
    let kept = request_of(&run);
    assert_eq!(
        (kept.body.as_str(), kept.base64, kept.size, run.truncated.input),
        ("AP8KyA==", true, 4, false)
    );
    let again = repeat(&ada, &val, &run).await;
    let answer = again.response.as_ref().expect("the answer");
    assert!(answer.body.ends_with("|0,255,10,200"), "{}", answer.body);
}

#[tokio::test]
async fn a_request_that_is_not_kept_whole_is_not_sent_again() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    for (body, kept) in [
        ("x".repeat(100_001), "x".repeat(100_000)),
        ("token=hmlt_secret".to_owned(), "token=".to_owned()),
    ] {
        let val = ada.write_val("echo", ValKind::Http, Privacy::Public, ECHO).await;
        let size = body.len() as u64;
        let run = asked(&app, &ada, &val, Request::post("/"), Body::from(body)).await;
        assert_eq!((run.status, run.truncated.input), (RunStatus::Ok, true));
        assert_eq!((&request_of(&run).body, request_of(&run).size), (&kept, size));
        let why = refused(&ada, &val, json!({"replayOf": run.id})).await;
        assert!(why.contains("not kept as it was"), "{why}");
        ada.delete(&format!("/v1/vals/{}", val.id)).await.nothing();
    }
}

#[tokio::test]
async fn a_token_in_an_address_is_not_kept() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = ada.write_val("echo", ValKind::Http, Privacy::Public, ECHO).await;
    let run = asked(
        &app,
        &ada,
        &val,
        Request::get("/?token=hmlt_secret&a=b"),
        Body::empty(),
    )
    .await;
    let url = "http://ada-echo.localhost:8787/?token=hmlt_***&a=b";
    assert_eq!(
        (
            request_of(&run).url.as_str(),
            run.request.as_ref().expect("the request").url.as_str()
        ),
        (url, url)
    );
    refused(&ada, &val, json!({"replayOf": run.id})).await;
}

#[tokio::test]
async fn arguments_are_given_again() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default (...words: string[]) => words.length;";
    let val = ada
        .write_val("count", ValKind::Script, Privacy::Private, code)
        .await;
    for (new, value) in [
        (json!({"args": ["a", "b"]}), Some(json!(2))),
        (json!({"args": []}), Some(json!(0))),
        (json!({}), None),
    ] {
        let run = ended(&ada, start(&ada, &val, new).await.id).await;
        assert_eq!((&run.return_value, &run.input), (&value, &None));
        let again = repeat(&ada, &val, &run).await;
        assert_eq!((&again.return_value, &again.args), (&value, &run.args));
    }
    let long = ended(
        &ada,
        start(&ada, &val, json!({"args": ["x".repeat(100_001)]})).await.id,
    )
    .await;
    refused(&ada, &val, json!({"replayOf": long.id})).await;
}

#[tokio::test]
async fn a_scheduled_val_is_told_the_same_time_again() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default ({ lastRunAt }) => console.log(\"last\", lastRunAt?.toISOString());";
    let val = ada
        .write_val("tick", ValKind::Interval, Privacy::Private, code)
        .await;
    let hourly = json!({"schedule": {"cron": "0 * * * *"}});
    ada.put(&format!("/v1/vals/{}", val.id), &hourly).await.nothing();
    let first = ended(&ada, start(&ada, &val, json!({})).await.id).await;
    assert_eq!(first.input, Some(RunInput::LastRunAt(None)));
    let second = ended(&ada, start(&ada, &val, json!({})).await.id).await;
    assert_eq!(second.input, Some(RunInput::LastRunAt(Some(first.run_start_at))));
    for run in [&first, &second] {
        let again = repeat(&ada, &val, run).await;
        assert_eq!(
            (&again.logs[0].message, &again.input),
            (&run.logs[0].message, &run.input)
        );
    }
    let third = ended(&ada, start(&ada, &val, json!({})).await.id).await;
    assert_eq!(
        third.input,
        Some(RunInput::LastRunAt(Some(second.run_start_at))),
        "what was repeated is no run of the schedule"
    );
}

#[tokio::test]
async fn a_message_is_given_again() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default (email) => console.log(email.from, email.to, email.subject, email.text);";
    let val = ada
        .write_val("inbox", ValKind::Email, Privacy::Private, code)
        .await;
    let email = json!({"from": "eve@example.com", "subject": "hi", "text": "a word"});
    let run = ended(&ada, start(&ada, &val, json!({ "email": email })).await.id).await;
    let Some(RunInput::Email(kept)) = &run.input else {
        panic!("no message is kept: {:?}", run.input);
    };
    assert_eq!(
        (&kept["from"], &kept["to"], &kept["text"]),
        (&email["from"], &json!(["ada.inbox@localhost"]), &email["text"])
    );
    let again = repeat(&ada, &val, &run).await;
    assert_eq!(
        (&again.logs[0].message, &again.input),
        (&run.logs[0].message, &run.input)
    );

    let long = json!({"email": {"text": "x".repeat(1_000_001)}});
    let long = ended(&ada, start(&ada, &val, long).await.id).await;
    assert!(long.truncated.input);
    refused(&ada, &val, json!({"replayOf": long.id})).await;
}

#[tokio::test]
async fn only_a_run_of_the_same_val_can_be_repeated_and_only_by_its_owner() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let code = "export default (word: string) => word;";
    let val = ada.write_val("one", ValKind::Script, Privacy::Public, code).await;
    let other = ada.write_val("two", ValKind::Script, Privacy::Public, code).await;
    let eves = eve
        .write_val("three", ValKind::Script, Privacy::Public, code)
        .await;
    let run = ended(&ada, start(&ada, &val, json!({"args": ["hush"]})).await.id).await;

    let unknown = json!({"replayOf": val.id});
    let why = refused(&ada, &val, unknown).await;
    for (client, val) in [(&ada, &other), (&eve, &eves)] {
        assert_eq!(refused(client, val, json!({"replayOf": run.id})).await, why);
    }
    eve.post(&format!("/v1/vals/{}/runs", val.id), &json!({"replayOf": run.id}))
        .await
        .refused(ProblemCode::NotOwner);
    refused(&ada, &val, json!({"replayOf": run.id, "args": [1]})).await;

    let changed = ada
        .send(
            Method::PUT,
            &format!("/v1/vals/{}", val.id),
            Body::from(r#"{"type":"http"}"#),
        )
        .await;
    changed.nothing();
    let why = refused(&ada, &val, json!({"replayOf": run.id})).await;
    assert!(why.contains("not kept"), "{why}");
}
