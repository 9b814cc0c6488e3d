//! What becomes of workers: what they leave, what they may not keep, what others see of them, and that none outlives the
//! runtime.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use hamlet_models::{Limits, ValKind};
use hamlet_runtime::{End, Input, Runtime, RuntimeError};

use crate::harness::{Host, LIMITS, Val, eventually, get, workers_of};

#[tokio::test]
async fn work_after_a_scripts_outcome_goes_on_and_its_lines_are_kept() {
    let host = Host::with(LIMITS, |config| config.blank_workers = 0).await;
    let ran = host
        .script("setTimeout(() => console.log('late'), 200); export default 1;")
        .await;
    assert_eq!(ran.outcome.return_value.as_deref(), Some("1"));
    assert!(ran.record.lines().is_empty(), "the outcome does not wait for it");
    ran.record.until_line("late").await;
    eventually("the worker is gone", || host.runtime.stats().busy == 0).await;
}

#[tokio::test]
async fn work_after_the_outcome_is_ended_at_the_wall_limit() {
    let host = Host::with(
        Limits {
            wall_seconds: 1,
            ..LIMITS
        },
        |config| config.blank_workers = 0,
    )
    .await;
    let ran = host.script("setInterval(() => {}, 10); export default 1;").await;
    assert_eq!(ran.outcome.end, End::Ok);
    assert_eq!(host.runtime.stats().busy, 1);
    eventually("the worker is gone", || host.runtime.stats().busy == 0).await;
    assert_eq!(ran.record.now().ended.len(), 1);
}

#[tokio::test]
async fn every_script_evaluates_its_module_afresh_in_a_worker_of_its_own() {
    let host = Host::new().await;
    let val = Val::new(
        ValKind::Script,
        "globalThis.count = (globalThis.count ?? 0) + 1; export default [globalThis.count, Deno.pid];",
    );
    let first = host
        .run(&val, Input::Script { args: None })
        .await
        .outcome
        .return_value
        .expect("a value");
    let second = host
        .run(&val, Input::Script { args: None })
        .await
        .outcome
        .return_value
        .expect("a value");
    assert!(first.starts_with("[1,") && second.starts_with("[1,"));
    assert_ne!(first, second, "no process is used twice");
}

#[tokio::test]
async fn a_worker_leaves_nothing_behind() {
    let host = Host::with(LIMITS, |config| config.blank_workers = 0).await;
    // The one that proved Deno at the start goes first.
    host.script("1").await;
    let ran = host
        .script("Deno.mkdirSync('left/behind', { recursive: true }); export default Deno.cwd();")
        .await;
    let folder: String = serde_json::from_str(&ran.outcome.return_value.expect("a value")).expect("a path");
    assert!(folder.starts_with(host.work_dir.to_str().expect("a path")));
    eventually("the folder is gone", || !fs::exists(&folder).expect("an answer")).await;
    eventually("the process is gone", || workers_of(&host.work_dir).is_empty()).await;
}

#[tokio::test]
async fn a_worker_that_was_being_started_when_the_runtime_ended_leaves_nothing_behind() {
    let host = Host::new().await;
    let folders = || -> Vec<PathBuf> {
        let entries = fs::read_dir(&host.work_dir).expect("the work folder").flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| !path.ends_with("bootstrap") && !path.ends_with("stock"))
            .collect()
    };
    // Until one is seen that is not ready yet, and with none beside it.
    loop {
        let last = folders();
        host.script("1").await;
        eventually("the next one is begun, and the last one gone", || {
            let now = folders();
            now.len() == 1 && now != last
        })
        .await;
        if fs::exists(folders()[0].join("socket")).expect("an answer") {
            break;
        }
    }
    host.runtime.shutdown(Duration::ZERO).await;
    assert_eq!(folders(), Vec::<PathBuf>::new());
    assert_eq!(workers_of(&host.work_dir), Vec::<u32>::new());
}

