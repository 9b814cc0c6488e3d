//! What an account's SQL can't do: to the server, to other accounts, to the machine.

use std::{fs, os::unix::fs::MetadataExt, path::Path, process::id, time::Duration};

use axum::http::{Method, StatusCode};
use hamlet_models::ProblemCode;
use hamlet_store::SqlLimits;
use serde_json::{Value, json};
use tokio::{process::Command, task::yield_now, time::timeout};

use crate::{
    command_line::{RunningServer, folder, last_word},
    test_app::TestApp,
};

const EXECUTE: &str = "/v1/sqlite/execute";
const BATCH: &str = "/v1/sqlite/batch";
/// One step of SQLite's that takes hours: no limit between two steps meets it.
const ENDLESS_STEP: &str = "select instr(zeroblob(15000000), zeroblob(7000000) || x'01')";

fn sql(statement: &str) -> Value {
    json!({ "statement": statement })
}

/// The processes that this one started to serve a database in that folder.
fn processes(parent: u32, folder: &Path) -> Vec<u32> {
    let is_one = |pid: &u32| {
        let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let orders = read("cmdline");
        read("status").contains(&format!("\nPPid:\t{parent}\n"))
            && orders.contains("serve-account")
            && orders.contains(&*folder.to_string_lossy())
    };
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(is_one)
        .collect()
}

/// Waits for the one process that serves a database in that folder.
async fn process(parent: u32, folder: &Path) -> u32 {
    loop {
        if let [one] = processes(parent, folder)[..] {
            return one;
        }
        yield_now().await;
    }
}

/// Whether a process runs no more; who started it may not know yet.
fn is_gone(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.is_empty() || status.contains("\nState:\tZ")
}

async fn kill(pid: u32) {
    let done = Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status()
        .await;
    assert!(done.expect("kill").success());
    while !is_gone(pid) {
        yield_now().await;
    }
}

/// A number that the kernel has in a file about a process.
fn number(pid: u32, file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).expect("a process");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .expect("a line");
    let digits = line.split_whitespace().next().expect("a number");
    digits.parse().expect("a number")
}

#[tokio::test]
async fn what_needs_too_much_memory_is_refused_and_the_server_stays_small() {
    let folder = folder();
    let ada = last_word(folder.path(), &["user", "create", "ada"], "").await;
    let eve = last_word(folder.path(), &["user", "create", "eve"], "").await;
    let server = RunningServer::start(folder.path()).await;
    let call =
        async |token: &str, path: &str, body: &Value| server.send(Method::POST, path, token, body).await;
    let select = sql("select 1");
    call(&ada, EXECUTE, &select).await;
    let before = number(server.id(), "status", "VmHWM:");

    let row = format!("select {}", vec!["hex(zeroblob(8000000))"; 60].join(", "));
    let parameters = json!({"statement": {"sql": "select 1", "args": vec![0; 8_000_000]}});
    let sort = "with recursive n(i) as (select 1 union all select i + 1 from n)
                select count(*) from (select randomblob(1000000) as r from n order by r)";
    for body in [sql(&row), parameters, sql(sort)] {
        let (refused, other) = tokio::join!(call(&eve, EXECUTE, &body), call(&ada, EXECUTE, &select));
        assert_eq!(refused.0, StatusCode::BAD_REQUEST);
        assert_eq!(refused.1["code"], "invalid");
        let sentence = refused.1["message"].as_str().expect("a sentence");
        assert!(sentence.contains("more memory than the 256 MB"), "{sentence}");
        assert_eq!(other.1["rows"], json!([[1]]));
    }
    let (status, answer) = call(&eve, BATCH, &json!({"statements": ["select 1"]})).await;
    assert_eq!((status, &answer[0]["rows"]), (StatusCode::OK, &json!([[1]])));

    // The largest of the bodies, its buffers, and what the test's other requests take.
    let grown = (number(server.id(), "status", "VmHWM:") - before) >> 10;
    assert!(grown < 100, "the server has grown by {grown} MB");
    server.end().await;
}

