//! HTTP vals: what takes more than one request, or a look at how the answer comes.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, future::join_all};
use hamlet_models::Limits;
use hamlet_runtime::{BoxError, End};
use http_body_util::{BodyExt, StreamBody};
use tokio::sync::mpsc;

use crate::harness::{Host, LIMITS, Val, eventually, get, request, text};

/// How long a limit may take to be met that must be.
const LIMITS_PASS_WITHIN: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_warm_worker_keeps_the_modules_state_and_a_saved_version_has_its_own() {
    let host = Host::new().await;
    let val = Val::http("let count = 0; export default () => new Response(`one ${++count}`);");
    assert_eq!(host.get(&val, "/").await, (200, "one 1".into()));
    assert_eq!(host.get(&val, "/").await, (200, "one 2".into()));

    let saved = val.saved("let count = 0; export default () => new Response(`two ${++count}`);");
    assert_eq!(host.get(&saved, "/").await, (200, "two 1".into()));
    assert_eq!(
        host.get(&val, "/").await,
        (200, "one 3".into()),
        "the old version still has its worker"
    );
}

#[tokio::test]
async fn first_requests_at_once_share_one_worker() {
    let host = Host::new().await;
    let val =
        Val::http("console.log('loaded'); let count = 0; export default () => new Response(`${++count}`);");
    let mut answers: Vec<String> = join_all((0..8).map(|_| host.get(&val, "/")))
        .await
        .into_iter()
        .map(|it| it.1)
        .collect();
    answers.sort();
    assert_eq!(answers, ["1", "2", "3", "4", "5", "6", "7", "8"]);
    assert_eq!(val.record.lines(), ["loaded"], "the module was loaded once");
    assert_eq!(host.runtime.stats().warm, 1);
}

#[tokio::test]
async fn another_environment_has_another_worker() {
    let host = Host::new().await;
    let val =
        Val::http("let count = 0; export default () => new Response(`${Deno.env.get('WHO')} ${++count}`);");
    let as_ada = Val {
        environment: vec![("WHO".to_owned(), "ada".to_owned())].into(),
        ..val.clone()
    };
    let as_eve = Val {
        environment: vec![("WHO".to_owned(), "eve".to_owned())].into(),
        ..val
    };
    assert_eq!(host.get(&as_ada, "/").await.1, "ada 1");
    assert_eq!(host.get(&as_eve, "/").await.1, "eve 1");
}

#[tokio::test]
async fn a_new_version_of_an_imported_val_takes_effect_on_the_next_request() {
    let host = Host::new().await;
    let val = Val::http(
        "import tool from 'https://esm.town/v/bob/tool'; let count = 0;
         export default () => new Response(`${tool} ${++count}`);",
    );
    val.vals.save("bob", "tool", "export default 'old'");
    assert_eq!(host.get(&val, "/").await.1, "old 1");
    assert_eq!(host.get(&val, "/").await.1, "old 2");
    val.vals.save("bob", "tool", "export default 'new'");
    assert_eq!(host.get(&val, "/").await.1, "new 1");
}

#[tokio::test]
async fn what_was_imported_at_run_time_takes_effect_on_the_next_request_too() {
    let host = Host::new().await;
    let when_loaded = "const { word } = await import('https://esm.town/v/bob/tool');
         let count = 0; export default () => new Response(`${word()} ${++count}`);";
    let when_asked = "let count = 0; export default async () => {
           const { word } = await import('https://esm.town/v/bob/' + 'tool');
           return new Response(`${word()} ${++count}`);
         };";
    for code in [when_loaded, when_asked] {
        let val = Val::http(code);
        val.vals.save("bob", "deep", "export default 'old'");
        let tool = "import deep from './deep'; export const word = () => deep;";
        val.vals.save("bob", "tool", tool);
        assert_eq!(host.get(&val, "/").await.1, "old 1", "{code}");
        assert_eq!(host.get(&val, "/").await.1, "old 2", "{code}: the worker stays");
        val.vals.save("bob", "deep", "export default 'new'");
        assert_eq!(
            host.get(&val, "/").await.1,
            "new 1",
            "{code}: also what that imports"
        );
        val.vals.save("bob", "tool", "export const word = () => 'own';");
        assert_eq!(host.get(&val, "/").await.1, "own 1", "{code}");
    }
}

