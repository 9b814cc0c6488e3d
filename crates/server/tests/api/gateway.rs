//! HTTP vals at their own addresses, on the real Deno.

use std::collections::BTreeSet;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, Method, Request, StatusCode, header, request::Builder},
    response::Response,
};
use futures_util::{StreamExt, future::join_all};
use hamlet_models::{BaseRun, ExtendedVal, FullRun, Page, Privacy, ProblemCode, RunStatus, Trigger, ValKind};
use hamlet_server::config::Settings;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::test_app::{Client, TestApp, body_in_parts};

/// What a val, or the gateway in its place, answered.
pub(crate) struct Visit {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Bytes,
}

impl Visit {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().expect("text"))
    }
}

/// A request to a val's address.
pub(crate) fn at(method: Method, label: &str, path: &str) -> Builder {
    Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, format!("{label}.localhost:8787"))
}

pub(crate) async fn visit(app: &TestApp, request: Builder) -> Visit {
    visit_with(app, request, Body::empty()).await
}

pub(crate) async fn visit_with(app: &TestApp, request: Builder, body: Body) -> Visit {
    let response = app
        .app
        .clone()
        .answer(request.body(body).expect("a request"))
        .await;
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    Visit {
        status: head.status,
        headers: head.headers,
        body,
    }
}

pub(crate) async fn get(app: &TestApp, label: &str, path: &str) -> Visit {
    visit(app, at(Method::GET, label, path)).await
}

pub(crate) async fn page(owner: &Client, name: &str, privacy: Privacy, code: &str) -> ExtendedVal {
    owner.write_val(name, ValKind::Http, privacy, code).await
}

pub(crate) async fn runs_of(owner: &Client, val: &ExtendedVal) -> Vec<FullRun> {
    let runs: Page<BaseRun> = owner
        .get(&format!("/v1/vals/{}/runs?limit=100", val.id))
        .await
        .json();
    let full = runs
        .data
        .iter()
        .map(async |run| owner.get(&format!("/v1/runs/{}", run.id)).await.json());
    join_all(full).await
}

const HELLO: &str = "export default () => new Response(\"hello\");";

#[tokio::test]
async fn a_val_answers_at_its_host_and_leaves_a_run() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default (request: Request) => {\n  console.log(\"asked\");\n\
        return Response.json({ method: request.method, url: request.url }, { status: 202 });\n};";
    let val = page(&ada, "hello", Privacy::Public, code).await;
    assert_eq!(
        val.links.endpoint.as_deref(),
        Some("http://ada-hello.localhost:8787")
    );

    let answer = visit(&app, at(Method::DELETE, "ada-hello", "/a/b?c=d")).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    let seen: Value = serde_json::from_str(answer.text()).expect("JSON");
    assert_eq!(
        seen,
        json!({"method": "DELETE", "url": "http://ada-hello.localhost:8787/a/b?c=d"})
    );

    let [run] = <[FullRun; 1]>::try_from(runs_of(&ada, &val).await).expect("one request makes one run");
    assert_eq!(
        (run.status, run.trigger, run.version),
        (RunStatus::Ok, Trigger::Http, Some(0))
    );
    let request = run.request.clone().expect("the request");
    assert_eq!((request.method.as_str(), request.status), ("DELETE", Some(202)));
    assert_eq!(request.url, "http://ada-hello.localhost:8787/a/b?c=d");
    assert_eq!((run.logs.len(), run.logs[0].message.as_str()), (1, "asked"));
}

#[tokio::test]
async fn a_val_answers_under_its_name_in_any_case_and_under_its_id() {
    let app = TestApp::running().await;
    let ada = app.user("Ada-Lovelace").await;
    let val = page(&ada, "helloThere", Privacy::Public, HELLO).await;
    for label in [
        "ada-lovelace-hellothere",
        "ADA-LOVELACE-HELLOTHERE",
        &val.id.0.as_simple().to_string(),
        &val.id.to_string(),
        &val.id.to_string().to_uppercase(),
    ] {
        assert_eq!(get(&app, label, "/").await.text(), "hello", "{label}");
    }
    let rooted = Request::get("/").header(header::HOST, "ada-lovelace-hellothere.localhost.:8787");
    assert_eq!(
        visit(&app, rooted).await.text(),
        "hello",
        "a name from the root on"
    );
}

#[tokio::test]
async fn nobody_takes_the_address_that_is_anothers_id() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let mut number = 0;
    // The last part of an id can be a val's name only if it begins with a letter.
    let id = loop {
        number += 1;
        let val = page(&ada, &format!("hello{number}"), Privacy::Public, HELLO).await;
        let id = val.id.to_string();
        if id[24..].starts_with(|first: char| first.is_ascii_alphabetic()) {
            break id;
        }
    };
    let (username, name) = id.rsplit_once('-').expect("an id with dashes");
    let eve = app.user(username).await;
    page(
        &eve,
        name,
        Privacy::Public,
        "export default () => new Response('mine');",
    )
    .await;
    assert_eq!(get(&app, &id, "/").await.text(), "hello");
}