#[tokio::test]
async fn a_step_without_end_is_ended_and_others_do_not_wait_for_it() {
    let app = TestApp::with_config(|config| config.sql.time = Duration::from_secs(1)).await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let (body, select) = (sql(ENDLESS_STEP), sql("select 1"));
    let mut endless = Box::pin(eve.post(EXECUTE, &body));
    tokio::select! {
        biased;
        _ = &mut endless => panic!("no end"),
        () = async { process(id(), app.data_dir()).await; } => {}
    }
    tokio::select! {
        _ = &mut endless => panic!("no end"),
        answer = ada.post(EXECUTE, &select) => assert_eq!(answer.value()["rows"], json!([[1]])),
    }
    let problem = endless.await.refused(ProblemCode::Invalid);
    assert!(
        problem.message.contains("ran longer than the 1 s"),
        "{}",
        problem.message
    );
    eve.post(EXECUTE, &select).await.value();
}

#[tokio::test]
async fn what_nobody_waits_for_is_not_read_but_written() {
    let app = TestApp::new().await;
    let eve = app.user("eve").await;
    eve.post(EXECUTE, &sql("create table t (a)")).await.value();
    let reader = process(id(), app.data_dir()).await;
    let insert = sql(
        "insert into t with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
                      select randomblob(1000) from n",
    );
    // What does not fit into memory goes to the log before it is committed.
    let log = || {
        let files = fs::read_dir(app.data_dir().join("sqlite"))
            .expect("a folder")
            .flatten();
        let logs = files.filter(|file| file.path().to_string_lossy().ends_with("-wal"));
        logs.map(|file| file.metadata().expect("a file").size())
            .sum::<u64>()
    };
    let before = log();
    tokio::select! {
        biased;
        answer = eve.post(EXECUTE, &insert) => panic!("so soon: {}", answer.text()),
        () = async { while log() <= before { yield_now().await } } => {}
    }
    let count = eve.post(EXECUTE, &sql("select count(*) from t")).await.value();
    assert_eq!(count["rows"], json!([[20_000]]), "what was begun is done");
    assert_eq!(process(id(), app.data_dir()).await, reader);

    let endless = sql(ENDLESS_STEP);
    let given_up = timeout(Duration::from_millis(500), eve.post(EXECUTE, &endless)).await;
    assert!(given_up.is_err(), "no end");
    // Its time is not over for long.
    let next = timeout(Duration::from_secs(8), eve.post(EXECUTE, &sql("select 1"))).await;
    next.expect("an answer in time").value();
    assert_ne!(process(id(), app.data_dir()).await, reader);
}

#[tokio::test]
async fn a_database_outlives_its_process() {
    let app = TestApp::new().await;
    let eve = app.user("eve").await;
    let statements = json!({"statements": ["create table t (a)", "insert into t values (7)"]});
    eve.post(BATCH, &statements).await.value();
    kill(process(id(), app.data_dir()).await).await;
    let select = sql("select a from t");
    assert_eq!(eve.post(EXECUTE, &select).await.value()["rows"], json!([[7]]));

    let pid = process(id(), app.data_dir()).await;
    let work = number(pid, "io", "rchar:");
    let body = sql(ENDLESS_STEP);
    let (lost, ()) = tokio::join!(eve.post(EXECUTE, &body), async {
        // It has been asked.
        while number(pid, "io", "rchar:") <= work {
            yield_now().await;
        }
        kill(pid).await;
    });
    let problem = lost.refused(ProblemCode::Unavailable);
    assert!(
        problem.message.contains("ended before it answered"),
        "{}",
        problem.message
    );
    assert_eq!(lost.header("x-should-retry"), "false");
    assert_eq!(eve.post(EXECUTE, &select).await.value()["rows"], json!([[7]]));
}

