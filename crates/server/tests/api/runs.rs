//! Runs: starting, following, listing and cancelling them, on the real Deno.

use axum::{
    body::{Body, BodyDataStream},
    http::{Method, Request, StatusCode, header},
};
use futures_util::StreamExt;
use hamlet_models::{
    BaseRun, ExtendedVal, FullRun, Page, Privacy, ProblemCode, RunId, RunStatus, Trigger, ValKind,
};
use serde_json::{Value, json};

use crate::test_app::{Client, TestApp};

/// One event of a run's stream.
#[derive(Debug, PartialEq)]
struct Event {
    name: String,
    id: String,
    data: Value,
}

/// A run's stream, read an event at a time.
struct Events {
    body: BodyDataStream,
    text: String,
}

impl Events {
    /// Follows a run from the event after `last_id` on.
    async fn of(client: &Client, run: RunId, last_id: &str) -> Self {
        let request = Request::get(format!("/v1/runs/{run}/events"))
            .header(header::HOST, "hamlet.test")
            .header(header::AUTHORIZATION, client.authorization())
            .header("last-event-id", last_id);
        let response = client.open(request.body(Body::empty()).expect("a request")).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        Self {
            body: response.into_body().into_data_stream(),
            text: String::new(),
        }
    }

    /// The next event; none once the stream has ended.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                        .map(str::to_owned)
                };
                let data = field("data").map(|data| serde_json::from_str(&data).expect("JSON"));
                let read = Event {
                    name: field("event").unwrap_or_default(),
                    id: field("id").unwrap_or_default(),
                    data: data.unwrap_or_default(),
                };
                self.text = rest.to_owned();
                return Some(read);
            }
            let chunk = self.body.next().await?.expect("a chunk");
            self.text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
        }
    }

    /// The next event that is a line.
    async fn next_line(&mut self) -> Event {
        loop {
            let event = self.next().await.expect("another line");
            if event.name == "log" {
                return event;
            }
        }
    }

    async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// Follows a run to its end.
pub(crate) async fn ended(client: &Client, run: RunId) -> FullRun {
    Events::of(client, run, "").await.rest().await;
    let run: FullRun = client.get(&format!("/v1/runs/{run}")).await.json();
    assert!(run.status.is_over());
    run
}

pub(crate) async fn start(client: &Client, val: &ExtendedVal, new: Value) -> BaseRun {
    let answer = client.post(&format!("/v1/vals/{}/runs", val.id), &new).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text());
    answer.json()
}

const ENDLESS: &str = "console.log(\"begun\"); await new Promise(() => setInterval(() => {}, 1000));";

#[tokio::test]
async fn a_run_from_the_page_is_answered_before_it_ends_and_followed_until_it_does() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "console.log(\"one\");\nconsole.warn(\"two\");\nexport default (n: number) => n + 1;";
    let val = ada
        .write_val("steps", ValKind::Script, Privacy::Private, code)
        .await;
    let begun = start(&ada, &val, json!({"args": [1]})).await;
    assert_eq!(
        (begun.trigger, begun.run_end_at, begun.val_id),
        (Trigger::Editor, None, Some(val.id))
    );

    let events = Events::of(&ada, begun.id, "").await.rest().await;
    let lines: Vec<(&str, &str)> = events
        .iter()
        .filter(|event| event.name == "log")
        .map(|event| {
            (
                event.id.as_str(),
                event.data["message"].as_str().expect("a message"),
            )
        })
        .collect();
    assert_eq!(lines, [("1", "one"), ("2", "two")]);
    let last = events.last().expect("an end");
    assert_eq!(
        (last.name.as_str(), last.id.as_str(), &last.data["status"]),
        ("status", "end", &json!("ok"))
    );

    let run: FullRun = ada.get(&format!("/v1/runs/{}", begun.id)).await.json();
    assert_eq!((run.status, run.return_value), (RunStatus::Ok, Some(json!(2))));
}

#[tokio::test]
async fn who_comes_back_gets_the_lines_that_they_missed() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "console.log(\"one\"); console.log(\"two\"); console.log(\"three\");";
    let val = ada
        .write_val("lines", ValKind::Script, Privacy::Private, code)
        .await;
    let run = start(&ada, &val, json!({})).await.id;
    ended(&ada, run).await;

    let events = Events::of(&ada, run, "2").await.rest().await;
    let seen: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(
        (seen, &events[0].data["message"]),
        (vec!["3", "end"], &json!("three"))
    );
    let done = ada
        .with("last-event-id", "end")
        .get(&format!("/v1/runs/{run}/events"))
        .await;
    done.nothing();
}