#[tokio::test]
async fn a_question_about_the_server_reaches_the_val_at_its_root() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default (request: Request) => new Response(`${request.method} ${request.url}`);";
    page(&ada, "asked", Privacy::Public, code).await;
    let answer = visit(&app, at(Method::OPTIONS, "ada-asked", "*")).await;
    assert_eq!(answer.text(), "OPTIONS http://ada-asked.localhost:8787/");
}

#[tokio::test]
async fn names_too_long_for_a_host_are_replaced_by_the_id() {
    let app = TestApp::running().await;
    let ada = app.user(&"a".repeat(32)).await;
    let val = page(&ada, &"v".repeat(48), Privacy::Public, HELLO).await;
    let endpoint = val.links.endpoint.clone().expect("an address");
    assert_eq!(
        endpoint,
        format!("http://{}.localhost:8787", val.id.0.as_simple())
    );
    assert_eq!(
        get(&app, &val.id.0.as_simple().to_string(), "/").await.text(),
        "hello"
    );
}

#[tokio::test]
async fn a_host_without_an_http_val_is_a_page_that_says_so() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.write_val("script", ValKind::Script, Privacy::Public, "1")
        .await;
    ada.write_val("secret", ValKind::Script, Privacy::Private, "1")
        .await;
    for (label, word) in [
        ("ada-missing", "No val"),
        ("nobody", "No val"),
        ("ada-secret", "No val"),
        ("ada-script", "Not an HTTP val"),
    ] {
        let answer = get(&app, label, "/").await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{label}");
        assert!(answer.header("content-type").starts_with("text/html"));
        assert!(
            answer.text().contains(word) && !answer.text().contains("<script"),
            "{}",
            answer.text()
        );
    }
    let json = visit(
        &app,
        at(Method::GET, "ada-missing", "/").header(header::ACCEPT, "application/json"),
    )
    .await;
    let problem: hamlet_models::Problem = serde_json::from_slice(&json.body).expect("a problem");
    assert_eq!(
        (json.status, problem.code),
        (StatusCode::NOT_FOUND, ProblemCode::NotFound)
    );
}

#[tokio::test]
async fn a_private_val_answers_its_owner_alone_and_never_sees_the_token() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let code = "export default (request: Request) => new Response(`auth: ${request.headers.get(\"authorization\")}`);";
    let val = page(&ada, "secret", Privacy::Private, code).await;
    page(&ada, "open", Privacy::Public, code).await;
    let with = |label: &str, value: &str| at(Method::GET, label, "/").header(header::AUTHORIZATION, value);

    let missing = get(&app, "ada-missing", "/").await;
    let reader = app
        .token(&ada, [hamlet_server::auth::RUN_READ].into_iter().collect())
        .await;
    for stranger in [
        at(Method::GET, "ada-secret", "/"),
        with("ada-secret", eve.authorization()),
        with("ada-secret", "Bearer hmlt_unknown"),
    ] {
        let answer = visit(&app, stranger).await;
        assert_eq!(
            (answer.status, answer.text()),
            (missing.status, missing.text()),
            "as if there were none"
        );
    }
    assert_eq!(
        visit(&app, with("ada-secret", reader.authorization()))
            .await
            .status,
        StatusCode::FORBIDDEN
    );
    assert!(
        runs_of(&ada, &val).await.is_empty(),
        "who is refused starts no run"
    );

    assert_eq!(
        visit(&app, with("ada-secret", ada.authorization())).await.text(),
        "auth: null"
    );
    assert_eq!(
        visit(&app, with("ada-open", eve.authorization())).await.text(),
        "auth: null"
    );
    assert_eq!(
        visit(&app, with("ada-open", "Bearer of-its-own")).await.text(),
        "auth: Bearer of-its-own"
    );
}