#[tokio::test]
async fn a_val_is_imported_by_so_many_names_at_most() {
    let host = Host::new().await;
    let val = Val::http(
        "const spell = (n) => [...'manynamess'].map((c, at) => n >> at & 1 ? c.toUpperCase() : c).join('');
         export default async () => {
           const said = [];
           for (let n = 0; n < 1003; n++) {
             await import(`https://esm.town/v/bob/${spell(n)}`).catch((error) => said.push(error.message));
           }
           return new Response([said.length, said[0]].join());
         };",
    );
    val.vals.save("bob", "manyNamess", "");
    let (_, said) = host.get(&val, "/").await;
    assert!(
        said.starts_with("3,") && said.contains("at most 1000 names"),
        "{said}"
    );
}

#[tokio::test]
async fn lines_of_requests_at_once_belong_to_the_request_that_printed_them() {
    let host = Host::new().await;
    let val = Val::http(
        "let here = 0, go; const all = new Promise((resolve) => go = resolve);
         export default async (request) => {
           const name = new URL(request.url).pathname;
           console.log(name, 'in');
           if (++here === 4) go();
           await all;
           await new Promise((resolve) => setTimeout(resolve, 1));
           console.log(name, 'out');
           queueMicrotask(() => console.log(name, 'late'));
           return new Response(name);
         };",
    );
    let requests = ["/a", "/b", "/c", "/d"].map(|path| (path, val.apart()));
    let answers = join_all(requests.iter().map(|(path, val)| host.get(val, path))).await;
    for ((path, val), answer) in requests.iter().zip(answers) {
        assert_eq!(answer, (200, (*path).to_owned()));
        let record = val.record.until_ended(1).await;
        assert_eq!(
            val.record.lines(),
            ["in", "out", "late"].map(|when| format!("{path} {when}"))
        );
        assert_eq!(record[0].1.end, End::Ok);
    }
}

#[tokio::test]
async fn work_after_the_answer_goes_on_and_its_lines_belong_to_the_run() {
    let host = Host::new().await;
    let val = Val::http(
        "let go; const gate = new Promise((resolve) => go = resolve);
         export default (request) => {
           if (request.url.endsWith('/go')) go();
           else gate.then(() => console.log('after'));
           return new Response('answered');
         };",
    );
    let (first, second) = (val.apart(), val.apart());
    assert_eq!(host.get(&first, "/").await.1, "answered");
    let ended = first.record.until_ended(1).await;
    host.get(&second, "/go").await;
    let record = first.record.until_line("after").await;
    assert_eq!(record.logs[0].0, ended[0].0);
    assert_eq!(record.ended.len(), 1, "a run ends once");
    assert!(second.record.lines().is_empty());
}

#[tokio::test]
async fn both_bodies_stream() {
    let host = Host::new().await;
    let val = Val::http(
        "export default (request) => new Response(request.body.pipeThrough(new TextDecoderStream())
           .pipeThrough(new TransformStream({ transform: (text, to) => to.enqueue(text.toUpperCase()) }))
           .pipeThrough(new TextEncoderStream()));",
    );
    let (sender, receiver) = mpsc::unbounded_channel::<Bytes>();
    let stream = futures_util::stream::unfold(receiver, |mut receiver| async {
        let bytes = receiver.recv().await?;
        Some((Ok::<_, BoxError>(hyper::body::Frame::data(bytes)), receiver))
    });
    let upload = request("POST", "/", "").map(|_| StreamBody::new(stream).boxed_unsync());
    sender.send("first".into()).expect("a reader");
    let response = host.fetch(&val, upload).await.response.expect("an answer");
    let mut body = response.into_body().into_data_stream();
    assert_eq!(body.next().await.expect("a part").expect("whole"), "FIRST");
    assert!(
        val.record.now().ended.is_empty(),
        "the run goes on as long as its answer"
    );
    sender.send("second".into()).expect("a reader");
    assert_eq!(body.next().await.expect("a part").expect("whole"), "SECOND");
    drop(sender);
    assert!(body.next().await.is_none());
    let ended = val.record.until_ended(1).await;
    assert_eq!(ended[0].1.end, End::Ok);
    assert!(ended[0].1.phases.sent_ms.is_some());
}

