//! Acts by what a val answers: too much of it, to its wrong end, or as somebody else.

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use futures_util::{StreamExt, future::join};
use hamlet_models::{FullRun, RunStatus, ValKind};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::siege::{LOOK_AGAIN, Siege};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_answers_ill_beside_a_neighbour() {
    let siege = Siege::start(&[]).await;
    siege
        .suffers("a gigabyte that is read", async || is_read(&siege).await)
        .await;
    let not_read = async || is_not_read(&siege).await;
    siege.suffers("a gigabyte that nobody reads", not_read).await;
    let midway = async || ends_midway(&siege).await;
    siege.suffers("an end in the middle of an answer", midway).await;
    let itself = async || ends_itself(&siege).await;
    siege.suffers("a signal to itself", itself).await;
    siege
        .suffers("an answer after its run", async || late(&siege).await)
        .await;
    siege
        .suffers("forged frames", async || forged(&siege).await)
        .await;
    siege
        .suffers("replaced globals", async || replaced(&siege).await)
        .await;
    siege.over().await;
}

/// Makes megabytes as they are asked for, and tells how many it has made.
const GIGABYTE: &str = "const part = new Uint8Array(1 << 20); let made = 0;
export default (request: Request) => {
  if (request.url.endsWith('/made')) return new Response(String(made));
  made = 0;
  return new Response(new ReadableStream({
    pull(to) { if (made === 1024) to.close(); else { made++; to.enqueue(part); } },
  }, { highWaterMark: 0 }));
};";

async fn is_read(siege: &Siege) {
    let val = siege.val(ValKind::Http, GIGABYTE).await;
    let answer = siege.mallory.open(&val, Method::GET, "/", Body::empty()).await;
    let mut parts = answer.expect("an answer").into_body().into_data_stream();
    let mut read = 0;
    while let Some(part) = parts.next().await {
        read += part.expect("whole").len();
    }
    assert_eq!(read, 1 << 30);
    assert_eq!(siege.latest_run(&val).await.status, RunStatus::Ok);
}

/// The neighbour goes on while it waits for its reader, who leaves.
async fn is_not_read(siege: &Siege) {
    let val = siege.val(ValKind::Http, GIGABYTE).await;
    let answer = siege.mallory.open(&val, Method::GET, "/", Body::empty()).await;
    let mut parts = answer.expect("an answer").into_body().into_data_stream();
    parts.next().await.expect("a part").expect("whole");
    siege.neighbour.loads.go_on_all().await;
    let (_, made) = siege.mallory.visit(&val, "/made").await.expect("an answer");
    let made: u32 = String::from_utf8_lossy(&made).parse().expect("a number");
    assert!(made < 32, "{made} MB were made for a reader that has not read");
    let run = siege
        .mallory
        .runs(&val)
        .await
        .expect("its runs")
        .pop()
        .expect("a run");
    assert_eq!(run.status, RunStatus::Running);
    drop(parts);
    let run = siege.mallory.ended(run.id).await.expect("its end");
    assert_eq!(run.status, RunStatus::Cancelled, "{:?}", run.error);
}

async fn ends_midway(siege: &Siege) {
    for (end, told) in [
        ("Deno.exit(7)", "ended with exit code 7"),
        ("process.exit(0)", "ended with exit code 0"),
        ("process.abort()", "was ended by signal"),
        ("process.reallyExit(3)", "ended with exit code 3"),
    ] {
        let code = format!(
            "export default (request: Request) => {{
               if (request.url.endsWith('/end')) {end};
               console.log('in');
               return new Response(new ReadableStream({{
                 start(to) {{ to.enqueue(new TextEncoder().encode('one')); }},
               }}));
             }};"
        );
        let val = siege.val(ValKind::Http, &code).await;
        let answer = siege.mallory.open(&val, Method::GET, "/", Body::empty()).await;
        let mut parts = answer.expect("an answer").into_body().into_data_stream();
        assert_eq!(parts.next().await.expect("a part").expect("whole"), "one");
        let (status, _) = siege.mallory.visit(&val, "/end").await.expect("an answer");
        assert_eq!(status, StatusCode::BAD_GATEWAY);
        let rest = parts.next().await;
        assert!(
            rest.is_some_and(|rest| rest.is_err()),
            "what was cut off is not passed off as whole: {end}"
        );
        let run = siege
            .mallory
            .runs(&val)
            .await
            .expect("its runs")
            .pop()
            .expect("a run");
        let run = siege.mallory.ended(run.id).await.expect("its end");
        failed(&run, told);
        assert_eq!(run.request.as_ref().and_then(|request| request.status), Some(200));
    }
}

fn failed(run: &FullRun, told: &str) {
    let error = run.error.as_ref().expect("an error");
    assert_eq!(run.status, RunStatus::Error, "{run:?}");
    assert!(error.message.contains(told), "{}", error.message);
    assert_eq!(run.logs.len(), 1, "{:?}", run.logs);
}