#[tokio::test]
async fn an_unlisted_val_answers_anyone_who_has_its_address() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    page(&ada, "hidden", Privacy::Unlisted, HELLO).await;
    assert_eq!(get(&app, "ada-hidden", "/").await.text(), "hello");
}

#[tokio::test]
async fn the_owners_browser_is_let_in_to_a_private_val() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let code = "export default (request: Request) => new Response(`${request.url} ${request.headers.get(\"cookie\")}`);";
    let val = page(&ada, "secret", Privacy::Private, code).await;
    let path = format!("/v1/vals/{}/open", val.id);
    eve.get(&path).await.refused(ProblemCode::NotFound);
    app.anonymous().get(&path).await.refused(ProblemCode::SignedOut);

    let opened = ada.get(&path).await;
    assert_eq!(
        (opened.status, opened.header("cache-control")),
        (StatusCode::FOUND, "no-store")
    );
    let address = opened
        .header("location")
        .strip_prefix("http://ada-secret.localhost:8787")
        .expect("the val's host");
    let entered = get(&app, "ada-secret", address).await;
    assert_eq!(
        (entered.status, entered.header("location")),
        (StatusCode::FOUND, "/")
    );
    let cookie = entered.header("set-cookie");
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && !cookie.contains("Domain"),
        "{cookie}"
    );
    let (pair, _) = cookie.split_once(';').expect("a pair");
    let visit_with_cookie =
        |label| at(Method::GET, label, "/a").header(header::COOKIE, format!("a=1; {pair}"));
    let answer = visit(&app, visit_with_cookie("ada-secret")).await;
    assert_eq!(
        answer.text(),
        "http://ada-secret.localhost:8787/a a=1",
        "the val sees neither pass nor cookie"
    );

    page(&eve, "secret", Privacy::Private, code).await;
    assert_eq!(
        visit(&app, visit_with_cookie("eve-secret")).await.status,
        StatusCode::NOT_FOUND
    );
    let forged = get(&app, "ada-secret", "/a?b&hamlet_visit=hmlt_forged").await;
    assert_eq!(
        (forged.header("location"), forged.header("set-cookie")),
        ("/a?b", "")
    );
}

#[tokio::test]
async fn a_val_sets_cookies_for_no_host_but_its_own() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default () => new Response(\"set\", { headers: [[\"set-cookie\", \"a=1; Domain=localhost; Path=/\"],\n\
        [\"set-cookie\", \"b=2; HttpOnly\"]] });";
    page(&ada, "planter", Privacy::Public, code).await;
    let answer = get(&app, "ada-planter", "/").await;
    let cookies: Vec<_> = answer.headers.get_all(header::SET_COOKIE).iter().collect();
    assert_eq!(cookies, ["a=1; Path=/", "b=2; HttpOnly"]);
}

#[tokio::test]
async fn any_page_may_call_a_val_that_does_not_say_otherwise() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    page(&ada, "open", Privacy::Public, HELLO).await;
    let code = "export default () => new Response(\"mine\", { headers: { \"access-control-allow-origin\": \"\" } });";
    page(&ada, "closed", Privacy::Public, code).await;
    let ask = |label| {
        at(Method::OPTIONS, label, "/")
            .header(header::ORIGIN, "https://example.com")
            .header(header::ACCESS_CONTROL_REQUEST_METHOD, "PUT")
            .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "x-one, x-two")
    };

    let answer = get(&app, "ada-open", "/").await;
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(
        answer.header("access-control-allow-methods"),
        "GET, HEAD, PUT, PATCH, POST, DELETE"
    );
    let preflight = visit(&app, ask("ada-open")).await;
    assert_eq!((preflight.status, preflight.text()), (StatusCode::NO_CONTENT, ""));
    assert_eq!(preflight.header("access-control-allow-origin"), "*");
    assert_eq!(preflight.header("access-control-allow-headers"), "x-one, x-two");

    let answer = get(&app, "ada-closed", "/").await;
    assert_eq!(
        (
            answer.text(),
            answer.headers.contains_key("access-control-allow-methods")
        ),
        ("mine", false)
    );
    let preflight = visit(&app, ask("ada-closed")).await;
    assert_eq!((preflight.status, preflight.text()), (StatusCode::OK, "mine"));
    assert_eq!(preflight.header("access-control-allow-origin"), "");
    assert!(!preflight.headers.contains_key("access-control-allow-headers"));
}