#[tokio::test]
async fn a_run_that_goes_on_shows_its_lines_so_far_and_can_be_cancelled() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let val = ada
        .write_val("endless", ValKind::Script, Privacy::Public, ENDLESS)
        .await;
    let run = start(&ada, &val, json!({})).await.id;
    let mut events = Events::of(&ada, run, "").await;
    assert_eq!(events.next_line().await.data["message"], "begun");

    let so_far: FullRun = ada.get(&format!("/v1/runs/{run}")).await.json();
    assert_eq!(
        (so_far.status, so_far.run_end_at, so_far.logs.len()),
        (RunStatus::Running, None, 1)
    );
    let listed: Page<BaseRun> = ada
        .get(&format!("/v1/vals/{}/runs?status=running", val.id))
        .await
        .json();
    assert_eq!(listed.data.iter().map(|run| run.id).collect::<Vec<_>>(), [run]);

    let cancel = format!("/v1/vals/{}/evaluations/{run}/cancel", val.id);
    eve.send(Method::POST, &cancel, Body::empty())
        .await
        .refused(ProblemCode::NotOwner);
    let cancelled = ada.send(Method::POST, &cancel, Body::empty()).await;
    assert_eq!(cancelled.value(), json!({"found": true}));
    let last = events.rest().await.pop().expect("an end");
    assert_eq!(
        (last.id.as_str(), &last.data["status"]),
        ("end", &json!("cancelled"))
    );

    let again = ada.send(Method::POST, &cancel, Body::empty()).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND);
    assert!(
        serde_json::from_slice::<String>(&again.body).is_ok(),
        "{}",
        again.text()
    );
}

#[tokio::test]
async fn a_request_from_the_page_keeps_the_answer() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default async (request: Request) => new Response(\n\
        [request.method, request.url, request.headers.get(\"x-word\"), await request.text()].join(\"|\"),\n\
        { status: 201, headers: { \"x-answer\": \"yes\" } },\n);";
    let val = ada.write_val("echo", ValKind::Http, Privacy::Private, code).await;
    let request = json!({"method": "PUT", "path": "/a?b=c", "headers": [["X-Word", "w"]], "body": "text"});
    let run = ended(&ada, start(&ada, &val, json!({"request": request})).await.id).await;
    assert_eq!((run.status, run.trigger), (RunStatus::Ok, Trigger::Editor));
    let response = run.response.clone().expect("the answer");
    assert_eq!(response.body, "PUT|http://ada-echo.localhost:8787/a?b=c|w|text");
    assert_eq!(
        (response.status, response.base64, response.size),
        (201, false, response.body.len() as u64)
    );
    assert!(
        response
            .headers
            .contains(&("x-answer".to_owned(), "yes".to_owned()))
    );
    let request = run.request.as_ref().expect("the request");
    assert_eq!((request.method.as_str(), request.status), ("PUT", Some(201)));
    assert_eq!(request.url, "http://ada-echo.localhost:8787/a?b=c");

    let plain = ended(&ada, start(&ada, &val, json!({})).await.id).await;
    assert!(
        plain
            .response
            .clone()
            .expect("the answer")
            .body
            .starts_with("GET|http://ada-echo.localhost:8787/|")
    );
}

#[tokio::test]
async fn a_request_that_can_not_be_sent_says_which_part() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = ada
        .write_val(
            "echo",
            ValKind::Http,
            Privacy::Private,
            "export default () => new Response()",
        )
        .await;
    let path = format!("/v1/vals/{}/runs", val.id);
    for (request, part) in [
        (json!({"method": "G T", "path": "/"}), "request.method"),
        (json!({"method": "GET", "path": "x"}), "request.path"),
        (json!({"method": "GET", "path": "/a b"}), "request.path"),
        (
            json!({"method": "GET", "path": "/", "headers": [["a b", "c"]]}),
            "request.headers",
        ),
        (
            json!({"method": "GET", "path": "/", "headers": [["a", "b\nc"]]}),
            "request.headers",
        ),
    ] {
        let refused = ada
            .post(&path, &json!({"request": request}))
            .await
            .refused(ProblemCode::Invalid);
        assert_eq!(refused.details[0].path, part);
    }
    let runs: Page<BaseRun> = ada.get(&path).await.json();
    assert!(runs.data.is_empty(), "what is refused makes no run");
}

#[tokio::test]
async fn a_scheduled_val_runs_now() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default ({ lastRunAt }) => console.log(\"last\", lastRunAt);";
    let tick = ada
        .write_val("tick", ValKind::Interval, Privacy::Private, code)
        .await;
    let run = ended(&ada, start(&ada, &tick, json!({})).await.id).await;
    assert_eq!(
        (run.status, run.logs[0].message.as_str()),
        (RunStatus::Ok, "last undefined")
    );
}

#[tokio::test]
async fn an_older_version_can_be_run() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = ada
        .write_val("number", ValKind::Script, Privacy::Private, "export default 1;")
        .await;
    ada.post(
        &format!("/v1/vals/{}/versions", val.id),
        &json!({"code": "export default 2;"}),
    )
    .await;
    let run = ended(&ada, start(&ada, &val, json!({"version": 0})).await.id).await;
    assert_eq!((run.version, run.return_value.clone()), (Some(0), Some(json!(1))));
    let run = ended(&ada, start(&ada, &val, json!({})).await.id).await;
    assert_eq!((run.version, run.return_value.clone()), (Some(1), Some(json!(2))));
    let missing = ada
        .post(&format!("/v1/vals/{}/runs", val.id), &json!({"version": 9}))
        .await;
    missing.refused(ProblemCode::NotFound);
}