#[tokio::test]
async fn a_client_that_leaves_aborts_the_request_and_cancels_the_run() {
    let host = Host::new().await;
    let val = Val::http(
        "export default (request) => {
           request.signal.addEventListener('abort', () => console.log('aborted'));
           return new Response(new ReadableStream({
             start(to) { to.enqueue(new TextEncoder().encode('begun')); },
             cancel() { console.log('cancelled'); },
           }));
         };",
    );
    let response = host.fetch(&val, get("/")).await.response.expect("an answer");
    let mut body = response.into_body().into_data_stream();
    assert_eq!(body.next().await.expect("a part").expect("whole"), "begun");
    drop(body);
    let ended = val.record.until_ended(1).await;
    assert_eq!(ended[0].1.end, End::Cancelled);
    val.record.until_line("aborted").await;
    val.record.until_line("cancelled").await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_answer_cancels_the_run() {
    let host = Host::new().await;
    let val = Val::http(
        "export default (request) => { console.log('in'); return new Promise(() => {
           request.signal.addEventListener('abort', () => console.log('aborted')); setInterval(() => {}, 1000); }) };",
    );
    let waiting = host.runtime.fetch(val.request(), get("/"));
    tokio::select! {
        _ = waiting => panic!("there is no answer to come"),
        _ = val.record.until_line("in") => {}
    }
    assert_eq!(val.record.until_ended(1).await[0].1.end, End::Cancelled);
    val.record.until_line("aborted").await;
}

#[tokio::test]
async fn a_handler_that_ends_its_process_fails_its_own_requests_only() {
    let host = Host::new().await;
    let val = Val::http(
        "export default (request) => request.url.endsWith('/exit') ? Deno.exit(7) : new Response('alive');",
    );
    assert_eq!(host.get(&val, "/").await.1, "alive");
    let outcome = host
        .fetch(&val, get("/exit"))
        .await
        .response
        .expect_err("no answer");
    assert_eq!(outcome.end, End::Threw);
    let message = &outcome.error.as_ref().expect("an error").message;
    assert!(message.contains("exit code 7"), "{message}");
    assert_eq!(
        host.get(&val, "/").await.1,
        "alive",
        "the next request has a new worker"
    );
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_a_failed_run() {
    let host = Host::new().await;
    let val = Val::http(
        "export default () => { let parts = 0; return new Response(new ReadableStream({
           async pull(to) {
             if (parts++) { await new Promise((resolve) => setTimeout(resolve, 1)); Deno.exit(3); }
             to.enqueue(new Uint8Array(10));
           } })); };",
    );
    let response = host.fetch(&val, get("/")).await.response.expect("a head");
    let read = response.into_body().collect().await;
    assert!(read.is_err(), "a broken body is not passed off as whole");
    let ended = val.record.until_ended(1).await;
    assert_eq!(ended[0].1.end, End::Threw);
    assert!(
        ended[0]
            .1
            .error
            .as_ref()
            .expect("an error")
            .message
            .contains("exit code 3")
    );
}

#[tokio::test]
async fn the_val_sees_the_public_request_and_no_headers_between_hops() {
    let host = Host::new().await;
    let val = Val::http(
        "export default async (request) => Response.json([request.method, request.url, request.headers.get('host'),
           request.headers.get('connection'), request.headers.get('x-mine'), await request.clone().text()]);",
    );
    let mut request = request("PUT", "/a/b?c=d&e=%20", "body");
    request
        .headers_mut()
        .insert("connection", "close, x-hop".parse().expect("a value"));
    request
        .headers_mut()
        .insert("x-hop", "1".parse().expect("a value"));
    request
        .headers_mut()
        .insert("x-mine", "2".parse().expect("a value"));
    let response = host.fetch(&val, request).await.response.expect("an answer");
    assert_eq!(response.headers()["content-type"], "application/json");
    assert!(
        response
            .headers()
            .keys()
            .all(|name| !name.as_str().starts_with("hamlet"))
    );
    assert_eq!(
        text(response.into_body()).await,
        r#"["PUT","https://ada-main.vals.test/a/b?c=d&e=%20","ada-main.vals.test",null,"2","body"]"#
    );
}