#[tokio::test]
async fn a_failed_run_shows_its_message_and_its_stack_to_the_owner_only() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let code = "export default () => {\n  throw new Error(\"<b>no</b>\");\n};";
    let val = page(&ada, "broken", Privacy::Public, code).await;
    let ask = || at(Method::GET, "ada-broken", "/");

    let page = visit(&app, ask().header(header::ACCEPT, "text/html")).await;
    assert_eq!(
        (page.status, page.header("x-should-retry")),
        (StatusCode::BAD_GATEWAY, "false")
    );
    assert!(
        page.header("content-security-policy")
            .starts_with("default-src 'none'")
    );
    assert!(
        page.text().contains("Error: &lt;b&gt;no&lt;/b&gt;"),
        "{}",
        page.text()
    );
    assert!(
        !page.text().contains("/v/ada/broken") && !page.text().contains("<script"),
        "{}",
        page.text()
    );
    let theirs = visit(&app, ask().header(header::AUTHORIZATION, eve.authorization())).await;
    assert!(!theirs.text().contains("/v/ada/broken"), "{}", theirs.text());
    let own = visit(&app, ask().header(header::AUTHORIZATION, ada.authorization())).await;
    assert!(own.text().contains("/v/ada/broken?v=0:2:9"), "{}", own.text());

    let json = visit(&app, ask().header(header::ACCEPT, "application/json")).await;
    assert_eq!(
        (json.status, json.header("content-type")),
        (StatusCode::BAD_GATEWAY, "application/json")
    );
    let problem: Value = serde_json::from_slice(&json.body).expect("JSON");
    assert_eq!(
        (&problem["code"], problem.get("stack")),
        (&json!("run_failed"), None)
    );
    for run in runs_of(&ada, &val).await {
        assert_eq!(
            (
                run.status,
                run.request.as_ref().and_then(|request| request.status)
            ),
            (RunStatus::Error, Some(502))
        );
    }
}

#[tokio::test]
async fn an_answer_that_is_no_response_is_a_failed_run() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    page(
        &ada,
        "text",
        Privacy::Public,
        "export default () => \"just text\";",
    )
    .await;
    assert_eq!(get(&app, "ada-text", "/").await.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn an_answer_streams_while_the_val_still_writes_it() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    // The second part is written only once another request asks for it: whoever gathers the body never gets there.
    let code = "let more: () => void;\nconst asked = new Promise<void>((resolve) => more = resolve);\n\
        export default (request: Request) => {\n\
          if (new URL(request.url).pathname === \"/more\") { more(); return new Response(\"\"); }\n\
          const bytes = (text: string) => new TextEncoder().encode(text);\n\
          return new Response(new ReadableStream({ async start(stream) {\n\
            stream.enqueue(bytes(\"one\")); await asked; stream.enqueue(bytes(\"two\")); stream.close();\n\
          } }));\n};";
    let val = page(&ada, "parts", Privacy::Public, code).await;
    let request = at(Method::GET, "ada-parts", "/")
        .body(Body::empty())
        .expect("a request");
    let response: Response = app.app.clone().answer(request).await;
    let mut body = response.into_body().into_data_stream();
    assert_eq!(body.next().await.expect("a part").expect("bytes"), "one");
    get(&app, "ada-parts", "/more").await;
    let mut rest = String::new();
    while let Some(part) = body.next().await {
        rest.push_str(std::str::from_utf8(&part.expect("bytes")).expect("UTF-8"));
    }
    assert_eq!(rest, "two");
    assert!(
        runs_of(&ada, &val)
            .await
            .iter()
            .all(|run| run.status == RunStatus::Ok)
    );
}