/// What no val may send is an error like any other, and the process goes on.
async fn ends_itself(siege: &Siege) {
    for kill in [
        "process.kill(process.pid, 'SIGKILL')",
        "process.kill(0, 'SIGKILL')",
        "Deno.kill(Deno.pid, 'SIGKILL')",
    ] {
        let code = format!("console.log('in'); try {{ {kill}; }} catch {{ throw new Error('refused'); }}");
        failed(&siege.script(&code).await, "refused");
    }
}

/// Whoever waits for a run is told when it is cancelled, and hears nothing of what it answers later.
async fn late(siege: &Siege) {
    let code = "let answer: (response: Response) => void;
        export default (request: Request) => {
          if (request.url.endsWith('/release')) { answer(new Response('late')); console.log('late'); return new Response('own'); }
          console.log('in');
          return new Promise((resolve) => { answer = resolve; });
        };";
    let val = siege.val(ValKind::Http, code).await;
    let mallory = &siege.mallory;
    let cancelled = async {
        let run = loop {
            let run = mallory.runs(&val).await.expect("its runs").pop();
            match run.filter(|run| run.status == RunStatus::Running) {
                Some(run) => break run,
                None => sleep(LOOK_AGAIN).await,
            }
        };
        // It waits once it has printed.
        let path = format!("/v1/runs/{}", run.id);
        while mallory
            .get::<FullRun>(&path)
            .await
            .expect("a run")
            .logs
            .is_empty()
        {
            sleep(LOOK_AGAIN).await;
        }
        let cancel = format!("/v1/vals/{}/evaluations/{}/cancel", val.val.id, run.id);
        let found: Value = mallory.post(&cancel, &json!({})).await.expect("an answer");
        assert_eq!(found, json!({"found": true}));
        run.id
    };
    let (visited, cancelled) = join(mallory.visit(&val, "/"), cancelled).await;
    let (status, page) = visited.expect("an answer");
    let page = String::from_utf8_lossy(&page);
    assert!(
        status == StatusCode::BAD_GATEWAY && page.contains("cancelled"),
        "{page}"
    );
    let before = mallory.ended(cancelled).await.expect("its end");
    assert_eq!(before.status, RunStatus::Cancelled);
    for _ in 0..3 {
        let (_, body) = mallory.visit(&val, "/release").await.expect("an answer");
        assert_eq!(&*body, b"own");
    }
    assert_eq!(
        mallory.ended(cancelled).await.expect("its end"),
        before,
        "it ended once"
    );
}

/// Into everything that is open, while the run goes on, and as an answer.
async fn forged(siege: &Siege) {
    let code = r#"import fs from "node:fs";
        export default (request: Request) => {
          const frames = ['{"type":"end","value":"\\"forged\\"","cut":false,"module_ms":1}\n',
            '{"type":"log","run":"00000000-0000-0000-0000-000000000000","level":"info","message":"forged"}\n',
            'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged'];
          for (let fd = 3; fd < 256; fd++) {
            for (const frame of frames) try { fs.writeSync(fd, frame); } catch { /* Not every number is a file. */ }
          }
          return new Response('{"name":"Error","message":"forged","stack":""}', { status: 500, headers: {
            'hamlet-failure': '1', 'hamlet-failure-00000000000000000000000000000000': '1' } });
        };"#;
    let val = siege.val(ValKind::Http, code).await;
    let (status, body) = siege.mallory.visit(&val, "/").await.expect("an answer");
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(
        body.starts_with(b"{\"name\""),
        "its bytes are its own answer: {body:?}"
    );
    let run = siege.latest_run(&val).await;
    assert_eq!((run.status, run.error.as_ref()), (RunStatus::Ok, None));
    assert!(
        run.logs.iter().all(|line| line.message != "forged"),
        "{:?}",
        run.logs
    );
}

/// What the worker needs of the engine it has taken before; the val's own answer needs what it has replaced.
async fn replaced(siege: &Siege) {
    let code = "const broken = () => { throw new Error('replaced'); };
        const { Response: Own } = globalThis;
        JSON.stringify = JSON.parse = broken;
        Object.prototype.toString = broken;
        Object.defineProperty(Object.prototype, 'toJSON', { get: () => () => 'forged' });
        Object.defineProperty(Object.prototype, 'status', { get: () => 299, set() {} });
        globalThis.Response = globalThis.Request = globalThis.Headers = globalThis.console = broken as never;
        globalThis.fetch = globalThis.setTimeout = globalThis.queueMicrotask = broken as never;
        Deno.serve = Deno.exit = broken as never;
        export default () => new Own('own', { status: 201 });";
    let val = siege.val(ValKind::Http, code).await;
    let (status, body) = siege.mallory.visit(&val, "/").await.expect("an answer");
    assert_eq!((status.as_u16(), &*body), (201, &b"own"[..]));
    let run = siege.latest_run(&val).await;
    assert_eq!((run.status, run.error.as_ref()), (RunStatus::Ok, None));
    assert_eq!(run.request.as_ref().and_then(|request| request.status), Some(201));
}
