//! What runs leave behind, without running any.

use std::{sync::Arc, time::Duration};

use hamlet_models::{
    Author, LogLevel, LogLine, LogStream, PageQuery, RunFilter, RunId, RunPhases, RunStatus, Timestamp,
    Trigger, Truncated, UserId,
};
use hamlet_runtime::{End, Outcome, RunEvents};
use hamlet_server::{
    clock,
    recorder::{Given, RecordedRun, Recorder, Retention},
};
use hamlet_store::{RunRecord, RunScope, Store, StoreConfig, StoreRole};
use tempfile::TempDir;
use uuid::Uuid;

const RETENTION: Retention = Retention {
    value_bytes: 10,
    age: Duration::from_secs(3_600),
    bytes: 1_000_000,
};

async fn store(folder: &TempDir) -> Store {
    let config = StoreConfig {
        data_dir: folder.path().to_owned(),
        database_url: None,
        bucket: None,
        role: StoreRole::Server,
    };
    Store::open(&config).await.expect("a store")
}

fn ada() -> Author {
    Author {
        id: UserId(Uuid::from_u128(1)),
        username: "ada".parse().expect("a name"),
    }
}

async fn begin(recorder: &Recorder) -> Arc<RecordedRun> {
    begin_at(recorder, clock::now()).await
}

async fn begin_at(recorder: &Recorder, started_at: Timestamp) -> Arc<RecordedRun> {
    let record = RunRecord::queued(RunId(Uuid::now_v7()), ada(), Trigger::Eval, started_at);
    recorder.begin(record, Given::Nothing).await.expect("room")
}

fn outcome(value: &str) -> Outcome {
    Outcome {
        end: End::Ok,
        error: None,
        return_value: Some(value.to_owned()),
        truncated: Truncated::default(),
        cpu_ms: None,
        memory_bytes: None,
        duration_ms: 1.0,
        phases: RunPhases::default(),
    }
}

fn print(run: &RecordedRun, message: &str) {
    let line = LogLine {
        time: clock::now(),
        level: LogLevel::Info,
        message: message.to_owned(),
        stream: LogStream::Console,
    };
    run.log(run.id(), line);
}

async fn lines(store: &Store, id: RunId) -> Vec<String> {
    store
        .get_run_logs(id)
        .await
        .expect("lines")
        .into_iter()
        .map(|line| line.message)
        .collect()
}

#[tokio::test]
async fn what_was_recorded_can_be_read_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(&folder).await;
    let recorder = Recorder::start(store.clone(), RETENTION)
        .await
        .expect("a recorder");
    let run = begin(&recorder).await;
    run.started(run.id());
    print(&run, "one");
    recorder.flush().await;
    assert_eq!(
        store.get_run(run.id()).await.expect("the run").status,
        RunStatus::Running
    );
    assert_eq!(lines(&store, run.id()).await, ["one"]);

    print(&run, "two");
    run.ended(run.id(), &outcome("7"));
    recorder.flush().await;
    let record = store.get_run(run.id()).await.expect("the run");
    assert_eq!(
        (record.status, record.return_value.as_deref()),
        (RunStatus::Ok, Some("7"))
    );
    assert!(record.ended_at.is_some() && recorder.find(run.id()).is_none());
    assert_eq!(lines(&store, run.id()).await, ["one", "two"]);
}

#[tokio::test]
async fn a_line_that_comes_after_the_end_still_belongs_to_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(&folder).await;
    let recorder = Recorder::start(store.clone(), RETENTION)
        .await
        .expect("a recorder");
    let run = begin(&recorder).await;
    run.ended(run.id(), &outcome("7"));
    recorder.flush().await;
    print(&run, "late");
    run.answered(200);
    recorder.flush().await;
    assert_eq!(lines(&store, run.id()).await, ["late"]);
    assert_eq!(
        store.get_run(run.id()).await.expect("the run").status,
        RunStatus::Ok
    );
}