#[tokio::test]
async fn a_body_streams_to_the_val_while_it_is_still_sent() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    page(
        &ada,
        "echo",
        Privacy::Public,
        "export default (request: Request) => new Response(request.body);",
    )
    .await;
    let (sender, body) = body_in_parts();
    sender.send("one".into()).expect("a reader");
    let request = at(Method::POST, "ada-echo", "/").body(body).expect("a request");
    let response = app.app.clone().answer(request).await;
    let mut body = response.into_body().into_data_stream();
    assert_eq!(body.next().await.expect("a part").expect("bytes"), "one");
    // Sent only after the first part came back.
    sender.send("two".into()).expect("a reader");
    assert_eq!(body.next().await.expect("a part").expect("bytes"), "two");
    drop(sender);
    assert!(body.next().await.is_none(), "the answer ends with the request");
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_however_it_comes() {
    let app = TestApp::running_with(Settings {
        request_body_mb: Some(1),
        ..Settings::default()
    })
    .await;
    let ada = app.user("ada").await;
    let code =
        "export default async (request: Request) => new Response(String((await request.bytes()).length));";
    page(&ada, "size", Privacy::Public, code).await;
    let post = || at(Method::POST, "ada-size", "/");
    let whole = |bytes: usize| post().header(header::CONTENT_LENGTH, bytes);
    let answer = visit_with(&app, whole(1_000_000), Body::from(vec![0; 1_000_000])).await;
    assert_eq!(answer.text(), "1000000");
    let said = visit_with(&app, whole(1_000_001), Body::from(vec![0; 1_000_001])).await;
    assert_eq!(said.status, StatusCode::PAYLOAD_TOO_LARGE);
    let parts =
        futures_util::stream::iter((0..11).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![0; 100_000]))));
    let streamed = visit_with(&app, post(), Body::from_stream(parts)).await;
    assert_eq!(
        streamed.status,
        StatusCode::PAYLOAD_TOO_LARGE,
        "{}",
        streamed.text()
    );
}

#[tokio::test]
async fn a_new_version_answers_the_next_request() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = page(&ada, "hello", Privacy::Public, HELLO).await;
    assert_eq!(get(&app, "ada-hello", "/").await.text(), "hello");
    let save = json!({"code": "export default () => new Response(\"again\");"});
    ada.post(&format!("/v1/vals/{}/versions", val.id), &save).await;
    assert_eq!(get(&app, "ada-hello", "/").await.text(), "again");
    ada.delete(&format!("/v1/vals/{}", val.id)).await.nothing();
    assert_eq!(get(&app, "ada-hello", "/").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn lines_of_requests_at_the_same_time_belong_to_their_own_runs() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "const all = Promise.withResolvers<void>();\nlet here = 0;\n\
        export default async (request: Request) => {\n\
          const { search } = new URL(request.url);\n\
          console.log(\"before\", search);\n\
          if (++here === 8) all.resolve();\n\
          await all.promise;\n\
          console.log(\"after\", search);\n\
          return new Response(search);\n};";
    let val = page(&ada, "crowd", Privacy::Public, code).await;
    let paths: Vec<String> = (0..8).map(|n| format!("/?n={n}")).collect();
    let answers = join_all(paths.iter().map(|path| get(&app, "ada-crowd", path))).await;
    assert!(answers.iter().all(|answer| answer.status == StatusCode::OK));
    let runs = runs_of(&ada, &val).await;
    let seen: BTreeSet<String> = runs
        .iter()
        .map(|run| {
            let url = run
                .request
                .as_ref()
                .map(|request| request.url.clone())
                .unwrap_or_default();
            let (_, search) = url.split_once('?').expect("a query");
            let lines: Vec<&str> = run.logs.iter().map(|line| line.message.as_str()).collect();
            assert_eq!(
                lines,
                [format!("before ?{search}"), format!("after ?{search}")],
                "{url}"
            );
            search.to_owned()
        })
        .collect();
    assert_eq!(seen.len(), 8);
}

/// Sends a request in the background, and waits until there are so many runs.
async fn sent(app: &TestApp, owner: &Client, label: &str, count: usize) -> (JoinHandle<Response>, BaseRun) {
    let request = at(Method::GET, label, "/")
        .body(Body::empty())
        .expect("a request");
    let request = tokio::spawn(app.app.clone().answer(request));
    loop {
        let runs: Page<BaseRun> = owner.get("/v1/me/runs").await.json();
        if runs.data.len() == count {
            return (request, runs.data.into_iter().next().expect("the newest run"));
        }
    }
}

