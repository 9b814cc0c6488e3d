//! The folders `tests/vals/hostile_*` of the runtime, which say what must come of each act.

use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use futures_util::{StreamExt, stream};
use hamlet_models::{FullRun, Limits, RunStatus, ValKind};

use crate::{
    expected::{Came, Expected, folders},
    siege::Siege,
    traps::Traps,
};

/// The limits that the folders reckon with where they name no other.
const LIMITS: Limits = Limits {
    wall_seconds: 30,
    cpu_seconds: 20,
    memory_mb: 256,
    request_body_mb: 100,
    log_kb: 1000,
    value_kb: 100,
    user_runs: 20,
    instance_runs: 32,
    warm_seconds: 2,
};

/// Those that are ended by their use of the processor.
const BUSY: Limits = Limits {
    cpu_seconds: 1,
    ..LIMITS
};

/// Those that are ended by their memory.
pub(crate) const LARGE: Limits = Limits {
    memory_mb: 64,
    ..LIMITS
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_reaches_out_beside_a_neighbour() {
    let siege = besieged(LIMITS).await;
    suffer_those_of(&siege, LIMITS).await;
    siege.over().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_busy_without_end_beside_a_neighbour() {
    let siege = besieged(BUSY).await;
    suffer_those_of(&siege, BUSY).await;
    siege.over().await;
}

#[test]
fn each_folder_is_for_one_of_these_servers() {
    for (folder, expected) in hostile() {
        let limits = expected.limits(LIMITS);
        assert!([LIMITS, BUSY, LARGE].contains(&limits), "{}", folder.display());
    }
}

fn hostile() -> Vec<(PathBuf, Expected)> {
    let vals = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/tests/vals");
    let folders = folders(&vals, |name| name.starts_with("hostile_"));
    assert!(folders.len() > 20, "the folders are there");
    let read = |folder: PathBuf| {
        let expected = Expected::of(&folder).expect("an expected.json");
        (folder, expected)
    };
    folders.into_iter().map(read).collect()
}

/// A server with these limits.
pub(crate) async fn besieged(limits: Limits) -> Siege {
    Siege::start(&[
        ("HAMLET_WALL_SECONDS", &limits.wall_seconds.to_string()),
        ("HAMLET_CPU_SECONDS", &limits.cpu_seconds.to_string()),
        ("HAMLET_MEMORY_MB", &limits.memory_mb.to_string()),
    ])
    .await
}

/// Has a server suffer every folder that is meant for these limits.
pub(crate) async fn suffer_those_of(siege: &Siege, limits: Limits) {
    let traps = Traps::set().await;
    let meant = hostile()
        .into_iter()
        .filter(|(_, expected)| expected.limits(LIMITS) == limits);
    stream::iter(meant)
        .for_each_concurrent(2, async |(folder, expected)| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let act = async || {
                let mut problems = problems_of(siege, &traps, &folder, &expected).await;
                problems.extend(traps.caught());
                assert!(problems.is_empty(), "{name}:\n  {}", problems.join("\n  "));
            };
            siege.suffers(&name, act).await;
        })
        .await;
}

async fn problems_of(siege: &Siege, traps: &Traps, folder: &Path, expected: &Expected) -> Vec<String> {
    let mallory = &siege.mallory;
    let victim = siege.neighbour.worker();
    for (name, value) in [
        ("TRAP_PORT", traps.port.to_string()),
        ("TRAP_SOCKET", traps.socket()),
        ("SERVER_PID", siege.server.id.to_string()),
        ("VICTIM_PID", victim.pid.to_string()),
        ("VICTIM_FOLDER", victim.folder),
        (
            "CACHE_FOLDER",
            siege.server.data_dir.join("cache").display().to_string(),
        ),
    ] {
        mallory.set_secret(name, &value).await.expect("a secret");
    }
    let code = std::fs::read_to_string(folder.join("val.ts")).expect("a val.ts");
    if !expected.is_http() {
        return expected.problems_of(&came(siege.script(&code).await));
    }
    let val = siege.val(ValKind::Http, &code).await;
    let (method, path, body) = expected.request.clone().expect("a request");
    let method = method.parse().expect("a method");
    let answer = mallory
        .open(&val, method, &path, body.into())
        .await
        .expect("an answer");
    let mut problems = Vec::new();
    if expected.response.is_none() && answer.status() != StatusCode::BAD_GATEWAY {
        problems.push(format!("answered {answer:?}"));
    }
    problems.extend(expected.problems_of(&came(siege.latest_run(&val).await)));
    problems
}

fn came(run: FullRun) -> Came {
    let end = match run.status {
        RunStatus::Ok => "Ok",
        RunStatus::Error => "Threw",
        RunStatus::Timeout => "TimedOut",
        RunStatus::OutOfMemory => "OutOfMemory",
        RunStatus::Cancelled => "Cancelled",
        RunStatus::Lost => "Lost",
        RunStatus::Queued | RunStatus::Running => "not at all",
    };
    Came {
        end: end.to_owned(),
        duration_ms: run.run.duration_ms.unwrap_or_default(),
        value: run.return_value.unwrap_or_default(),
        error: run.run.error,
        logs: run.logs,
        truncated: run.truncated,
    }
}
