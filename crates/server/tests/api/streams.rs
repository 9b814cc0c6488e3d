//! Answers of HTTP vals that come in parts, and what goes on while they do.

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
    response::Response,
};
use futures_util::StreamExt;
use hamlet_models::{BaseRun, FullRun, Page, Privacy, RunStatus};
use hamlet_server::config::Settings;
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::{
    gateway::{at, end_of, get, page, visit_with},
    test_app::{Client, TestApp, body_in_parts},
    web_sockets::Listening,
};

/// Sends an event, and another once it is asked for; never ends by itself.
const EVENTS: &str = "let more: () => void;
const asked = new Promise<void>((resolve) => more = resolve);
export default (request: Request) => {
  if (new URL(request.url).pathname === '/more') { more(); return new Response(''); }
  const event = (text: string) => new TextEncoder().encode(`data: ${text}\\n\\n`);
  const events = new ReadableStream({ async start(stream) {
    stream.enqueue(event('one'));
    await asked;
    stream.enqueue(event('two'));
  } });
  return new Response(events, { headers: { 'content-type': 'text/event-stream' } });
};";

async fn open(app: &TestApp, label: &str) -> Response {
    let request = at(Method::GET, label, "/")
        .body(Body::empty())
        .expect("a request");
    app.app.clone().answer(request).await
}

/// How the oldest run ended.
async fn first_end(owner: &Client) -> FullRun {
    let runs: Page<BaseRun> = owner.get("/v1/me/runs").await.json();
    end_of(owner, runs.data.last().expect("a run")).await.1
}

#[tokio::test]
async fn events_come_as_they_are_sent_and_break_off_with_the_time_of_the_run() {
    let settings = Settings {
        wall_seconds: Some(2),
        ..Settings::default()
    };
    let app = TestApp::running_with(settings).await;
    let ada = app.user("ada").await;
    page(&ada, "events", Privacy::Public, EVENTS).await;
    let response = open(&app, "ada-events").await;
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    assert!(!response.headers().contains_key(header::CONTENT_LENGTH));
    let mut events = response.into_body().into_data_stream();
    assert_eq!(
        events.next().await.expect("a part").expect("bytes"),
        "data: one\n\n"
    );
    get(&app, "ada-events", "/more").await;
    assert_eq!(
        events.next().await.expect("a part").expect("bytes"),
        "data: two\n\n"
    );
    assert!(
        events.next().await.expect("its end").is_err(),
        "what was cut off is not passed off as whole"
    );
    let run = first_end(&ada).await;
    assert_eq!(run.status, RunStatus::Timeout);
    assert_eq!(run.request.as_ref().and_then(|request| request.status), Some(200));
}

#[tokio::test]
async fn an_answer_that_fails_midway_breaks_off_and_its_run_has_failed() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default () => {
      let parts = 0;
      return new Response(new ReadableStream({ async pull(stream) {
        if (parts++ === 0) return stream.enqueue(new TextEncoder().encode('one'));
        throw new Error('no more');
      } }));
    };";
    page(&ada, "half", Privacy::Public, code).await;
    let mut parts = open(&app, "ada-half").await.into_body().into_data_stream();
    assert_eq!(parts.next().await.expect("a part").expect("bytes"), "one");
    assert!(parts.next().await.expect("its end").is_err());
    let run = first_end(&ada).await;
    assert_eq!(run.status, RunStatus::Error);
    assert!(
        run.error
            .as_ref()
            .is_some_and(|error| error.message.contains("broke off"))
    );
}

#[tokio::test]
async fn a_request_under_way_ends_on_the_version_that_it_began_on() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default (request: Request) => new Response(request.body);";
    let val = page(&ada, "changes", Privacy::Public, code).await;
    let (sender, body) = body_in_parts();
    sender.send("one".into()).expect("a reader");
    let request = at(Method::POST, "ada-changes", "/")
        .body(body)
        .expect("a request");
    let mut answer = app
        .app
        .clone()
        .answer(request)
        .await
        .into_body()
        .into_data_stream();
    assert_eq!(answer.next().await.expect("a part").expect("bytes"), "one");

    let save = json!({"code": "export default () => new Response('new');"});
    ada.post(&format!("/v1/vals/{}/versions", val.id), &save).await;
    assert_eq!(get(&app, "ada-changes", "/").await.text(), "new");
    sender.send("two".into()).expect("a reader");
    assert_eq!(answer.next().await.expect("a part").expect("bytes"), "two");
    drop(sender);
    assert!(answer.next().await.is_none());
    let run = first_end(&ada).await;
    assert_eq!((run.status, run.version), (RunStatus::Ok, Some(0)));
}

#[tokio::test]
async fn any_method_reaches_the_val() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default async (request: Request) =>
      new Response(`${request.method} ${await request.text()}`, { status: 207, headers: { 'x-method': request.method } });";
    page(&ada, "methods", Privacy::Public, code).await;
    for (method, sent, answered) in [
        ("HEAD", "", ""),
        ("PROPFIND", "all", "PROPFIND all"),
        ("purge", "", "purge "),
    ] {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let answer = visit_with(&app, at(method.clone(), "ada-methods", "/"), Body::from(sent)).await;
        assert_eq!(
            (answer.status, answer.header("x-method"), answer.text()),
            (StatusCode::MULTI_STATUS, method.as_str(), answered)
        );
    }
}

#[tokio::test]
async fn a_client_that_takes_nothing_holds_no_place_beyond_the_time_of_its_run() {
    let settings = Settings {
        wall_seconds: Some(1),
        ..Settings::default()
    };
    let server = Listening::with(settings).await;
    let ada = server.app.user("ada").await;
    for (name, first, status) in [
        ("endless", "", RunStatus::Timeout),
        ("leaves", "setTimeout(() => Deno.exit(7), 100);", RunStatus::Error),
    ] {
        let code = format!(
            "export default () => {{
              {first}
              return new Response(new ReadableStream({{ pull: (stream) => stream.enqueue(new Uint8Array(100_000)) }}));
            }};"
        );
        page(&ada, name, Privacy::Public, &code).await;
        let mut deaf = TcpStream::connect(server.address).await.expect("a connection");
        let request = format!("GET / HTTP/1.1\r\nhost: ada-{name}.localhost:8787\r\n\r\n");
        deaf.write_all(request.as_bytes()).await.expect("sent");
        let run = loop {
            let runs: Page<BaseRun> = ada.get("/v1/me/runs").await.json();
            let newest = runs.data.into_iter().next();
            if let Some(run) = newest.filter(|run| run.name.as_ref().is_some_and(|it| it.as_str() == name)) {
                break run;
            }
        };
        assert_eq!(end_of(&ada, &run).await.0, status, "{name}");
    }
}