#[tokio::test]
async fn a_request_that_runs_too_long_ends_and_those_beside_it_go_on() {
    let host = Host::limited(Limits {
        wall_seconds: 1,
        ..LIMITS
    })
    .await;
    let val = Val::http(
        "export default (request) => request.url.endsWith('/slow')
           ? new Promise(() => setInterval(() => {}, 1000)) : new Response('quick');",
    );
    let slow = host.fetch(&val, get("/slow"));
    let (slow, quick) = tokio::join!(slow, host.get(&val, "/"));
    assert_eq!(quick.1, "quick");
    let outcome = slow.response.expect_err("no answer");
    assert_eq!(outcome.end, End::TimedOut);
    let message = &outcome.error.as_ref().expect("an error").message;
    assert_eq!(message, "ran longer than the 1 s that a run may take");
    assert_eq!(host.get(&val, "/").await.1, "quick");
}

#[tokio::test]
async fn an_endless_loop_in_a_request_ends_it_by_its_cpu_time() {
    let host = Host::limited(Limits {
        cpu_seconds: 1,
        ..LIMITS
    })
    .await;
    let val = Val::http("export default () => { console.log('before'); for (;;); };");
    let outcome = host.fetch(&val, get("/")).await.response.expect_err("no answer");
    assert_eq!(outcome.end, End::TimedOut);
    assert!(
        outcome
            .error
            .as_ref()
            .expect("an error")
            .message
            .contains("1 s of CPU time")
    );
    assert_eq!(val.record.lines(), ["before"]);
}

#[tokio::test]
async fn a_request_can_be_cancelled() {
    let host = Host::new().await;
    let val = Val {
        run: Some(uuid::Uuid::new_v4().into()),
        ..Val::http(
            "export default () => { console.log('in'); return new Promise(() => setInterval(() => {}, 1000)); };",
        )
    };
    let (fetched, ()) = tokio::join!(host.fetch(&val, get("/")), async {
        val.record.until_line("in").await;
        assert!(host.runtime.cancel(val.run.expect("an id")));
    });
    assert_eq!(fetched.response.expect_err("no answer").end, End::Cancelled);
    assert!(!host.runtime.cancel(val.run.expect("an id")), "it is over");
}

#[tokio::test]
async fn only_so_many_workers_stay_warm_and_none_fails() {
    let host = Host::with(LIMITS, |config| config.warm_workers = Some(2)).await;
    let vals: Vec<Val> = (0..4)
        .map(|number| {
            Val::http(&format!(
                "let count = 0; export default () => new Response(`{number} ${{++count}}`);"
            ))
        })
        .collect();
    for (number, val) in vals.iter().enumerate() {
        assert_eq!(host.get(val, "/").await.1, format!("{number} 1"));
    }
    assert_eq!(host.get(&vals[3], "/").await.1, "3 2", "the latest is still warm");
    assert_eq!(host.get(&vals[0], "/").await.1, "0 1", "the oldest was let go");
}

#[tokio::test]
async fn a_worker_that_nobody_uses_finishes_its_work_and_ends() {
    let host = Host::with(
        Limits {
            warm_seconds: 0,
            ..LIMITS
        },
        |config| config.blank_workers = 0,
    )
    .await;
    let val = Val::http(
        "export default () => { setTimeout(() => console.log('late'), 300); return new Response('answered'); };",
    );
    assert_eq!(host.get(&val, "/").await.1, "answered");
    val.record.until_line("late").await;
    crate::harness::eventually("the worker is gone", || host.runtime.stats().warm == 0).await;
}

#[tokio::test]
async fn a_val_reaches_the_instance_through_its_own_channel() {
    let host = Host::new().await;
    let val = Val::http(
        "export default async () => {
           const answer = await fetch('http://127.0.0.1:18787/v1/me', { method: 'POST', body: 'hi',
             headers: { authorization: 'Bearer x' } });
           const again = await fetch(new Request('http://127.0.0.1:18787/v1/vals'));
           const other = await fetch('http://127.0.0.1:18788/v1/vals').catch((error) => error.name);
           return new Response([await answer.text(), await again.text(), other].join('; '));
         };",
    );
    let (_, said) = host.get(&val, "/").await;
    assert_eq!(
        said,
        "POST /v1/me Bearer x hi; GET /v1/vals no token ; NotCapable"
    );
}

