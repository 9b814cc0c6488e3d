//! Code that takes more of a compiler than it may: its run says so, and nobody else's waits for it.

use std::{fs, sync::Arc};

use hamlet_models::ValKind;
use hamlet_runtime::{End, Input};
use tempfile::TempDir;
use uuid::Uuid;

use crate::harness::{Host, LIMITS, Val, eventually};

/// Twice as long with each line, as it is computed while it is compiled.
fn doubled(lines: usize) -> String {
    let lines: String = (1..lines)
        .map(|line| format!("  A{line} = A{0} + A{0},\n", line - 1))
        .collect();
    format!("enum Doubled {{\n  A0 = 'twice',\n{lines}}}")
}

/// Parsed as an arrow function, then as a condition, at each of its levels.
fn tangled(levels: usize) -> String {
    format!("{}1{}", "a ? (b = (".repeat(levels), ")) : c => 1".repeat(levels))
}

fn of(group: Uuid, code: &str) -> Val {
    Val {
        group,
        ..Val::new(ValKind::Script, code)
    }
}

/// A host whose programs that compile are told by their name.
async fn host() -> (Arc<Host>, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let launcher = folder.path().join("hamlet-launcher");
    fs::hard_link(env!("CARGO_BIN_EXE_hamlet-launcher"), &launcher)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_hamlet-launcher"), &launcher).map(drop))
        .expect("the launcher");
    let host = Host::with(LIMITS, |config| config.launcher = launcher).await;
    (Arc::new(host), folder)
}

/// The processes of this host that compile.
fn compiling(folder: &TempDir) -> Vec<u32> {
    let launcher = folder.path().join("hamlet-launcher");
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    processes
        .filter_map(|process| {
            let pid = process.file_name().to_str()?.parse().ok()?;
            let command = fs::read(process.path().join("cmdline")).ok()?;
            let mut words = command.split(|byte| *byte == 0);
            let is_ours = words.next()? == launcher.as_os_str().as_encoded_bytes();
            (is_ours && words.next()? == b"compile").then_some(pid)
        })
        .collect()
}

#[tokio::test]
async fn code_that_takes_all_memory_to_compile_is_an_outcome_and_the_next_is_compiled() {
    let (host, folder) = host().await;
    let before = compiling(&folder);
    for code in [doubled(40), tangled(3_000)] {
        let ran = host.script(&code).await;
        assert_eq!(ran.outcome.end, End::Threw);
        let message = &ran.error().message;
        assert!(
            message.contains("can't be compiled: it takes more than"),
            "{message}"
        );
    }
    assert_eq!(host.script("1").await.outcome.end, End::Ok);
    let after = compiling(&folder);
    assert_ne!(before, after, "another process compiles now");
    assert_eq!(after.len(), 1, "and no more than one");
    host.script("2").await;
    assert_eq!(compiling(&folder), after, "which is kept");
}

#[tokio::test]
async fn nobody_waits_for_what_the_code_of_others_takes() {
    let (host, _folder) = host().await;
    let hostile = Uuid::new_v4();
    // Each is other code, and as many as compile at once: of one account it is one.
    let bombs: Vec<_> = (0..2)
        .map(|number| {
            let (host, val) = (host.clone(), of(hostile, &format!("{number};{}", tangled(5_000))));
            tokio::spawn(async move { host.run(&val, Input::Script { args: None }).await.outcome.end })
        })
        .collect();
    let mut compiled = 0;
    while !bombs.iter().all(tokio::task::JoinHandle::is_finished) {
        let ran = host.script(&format!("export default {compiled}")).await;
        assert_eq!(ran.outcome.end, End::Ok);
        compiled += 1;
    }
    for bomb in bombs {
        assert_eq!(bomb.await.expect("a run"), End::Threw);
    }
    assert!(compiled > 2, "only {compiled} were compiled meanwhile");
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_it_is_compiled_leaves_nothing_at_work() {
    let (host, folder) = host().await;
    host.script("1").await;
    let before = compiling(&folder);
    let val = Val {
        run: Some(Uuid::new_v4().into()),
        ..of(Uuid::nil(), &tangled(20_000))
    };
    let (ran, ()) = tokio::join!(host.run(&val, Input::Script { args: None }), async {
        val.record.until("it began", |record| record.started == 1).await;
        assert!(host.runtime.cancel(val.run.expect("an id")));
    });
    assert_eq!(ran.outcome.end, End::Cancelled);
    host.script("2").await;
    eventually("the process that compiled it is gone", || {
        compiling(&folder).iter().all(|pid| !before.contains(pid)) || compiling(&folder) == before
    })
    .await;
}

#[tokio::test]
async fn code_that_could_not_be_compiled_is_an_outcome_and_no_fault() {
    let host = Host::new().await;
    let long = "x".repeat(1 << 21);
    let ran = host.script(&format!("export default \"{long}\"")).await;
    assert_eq!(ran.outcome.end, End::Threw);
    assert_eq!(ran.error().name, "SyntaxError");
}