#[tokio::test]
async fn an_end_is_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let recorder = Recorder::start(store(&folder).await, RETENTION)
        .await
        .expect("a recorder");
    let run = begin(&recorder).await;
    run.ended(run.id(), &outcome("1"));
    run.ended(
        run.id(),
        &Outcome {
            end: End::Cancelled,
            ..outcome("2")
        },
    );
    run.started(run.id());
    let record = run.record();
    assert_eq!(
        (record.status, record.return_value.as_deref()),
        (RunStatus::Ok, Some("1"))
    );
}

#[tokio::test]
async fn of_a_large_value_the_beginning_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let recorder = Recorder::start(store(&folder).await, RETENTION)
        .await
        .expect("a recorder");
    let run = begin(&recorder).await;
    run.ended(run.id(), &outcome("\"12345678é\""));
    let record = run.record();
    assert_eq!(
        record.return_value.as_deref(),
        Some("\"12345678"),
        "cut before the character that would pass it"
    );
    assert!(record.truncated.return_value && !record.truncated.args);
}

#[tokio::test]
async fn who_follows_a_run_hears_of_each_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let recorder = Recorder::start(store(&folder).await, RETENTION)
        .await
        .expect("a recorder");
    let run = begin(&recorder).await;
    let follower = recorder.find(run.id()).expect("a run that goes on");
    let ((), ()) = tokio::join!(follower.until_changed(0, RunStatus::Queued), async {
        print(&run, "one")
    });
    assert_eq!(follower.progress(0).lines.len(), 1);
    let ((), ()) = tokio::join!(follower.until_changed(1, RunStatus::Queued), async {
        run.started(run.id())
    });
    assert_eq!(follower.progress(1).record.status, RunStatus::Running);
    assert!(follower.progress(1).lines.is_empty());
}

#[tokio::test]
async fn what_a_dead_server_left_unfinished_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(&folder).await;
    let recorder = Recorder::start(store.clone(), RETENTION)
        .await
        .expect("a recorder");
    let (going, over) = (begin(&recorder).await, begin(&recorder).await);
    going.started(going.id());
    over.ended(over.id(), &outcome("1"));
    recorder.flush().await;

    let _next = Recorder::start(store.clone(), RETENTION)
        .await
        .expect("a recorder");
    let lost = store.get_run(going.id()).await.expect("the run");
    assert_eq!(lost.status, RunStatus::Lost);
    assert!(
        lost.error.is_some_and(|error| !error.message.is_empty()),
        "it says why"
    );
    assert_eq!(
        store.get_run(over.id()).await.expect("the run").status,
        RunStatus::Ok
    );
}

#[tokio::test]
async fn nothing_that_waits_is_lost_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(&folder).await;
    let recorder = Recorder::start(store.clone(), RETENTION)
        .await
        .expect("a recorder");
    for _ in 0..5_000 {
        let run = begin(&recorder).await;
        run.ended(run.id(), &outcome("1"));
    }
    recorder.shutdown().await;
    let page = PageQuery {
        offset: 4_999,
        limit: 100,
    };
    let runs = store
        .list_runs(RunScope::User(ada().id), &RunFilter::default(), page)
        .await
        .expect("runs");
    assert_eq!((runs.items.len(), runs.more), (1, false));
}

#[tokio::test]
async fn old_runs_go_when_the_server_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store(&folder).await;
    let recorder = Recorder::start(store.clone(), RETENTION)
        .await
        .expect("a recorder");
    let two_hours_ago = Timestamp::from_millis(clock::now().as_millis() - 7_200_000);
    let (old, new) = (begin_at(&recorder, two_hours_ago).await, begin(&recorder).await);
    for run in [&old, &new] {
        run.ended(run.id(), &outcome("1"));
    }
    recorder.shutdown().await;
    let next = Recorder::start(store.clone(), RETENTION)
        .await
        .expect("a recorder");
    next.pruned().await;
    assert!(store.get_run(old.id()).await.is_err());
    assert!(store.get_run(new.id()).await.is_ok());
}