#[tokio::test]
async fn a_secret_is_not_in_what_the_system_shows_of_a_worker() {
    let host = Host::with(LIMITS, |config| config.blank_workers = 2).await;
    let with_secret = |kind, code: &str| Val {
        environment: Arc::from([("SECRET".to_owned(), "marked-4711".to_owned())]),
        ..Val::new(kind, code)
    };
    let waiting = with_secret(
        ValKind::Script,
        "console.log(Deno.env.get('SECRET'), Deno.pid); await new Promise((resolve) => setTimeout(resolve, 1e6));",
    );
    let warm = with_secret(
        ValKind::Http,
        "export default () => new Response(`${process.env.SECRET} ${Deno.pid}`);",
    );
    let request = waiting.request();
    let (run, runtime) = (request.id, host.runtime.clone());
    let script = tokio::spawn(async move { runtime.run(request, Input::Script { args: None }).await });
    let (_, answered) = host.get(&warm, "/").await;
    let logged = waiting.record.until_line("marked-4711").await.logs[0]
        .1
        .message
        .clone();

    let workers = workers_of(&host.work_dir);
    for said in [answered, logged] {
        let pid = said.strip_prefix("marked-4711 ").expect("the secret");
        assert!(
            workers.contains(&pid.parse().expect("an id")),
            "{pid} of {workers:?}"
        );
    }
    for pid in workers {
        for (file, usual) in [("environ", "DENO_DIR="), ("cmdline", "--allow-write=")] {
            let shown = fs::read(format!("/proc/{pid}/{file}")).expect("what the system shows");
            let shown = String::from_utf8_lossy(&shown);
            assert!(shown.contains(usual), "{file} of {pid}: {shown}");
            assert!(!shown.contains("marked-4711"), "{file} of {pid}: {shown}");
        }
    }
    assert!(host.runtime.cancel(run));
    script.await.expect("an end").expect("a run that is carried out");
}

#[tokio::test]
async fn shutting_down_waits_for_runs_and_leaves_no_process() {
    let host = Host::with(LIMITS, |config| config.blank_workers = 2).await;
    let warm = Val::http("setInterval(() => {}, 10); export default () => new Response('warm');");
    host.get(&warm, "/").await;
    let quick = Val::new(
        ValKind::Script,
        "console.log('in'); await new Promise((resolve) => setTimeout(resolve, 100)); export default 'done';",
    );
    let endless = Val::new(
        ValKind::Script,
        "console.log('in'); await new Promise((resolve) => setTimeout(resolve, 1e6));",
    );
    let (quick, endless, ()) = tokio::join!(
        host.run(&quick, Input::Script { args: None }),
        host.run(&endless, Input::Script { args: None }),
        async {
            quick.record.until_line("in").await;
            endless.record.until_line("in").await;
            host.runtime.shutdown(Duration::from_secs(2)).await;
        }
    );
    assert_eq!(quick.outcome.return_value.as_deref(), Some("\"done\""));
    assert_eq!(endless.outcome.end, End::Lost);
    assert_eq!(endless.record.lines(), ["in"]);
    assert_eq!(workers_of(&host.work_dir), Vec::<u32>::new());
    let refused = host
        .runtime
        .run(warm.request(), Input::Script { args: None })
        .await;
    assert!(matches!(refused, Err(RuntimeError::ShuttingDown)), "{refused:?}");
    let refused = host.runtime.fetch(warm.request(), get("/")).await;
    assert!(matches!(refused, Err(RuntimeError::ShuttingDown)));
}

#[tokio::test]
async fn a_runtime_that_starts_ends_what_an_earlier_one_left() {
    let dir = tempfile::tempdir().expect("a folder");
    let work_dir = dir.path().join("work");
    // A process that waits for ever, with a worker's mark on its command line.
    let left = |work_dir: &Path| {
        let mut command = tokio::process::Command::new("sh");
        command
            .args(["-c", "read never", "sh"])
            .arg(format!("--allow-write={}/7/", work_dir.display()));
        command
            .stdin(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("a process")
    };
    let (mut ours, mut another) = (left(&work_dir), left(&dir.path().join("elsewhere")));
    // Waiting closes the standard input, which would end it too.
    let _open = ours.stdin.take();
    let _host = Host::with(LIMITS, |config| config.work_dir = work_dir.clone()).await;
    assert!(!ours.wait().await.expect("an end").success());
    assert!(
        another.try_wait().expect("an answer").is_none(),
        "another server's workers are left alone"
    );
}

#[tokio::test]
async fn a_program_that_is_no_deno_is_refused_with_advice() {
    let dir = tempfile::tempdir().expect("a folder");
    let config = |deno: &str| hamlet_runtime::RuntimeConfig {
        deno: deno.into(),
        launcher: env!("CARGO_BIN_EXE_hamlet-launcher").into(),
        require_sandbox: false,
        work_dir: dir.path().join("work"),
        cache_dir: dir.path().join("cache"),
        api_url: String::new(),
        limits: LIMITS,
        answer_kb: 100,
        blank_workers: 1,
        warm_workers: None,
        module_hosts: Vec::new(),
        other_module_hosts: false,
        module_fallback: None,
    };
    for program in ["/no/such/deno", "/bin/true"] {
        let error = Runtime::start(config(program), None)
            .await
            .err()
            .expect("refused")
            .to_string();
        assert!(error.contains("HAMLET_DENO"), "{error}");
    }
}
