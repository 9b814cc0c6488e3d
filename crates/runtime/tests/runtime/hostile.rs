//! Vals that mean harm, each beside a neighbour under load: they reach nothing, their runs say how they ended, the
//! neighbour goes on, and nothing of them is left. `tests/vals/hostile_*` are those that one run is enough for.

use std::{fs, path::Path, process, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use hamlet_models::{Limits, ValKind};
use hamlet_runtime::{BoxError, End, Input};
use http_body_util::{BodyExt, StreamBody};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};
use uuid::Uuid;

use crate::{
    expected::Expected,
    harness::{Host, LIMITS, Val, eventually, get, request, text, workers_of},
    traps::Traps,
    vals::{check_on, folders},
};

/// An HTTP val that is asked again and again.
struct Neighbour {
    pid: String,
    folder: String,
    answered: watch::Receiver<u64>,
    asking: JoinHandle<()>,
}

impl Neighbour {
    async fn of(host: &Arc<Host>) -> Self {
        let val = Val::http(
            "let count = 0; export default () => Response.json([count++, String(Deno.pid), Deno.cwd()]);",
        );
        let ask = |host: Arc<Host>, val: Val| async move {
            let (status, answer) = host.get(&val.apart(), "/").await;
            assert_eq!(status, 200, "{answer}");
            serde_json::from_str::<(u64, String, String)>(&answer).expect("an answer")
        };
        let (first, pid, folder) = ask(host.clone(), val.clone()).await;
        let (sender, answered) = watch::channel(first);
        let host = host.clone();
        let expected = pid.clone();
        let asking = tokio::spawn(async move {
            loop {
                let (count, pid, _) = ask(host.clone(), val.clone()).await;
                assert_eq!(pid, expected, "its worker is still the same");
                sender.send_replace(count);
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
        Self {
            pid,
            folder,
            answered,
            asking,
        }
    }

    /// It answers as ever, now.
    async fn goes_on(&mut self) {
        let seen = *self.answered.borrow();
        let more = self.answered.wait_for(|count| *count > seen + 2);
        let more = tokio::time::timeout(Duration::from_secs(30), more).await;
        assert!(matches!(more, Ok(Ok(_))), "the neighbour answers no more");
    }

    async fn leave(self) {
        self.asking.abort();
        let ended = self.asking.await;
        assert!(
            ended.is_err_and(|ended| ended.is_cancelled()),
            "the neighbour failed"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_vals_reach_nothing_and_leave_nothing() {
    let traps = Traps::set().await;
    let hostile = folders(|name| name.starts_with("hostile_"));
    assert!(hostile.len() > 20, "the folders are there");
    let failures: Vec<String> = stream::iter(&hostile)
        .map(|folder| async {
            let mut problems = beside_a_neighbour(folder, &traps).await;
            problems.extend(traps.caught());
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            (!problems.is_empty()).then(|| format!("{name}:\n  {}", problems.join("\n  ")))
        })
        .buffer_unordered(2)
        .filter_map(|failure| async { failure })
        .collect()
        .await;
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

async fn beside_a_neighbour(folder: &Path, traps: &Traps) -> Vec<String> {
    let expected = match Expected::of(folder) {
        Ok(expected) => expected,
        Err(problem) => return vec![problem],
    };
    let host = Arc::new(Host::with(expected.limits(LIMITS), |config| config.blank_workers = 0).await);
    let mut neighbour = Neighbour::of(&host).await;
    let environment = [
        ("TRAP_PORT", traps.port.to_string()),
        ("TRAP_SOCKET", traps.socket()),
        ("SERVER_PID", process::id().to_string()),
        ("VICTIM_PID", neighbour.pid.clone()),
        ("VICTIM_FOLDER", neighbour.folder.clone()),
        (
            "CACHE_FOLDER",
            host.work_dir.with_file_name("cache").display().to_string(),
        ),
    ];
    let mut problems = check_on(&host, folder, &expected, &environment).await;
    neighbour.goes_on().await;
    if !expected.is_http() {
        eventually("only the neighbour is left", || {
            workers_of(&host.work_dir).len() == 1
        })
        .await;
    }
    neighbour.leave().await;
    host.runtime.shutdown(Duration::ZERO).await;
    problems.extend(left_behind(&host));
    problems
}

/// What is there of workers that should be gone.
fn left_behind(host: &Host) -> Vec<String> {
    let processes = workers_of(&host.work_dir)
        .into_iter()
        .map(|pid| format!("process {pid} is left"));
    let files = fs::read_dir(&host.work_dir).expect("the work folder").flatten();
    let files = files
        .filter(|entry| entry.file_name() != "bootstrap" && entry.file_name() != "stock")
        .map(|entry| format!("{} is left", entry.path().display()));
    processes.chain(files).collect()
}

#[tokio::test]
async fn a_flood_of_raw_output_is_cut_beside_a_neighbour_that_goes_on() {
    let limits = Limits {
        log_kb: 10,
        // A val that waits for its output to be taken uses little of the other.
        wall_seconds: 5,
        cpu_seconds: 1,
        ..LIMITS
    };
    let host = Arc::new(Host::with(limits, |_| {}).await);
    let mut neighbour = Neighbour::of(&host).await;
    for flood in [
        "for (;;) console.log('x'.repeat(1000));",
        "const line = new Uint8Array(1e6).fill(97); for (;;) Deno.stdout.writeSync(line);",
        "const lines = new Uint8Array(1e6).fill(10); for (;;) Deno.stderr.writeSync(lines);",
    ] {
        let (ran, ()) = tokio::join!(host.script(flood), neighbour.goes_on());
        assert_eq!(ran.outcome.end, End::TimedOut, "{:?}", ran.outcome);
        assert!(ran.outcome.truncated.logs);
        let kept: usize = ran.record.lines().iter().map(String::len).sum();
        assert!(kept < 20_000, "{kept} bytes are kept");
    }
    neighbour.leave().await;
}

#[tokio::test]
async fn a_gigabyte_of_answer_is_streamed_and_waits_for_its_reader() {
    let host = Host::new().await;
    let val = Val::http(
        "const part = new Uint8Array(1 << 20); let made = 0;
         export default (request) => request.url.endsWith('/made') ? new Response(String(made))
           : new Response(new ReadableStream({
               pull(to) { if (made === 1024) to.close(); else { made++; to.enqueue(part); } },
             }, { highWaterMark: 0 }));",
    );
    let response = host.fetch(&val, get("/")).await.response.expect("an answer");
    let mut body = response.into_body().into_data_stream();
    let first = body.next().await.expect("a part").expect("whole").len();
    let made: usize = host.get(&val.apart(), "/made").await.1.parse().expect("a number");
    assert!(made < 32, "{made} MB were made for a reader that has not read");
    let mut read = first;
    while let Some(part) = body.next().await {
        read += part.expect("whole").len();
    }
    assert_eq!(read, 1 << 30);
    assert_eq!(val.record.until_ended(1).await[0].1.end, End::Ok);
}

#[tokio::test]
async fn a_gigabyte_in_one_piece_is_out_of_memory() {
    let limits = Limits {
        memory_mb: 64,
        ..LIMITS
    };
    let host = Arc::new(Host::with(limits, |_| {}).await);
    let mut neighbour = Neighbour::of(&host).await;
    let val = Val::http("export default () => new Response(new Uint8Array(2 ** 30).fill(1));");
    let outcome = host.fetch(&val, get("/")).await.response.expect_err("no answer");
    assert_eq!(outcome.end, End::OutOfMemory, "{outcome:?}");
    neighbour.goes_on().await;
    neighbour.leave().await;
}

#[tokio::test]
async fn requests_that_drip_hold_only_their_own_users_places() {
    let limits = Limits {
        wall_seconds: 1,
        user_runs: 4,
        ..LIMITS
    };
    let host = Arc::new(Host::with(limits, |_| {}).await);
    let dripping = Val {
        group: Uuid::new_v4(),
        ..Val::http(
            "export default async (request) => { console.log('in'); return new Response(await request.text()); };",
        )
    };
    let mut neighbour = Neighbour::of(&host).await;
    let (mut drips, mut fetches) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let (sender, receiver) = mpsc::unbounded_channel::<Bytes>();
        let body = stream::unfold(receiver, |mut receiver| async {
            let bytes = receiver.recv().await?;
            Some((Ok::<_, BoxError>(hyper::body::Frame::data(bytes)), receiver))
        });
        let upload = request("POST", "/", "").map(|_| StreamBody::new(body).boxed_unsync());
        sender.send("drip".into()).expect("a reader");
        drips.push(sender);
        let (host, val) = (host.clone(), dripping.clone());
        fetches.push(tokio::spawn(async move { host.fetch(&val, upload).await }));
    }
    dripping
        .record
        .until("all are in", |record| record.logs.len() == 4)
        .await;
    neighbour.goes_on().await;
    for fetch in fetches {
        let outcome = fetch.await.expect("an answer").response.expect_err("no answer");
        assert_eq!(outcome.end, End::TimedOut);
    }
    for drip in drips {
        tokio::time::timeout(Duration::from_secs(30), drip.closed())
            .await
            .expect("nobody reads the request any more");
    }
    neighbour.leave().await;
}

#[tokio::test]
async fn an_answer_after_its_run_was_cancelled_reaches_nobody() {
    let host = Host::new().await;
    let late = Val {
        run: Some(Uuid::new_v4().into()),
        ..Val::http(
            "let answer; export default (request) => {
               if (request.url.endsWith('/release')) { answer(new Response('late')); console.log('answered late'); return new Response('own'); }
               console.log('in'); return new Promise((resolve) => { answer = resolve; });
             };",
        )
    };
    let (fetched, ()) = tokio::join!(host.fetch(&late, get("/")), async {
        late.record.until_line("in").await;
        assert!(host.runtime.cancel(late.run.expect("an id")));
    });
    assert_eq!(fetched.response.expect_err("no answer").end, End::Cancelled);
    let other = Val {
        run: None,
        ..late.apart()
    };
    for _ in 0..3 {
        assert_eq!(host.get(&other, "/release").await, (200, "own".into()));
    }
    other.record.until_line("answered late").await;
    assert_eq!(late.record.now().ended.len(), 1, "it ended once");
}

#[tokio::test]
async fn a_script_that_was_cancelled_says_nothing_more() {
    let host = Host::with(LIMITS, |config| config.blank_workers = 0).await;
    let val = Val {
        run: Some(Uuid::new_v4().into()),
        ..Val::new(
            ValKind::Script,
            "console.log('in'); for (;;) { await new Promise((resolve) => setTimeout(resolve)); console.log('still'); }",
        )
    };
    let (ran, ()) = tokio::join!(host.run(&val, Input::Script { args: None }), async {
        val.record.until_line("in").await;
        assert!(host.runtime.cancel(val.run.expect("an id")));
    });
    assert_eq!(ran.outcome.end, End::Cancelled);
    eventually("its process is gone", || workers_of(&host.work_dir).is_empty()).await;
    let said = val.record.lines().len();
    host.script("1").await;
    assert_eq!(val.record.lines().len(), said);
    assert_eq!(val.record.now().ended.len(), 1);
}

/// The answer's bytes are the val's: what it forges stays its own answer.
#[tokio::test]
async fn a_forged_failure_is_an_answer_like_any_other() {
    let host = Host::new().await;
    let val = Val::http(
        "export default (request) => new Response('{\"name\":\"Error\",\"message\":\"forged\",\"stack\":\"\"}', {
           status: 500, headers: { 'hamlet-failure': '1', 'hamlet-failure-00000000000000000000000000000000': '1' } });",
    );
    let response = host.fetch(&val, get("/")).await.response.expect("an answer");
    assert_eq!(response.status(), 500);
    assert!(text(response.into_body()).await.contains("forged"));
    assert_eq!(val.record.until_ended(1).await[0].1.end, End::Ok);
}