#[tokio::test]
async fn requests_beyond_the_limit_wait_for_their_turn() {
    let host = Arc::new(
        Host::limited(Limits {
            user_runs: 1,
            ..LIMITS
        })
        .await,
    );
    let val = Val::http(
        "let now = 0; export default async () => { const most = ++now;
           await new Promise((resolve) => setTimeout(resolve, 5)); now--; return new Response(`${most}`); };",
    );
    let answers = join_all((0..4).map(|_| host.get(&val, "/"))).await;
    assert!(answers.iter().all(|(_, most)| most == "1"), "{answers:?}");
    let waited = val
        .record
        .now()
        .ended
        .iter()
        .filter(|(_, it)| it.phases.waited_ms > Some(Duration::from_millis(4).as_secs_f64() * 1000.0))
        .count();
    assert!(waited >= 2, "later ones say that they waited");
}

#[tokio::test]
async fn a_request_that_waits_does_not_pay_for_its_neighbours() {
    let host = Host::limited(Limits {
        cpu_seconds: 1,
        ..LIMITS
    })
    .await;
    let val = Val::http(
        "const { promise, resolve } = Promise.withResolvers();
         export default async (request) => {
           const path = new URL(request.url).pathname;
           const end = Date.now() + 300;
           if (path === '/work') while (Date.now() < end);
           if (path === '/wait') await promise;
           if (path === '/done') resolve();
           return new Response(path);
         };",
    );
    let others = async {
        for _ in 0..6 {
            assert_eq!(host.get(&val, "/work").await, (200, "/work".into()));
        }
        host.get(&val, "/done").await
    };
    let (waited, _) = tokio::join!(host.get(&val, "/wait"), others);
    assert_eq!(waited, (200, "/wait".into()));
}

#[tokio::test]
async fn one_that_holds_up_its_neighbours_is_ended_by_its_cpu_time() {
    let host = Host::limited(Limits {
        cpu_seconds: 1,
        ..LIMITS
    })
    .await;
    let val = Val::http(
        "export default (request) => {
           console.log('here');
           if (request.url.endsWith('/loop')) for (;;);
           return new Promise(() => {});
         };",
    );
    let waits = host.fetch(&val, get("/wait"));
    let loops = async {
        val.record.until_line("here").await;
        host.fetch(&val, get("/loop")).await
    };
    let (waited, looped) = tokio::join!(waits, loops);
    let outcome = looped.response.expect_err("an endless loop");
    assert_eq!(outcome.end, End::TimedOut);
    assert!(waited.response.is_err(), "its worker is gone");
}

#[tokio::test]
async fn what_a_request_leaves_behind_ends_with_its_time_though_others_come() {
    let host = Host::limited(Limits {
        wall_seconds: 1,
        ..LIMITS
    })
    .await;
    let val = Val::http(
        "let count = 0;
         export default async (request) => {
           if (request.url.endsWith('/stay')) setInterval(() => console.log('still here'), 10);
           await new Promise((resolve) => setTimeout(resolve, 5));
           return new Response(`${++count}`);
         };",
    );
    assert_eq!(host.get(&val, "/stay").await.1, "1");
    let another = async { while host.get(&val, "/").await.1 != "1" {} };
    tokio::time::timeout(LIMITS_PASS_WITHIN, another)
        .await
        .expect("another worker for the requests after its time");
}

#[tokio::test]
async fn silent_work_that_a_request_leaves_behind_ends_too() {
    let host = Host::limited(Limits {
        wall_seconds: 1,
        warm_seconds: 60,
        ..LIMITS
    })
    .await;
    let val = Val::http(
        "export default () => { setInterval(() => new Uint8Array(1e6).fill(1), 5); return new Response('ok'); };",
    );
    host.get(&val, "/").await;
    assert_eq!(host.runtime.stats().warm, 1);
    eventually("its worker is gone", || host.runtime.stats().warm == 0).await;
}