#[tokio::test]
async fn runs_are_their_owners_alone() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let open = ada
        .write_val("open", ValKind::Script, Privacy::Public, "console.log(\"hush\")")
        .await;
    let hidden = ada.create_val("hidden", Privacy::Private).await;
    let run = start(&ada, &open, json!({})).await.id;
    ended(&ada, run).await;

    let (of_open, of_hidden) = (
        format!("/v1/vals/{}/runs", open.id),
        format!("/v1/vals/{}/runs", hidden.id),
    );
    eve.get(&of_open).await.refused(ProblemCode::NotOwner);
    eve.get(&of_hidden).await.refused(ProblemCode::NotFound);
    eve.post(&of_open, &json!({}))
        .await
        .refused(ProblemCode::NotOwner);
    eve.post(&of_hidden, &json!({}))
        .await
        .refused(ProblemCode::NotFound);
    for path in [format!("/v1/runs/{run}"), format!("/v1/runs/{run}/events")] {
        let answer = eve.get(&path).await;
        answer.refused(ProblemCode::NotFound);
        assert!(!answer.text().contains("hush"));
        app.anonymous().get(&path).await.refused(ProblemCode::SignedOut);
    }
    for path in [&of_open, &of_hidden] {
        app.anonymous().get(path).await.refused(ProblemCode::SignedOut);
    }
    let mine: Page<BaseRun> = eve.get("/v1/me/runs").await.json();
    assert!(mine.data.is_empty());
    let writer = app
        .token(&ada, [hamlet_server::auth::RUN_WRITE].into_iter().collect())
        .await;
    writer.get(&of_open).await.refused(ProblemCode::MissingScope);
    writer
        .get(&format!("/v1/runs/{run}"))
        .await
        .refused(ProblemCode::MissingScope);
    let reader = app
        .token(&ada, [hamlet_server::auth::RUN_READ].into_iter().collect())
        .await;
    reader
        .post(&of_open, &json!({}))
        .await
        .refused(ProblemCode::MissingScope);
}

#[tokio::test]
async fn lists_are_filtered_and_paged_newest_first() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default (fail: boolean) => { if (fail) throw new Error(\"asked to\"); };";
    let val = ada
        .write_val("maybe", ValKind::Script, Privacy::Private, code)
        .await;
    let mut ids = Vec::new();
    for fail in [false, true, false] {
        let run = start(&ada, &val, json!({"args": [fail]})).await.id;
        ended(&ada, run).await;
        ids.insert(0, run);
    }
    let listed = async |query: &str| -> Vec<RunId> {
        let page: Page<BaseRun> = ada.get(&format!("/v1/vals/{}/runs?{query}", val.id)).await.json();
        page.data.iter().map(|run| run.id).collect()
    };
    assert_eq!(listed("").await, ids);
    assert_eq!(listed("error=true").await, [ids[1]]);
    assert_eq!(listed("status=ok").await, [ids[0], ids[2]]);
    assert_eq!(listed("trigger=http").await, []);
    assert_eq!(listed("version=0&limit=1&offset=1").await, [ids[1]]);
    let first: Page<BaseRun> = ada
        .get(&format!("/v1/vals/{}/runs?limit=2&error=false", val.id))
        .await
        .json();
    assert_eq!((first.data.len(), first.links.next), (2, None));
    ada.get(&format!("/v1/vals/{}/runs?limit=0", val.id))
        .await
        .refused(ProblemCode::Invalid);
    ada.get(&format!("/v1/vals/{}/runs?status=maybe", val.id))
        .await
        .refused(ProblemCode::Invalid);
}
