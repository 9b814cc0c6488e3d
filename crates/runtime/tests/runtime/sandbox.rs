//! The system's lock around workers: that it holds, and what is said and done where a part of it is missing.

use std::{fs, os::unix::fs::symlink, path::Path, time::Duration};

use hamlet_models::ValKind;
use hamlet_runtime::{Input, Layer, Runtime, RuntimeConfig, RuntimeError, check_up};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use tempfile::TempDir;

use crate::{
    deno::deno,
    harness::{Host, LIMITS, Val, workers_of},
};

const LAUNCHER: &str = env!("CARGO_BIN_EXE_hamlet-launcher");

/// A launcher on a system that lacks `what`.
fn without(what: &str, folder: &TempDir) -> std::path::PathBuf {
    let launcher = folder.path().join(format!("launcher-without-{what}"));
    symlink(LAUNCHER, &launcher).expect("a link");
    launcher
}

fn config(launcher: &Path, folder: &TempDir) -> RuntimeConfig {
    RuntimeConfig {
        deno: deno(),
        launcher: launcher.to_owned(),
        require_sandbox: false,
        work_dir: folder.path().join("work"),
        cache_dir: folder.path().join("cache"),
        api_url: String::new(),
        limits: LIMITS,
        answer_kb: 100,
        blank_workers: 1,
        warm_workers: None,
        module_hosts: Vec::new(),
        other_module_hosts: false,
        module_fallback: None,
    }
}

#[tokio::test]
async fn every_layer_holds_but_what_few_systems_have() {
    let folder = tempfile::tempdir().expect("a folder");
    let found = check_up(config(Path::new(LAUNCHER), &folder))
        .await
        .expect("a check-up");
    let refused = found.permissions.expect("everything is refused");
    assert!(refused.contains("connecting to localhost"), "{refused}");
    let layers: Vec<Layer> = found.layers.iter().map(|finding| finding.layer).collect();
    assert_eq!(layers, Layer::ALL);
    for finding in found.layers {
        assert!(
            finding.holds || finding.layer.is_extra(),
            "{:?}: {}",
            finding.layer,
            finding.proof
        );
        assert!(!finding.proof.is_empty());
    }
    assert!(
        workers_of(&folder.path().join("work")).is_empty(),
        "no process is left"
    );
}

#[tokio::test]
async fn a_missing_part_is_said_and_vals_still_run() {
    let cases = [
        ("landlock", vec![Layer::Files, Layer::Ports]),
        ("seccomp", vec![Layer::Programs, Layer::Ipv6]),
    ];
    for (part, expected) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        let launcher = without(part, &folder);
        let host = Host::with(LIMITS, |config| {
            config.launcher = launcher;
        })
        .await;
        let missing: Vec<_> = host
            .runtime
            .sandbox()
            .iter()
            .filter(|finding| !finding.holds && !finding.layer.is_extra())
            .collect();
        let layers: Vec<Layer> = missing.iter().map(|finding| finding.layer).collect();
        assert_eq!(layers, expected, "{missing:?}");
        assert!(
            missing[0].proof.to_lowercase().contains(part),
            "it says why: {}",
            missing[0].proof
        );
        let ran = host.script("export default 'runs';").await;
        assert_eq!(ran.outcome.return_value.as_deref(), Some("\"runs\""));
    }
}

#[tokio::test]
async fn a_file_to_read_keeps_its_length_without_landlock_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = Runtime::start(config(&without("landlock", &folder), &folder), None).await;
    let runtime = runtime.expect("a runtime");
    let files = runtime
        .sandbox()
        .iter()
        .find(|finding| finding.layer == Layer::Files);
    let proof = &files.expect("the layer").proof;
    assert!(
        proof.contains("listing / is allowed") && proof.contains("may only read is refused"),
        "the kernels between know Landlock, but not a file's length: {proof}"
    );
    runtime.shutdown(Duration::ZERO).await;
}

#[tokio::test]
async fn the_check_up_finds_what_is_missing() {
    let cases = [
        ("landlock", Layer::Files, "writing outside its folder is allowed"),
        ("seccomp", Layer::Programs, "starting a program is allowed"),
    ];
    for (part, layer, allowed) in cases {
        let folder = tempfile::tempdir().expect("a folder");
        let found = check_up(config(&without(part, &folder), &folder))
            .await
            .expect("a check-up");
        assert!(
            found.permissions.is_ok(),
            "Deno's own permissions hold nevertheless"
        );
        let finding = found.layers.iter().find(|finding| finding.layer == layer);
        let finding = finding.expect("the layer");
        assert!(
            !finding.holds && finding.proof.contains(allowed),
            "{}",
            finding.proof
        );
    }
}

#[tokio::test]
async fn a_missing_part_that_is_required_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let launcher = without("landlock", &folder);
    let config = RuntimeConfig {
        require_sandbox: true,
        ..config(&launcher, &folder)
    };
    let refused = Runtime::start(config, None).await.err().expect("a refusal");
    assert!(matches!(refused, RuntimeError::Sandbox(_)), "{refused}");
    let said = refused.to_string();
    assert!(
        said.contains("files does not hold") && said.contains("no Landlock"),
        "{said}"
    );
}

#[tokio::test]
async fn a_worker_wears_the_lock_and_inherits_no_file() {
    let ours = tempfile::tempfile().expect("a file");
    // As one that a server was started with.
    fcntl(&ours, FcntlArg::F_SETFD(FdFlag::empty())).expect("a file that is passed on");
    let host = Host::new().await;
    let val = Val::new(
        ValKind::Script,
        "console.log(Deno.pid); await new Promise((resolve) => setTimeout(resolve, 1e6));",
    );
    tokio::join!(
        async {
            // It is cancelled below.
            let _ = host
                .runtime
                .run(val.request(), Input::Script { args: None })
                .await;
        },
        async {
            let logs = val
                .record
                .until("it runs", |record| !record.logs.is_empty())
                .await
                .logs;
            let (run, line) = &logs[0];
            let process = Path::new("/proc").join(&line.message);
            let status = fs::read_to_string(process.join("status")).expect("a process");
            for wanted in ["NoNewPrivs:\t1", "Seccomp:\t2"] {
                assert!(status.contains(wanted), "{status}");
            }
            let rights = status.lines().find_map(|line| line.strip_prefix("CapEff:\t"));
            let rights = u64::from_str_radix(rights.expect("capabilities"), 16).expect("a number");
            assert_eq!(
                rights & !(1 << 2),
                0,
                "but for reading, also where the server is root"
            );
            // Its standard streams, its own two channels, and what Deno itself opens.
            for file in fs::read_dir(process.join("fd")).expect("its files").flatten() {
                let Ok(target) = fs::read_link(file.path()) else {
                    continue;
                };
                let target = target.to_string_lossy().into_owned();
                let is_its_own = ["socket:", "pipe:", "anon_inode:", "/dev/", "/proc/"]
                    .iter()
                    .any(|kind| target.starts_with(kind))
                    || target.starts_with(&*host.work_dir.to_string_lossy())
                    || target.contains("/cache/");
                assert!(is_its_own, "{target}");
            }
            assert!(host.runtime.cancel(*run));
        }
    );
}