/// Reads a run's events to their end, and answers how it ended.
pub(crate) async fn end_of(owner: &Client, run: &BaseRun) -> (RunStatus, FullRun) {
    let events = owner.get(&format!("/v1/runs/{}/events", run.id)).await;
    assert_eq!(events.status, StatusCode::OK);
    let run: FullRun = owner.get(&format!("/v1/runs/{}", run.id)).await.json();
    (run.status, run)
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_run_wherever_that_is() {
    let settings = Settings {
        user_runs: Some(1),
        ..Settings::default()
    };
    let app = TestApp::running_with(settings).await;
    let ada = app.user("ada").await;
    let code = "export default () => new Promise(() => setInterval(() => {}, 1000));";
    page(&ada, "never", Privacy::Public, code).await;
    let (first, goes_on) = sent(&app, &ada, "ada-never", 1).await;
    let (second, waits) = sent(&app, &ada, "ada-never", 2).await;
    assert_eq!(waits.status, RunStatus::Queued);
    second.abort();
    let (status, run) = end_of(&ada, &waits).await;
    assert_eq!(
        (status, run.request.clone().and_then(|request| request.status)),
        (RunStatus::Cancelled, None)
    );
    first.abort();
    assert_eq!(end_of(&ada, &goes_on).await.0, RunStatus::Cancelled);
}

#[tokio::test]
async fn more_requests_than_there_are_places_are_told_to_come_back() {
    let settings = Settings {
        user_runs: Some(1),
        wall_seconds: Some(30),
        ..Settings::default()
    };
    let app = TestApp::running_with(settings).await;
    let ada = app.user("ada").await;
    let code = "export default () => new Response(new ReadableStream({ start(stream) {\n\
        stream.enqueue(new TextEncoder().encode(\"one\"));\n\
      } }));";
    let val = page(&ada, "holds", Privacy::Public, code).await;
    let first = at(Method::GET, "ada-holds", "/")
        .body(Body::empty())
        .expect("a request");
    let response = app.app.clone().answer(first).await;
    let mut held = response.into_body().into_data_stream();
    assert_eq!(held.next().await.expect("a part").expect("bytes"), "one");

    let refused = get(&app, "ada-holds", "/").await;
    assert_eq!(
        refused.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "{}",
        refused.text()
    );
    assert!(!refused.header("retry-after").is_empty());
    let runs = runs_of(&ada, &val).await;
    let error = runs[0].error.as_ref().expect("why it did not run");
    assert_eq!(error.name, "OverCapacityError");
    assert!(
        error
            .message
            .starts_with("runs at once are limited to 1 for each user"),
        "{}",
        error.message
    );
    assert_eq!(runs[0].status, RunStatus::Error);
}

#[tokio::test]
async fn the_app_does_not_answer_at_a_host_of_the_vals_site() {
    let app = TestApp::with_settings(Settings {
        vals_domain: Some("vals.example.com:8443".into()),
        ..Settings::default()
    })
    .await;
    let ada = app.user("ada").await;
    for host in [
        "example.com",
        "app.Example.com:8443",
        "vals.example.com",
        "vals.example.com.",
    ] {
        let there = ada.with("host", host);
        for path in ["/v1/me", "/login"] {
            let refused = there.get(path).await.refused(ProblemCode::Malformed);
            assert!(
                refused.message.contains("vals.example.com:8443"),
                "{}",
                refused.message
            );
        }
    }
    for host in [
        "example.net",
        "myexample.com",
        "127.0.0.1:8787",
        "[::1]:8787",
        "localhost",
        "hamlet",
    ] {
        ada.with("host", host).get("/v1/me").await.value();
    }
    // The usual host of vals is a domain that registers others, as browsers see it.
    let usual = TestApp::new().await;
    let ada = usual.user("ada").await;
    for host in ["localhost:8787", "127.0.0.1:8787", "hamlet.lan:8787"] {
        ada.with("host", host).get("/v1/me").await.value();
    }
}