#[tokio::test]
async fn a_large_sort_leaves_nothing_on_the_disk() {
    let app = TestApp::new().await;
    let eve = app.user("eve").await;
    eve.post(EXECUTE, &sql("select 1")).await.value();
    let pid = process(id(), app.data_dir()).await;
    let before = number(pid, "io", "wchar:");
    let sort = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 30000)
                select count(*) from (select randomblob(1000) as r from n order by r)";
    assert_eq!(
        eve.post(EXECUTE, &sql(sort)).await.value()["rows"],
        json!([[30_000]])
    );
    let written = number(pid, "io", "wchar:") - before;
    assert!(written < 100_000, "{written} bytes were written");
}

#[tokio::test]
async fn the_process_of_a_database_has_its_files_and_nothing_else() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    ada.post(EXECUTE, &sql("create table t (a)")).await.value();
    kill(process(id(), app.data_dir()).await).await;
    eve.post(EXECUTE, &sql("create table t (a)")).await.value();
    let pid = process(id(), app.data_dir()).await;
    assert_eq!(fs::read(format!("/proc/{pid}/environ")).expect("a process"), b"");
    assert_eq!(number(pid, "status", "NoNewPrivs:"), 1);
    assert_eq!(number(pid, "status", "Seccomp:"), 2);

    let own = app.data_dir().join("sqlite").join(format!("{}.db", eve.id));
    let open = fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("a process")
        .flatten();
    let mut files = 0;
    for link in open.filter_map(|file| fs::read_link(file.path()).ok()) {
        let name = link.to_string_lossy().into_owned();
        files += usize::from(name.starts_with(&*own.to_string_lossy()));
        let is_stream = name.starts_with("pipe:") || name == "/dev/null";
        assert!(is_stream || name.starts_with(&*own.to_string_lossy()), "{name}");
    }
    assert_eq!(files, 3, "the database, its log and the log's index");
}

#[tokio::test]
async fn a_full_database_says_how_large_it_may_be() {
    let app = TestApp::with_config(|config| {
        config.sql = SqlLimits {
            database_bytes: 2 << 20,
            ..SqlLimits::default()
        };
    })
    .await;
    let eve = app.user("eve").await;
    eve.post(EXECUTE, &sql("create table t (a)")).await.value();
    let insert = sql("insert into t values (zeroblob(1500000))");
    eve.post(EXECUTE, &insert).await.value();
    let problem = eve.post(EXECUTE, &insert).await.refused(ProblemCode::Invalid);
    assert!(problem.message.contains("at most 2 MB"), "{}", problem.message);
    // A log that is never emptied meets the size of a file before.
    let rewrites = json!({"statements": vec!["update t set a = randomblob(1500000)"; 20]});
    eve.post(BATCH, &rewrites).await.value();
}

#[tokio::test]
async fn calls_of_one_account_come_one_after_the_other() {
    let app = TestApp::new().await;
    let eve = app.user("eve").await;
    let made = json!({"statements": ["create table t (n)", "insert into t values (0)"]});
    eve.post(BATCH, &made).await.value();
    let add = json!({"statements": ["update t set n = n + 1", "select n from t"]});
    let adds = (0..20).map(|_| eve.post(BATCH, &add));
    for added in futures_util::future::join_all(adds).await {
        added.value();
    }
    let sum = eve.post(EXECUTE, &sql("select n from t")).await.value();
    assert_eq!(sum["rows"], json!([[20]]));
    assert_eq!(processes(id(), app.data_dir()).len(), 1);
}

#[tokio::test]
async fn a_server_that_ends_waits_for_no_statement_and_leaves_no_process() {
    let folder = folder();
    let eve = last_word(folder.path(), &["user", "create", "eve"], "").await;
    for told in [true, false] {
        let server = RunningServer::start(folder.path()).await;
        let body = sql(ENDLESS_STEP);
        let pid = tokio::select! {
            biased;
            _ = server.send(Method::POST, EXECUTE, &eve, &body) => panic!("no end"),
            pid = process(server.id(), folder.path()) => pid,
        };
        if told {
            timeout(Duration::from_secs(8), server.end())
                .await
                .expect("an end");
        } else {
            server.kill().await;
        }
        while !is_gone(pid) {
            yield_now().await;
        }
    }
}
