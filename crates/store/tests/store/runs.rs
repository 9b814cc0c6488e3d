use std::sync::Arc;

use hamlet_models::{
    HttpResponse, KeptRequest, Privacy, RunError, RunFilter, RunId, RunInput, RunPhases, RunRequest,
    RunStatus, Trigger, Truncated,
};
use hamlet_store::{KeptInput, RunRecord, RunScope, RunWrite, StoreError};
use uuid::Uuid;

use crate::harness::{TestStore, at, far_future, line, long_ago, new_val, page, run_of};

async fn listed(store: &TestStore, scope: RunScope, filter: &RunFilter) -> Vec<RunId> {
    let runs = store
        .list_runs(scope, filter, page(0, 100))
        .await
        .expect("a list");
    runs.items.iter().map(|run| run.id).collect()
}

both!(a_run_is_read_as_it_was_written);
async fn a_run_is_read_as_it_was_written(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let full = RunRecord {
        parent_id: Some(RunId(Uuid::now_v7())),
        replay_of: Some(RunId(Uuid::now_v7())),
        status: RunStatus::Error,
        trigger: Trigger::Http,
        cpu_ms: Some(0.25),
        memory_bytes: Some(123_456_789_000),
        error: Some(RunError {
            name: "E".into(),
            message: "nul \0 and \u{1f600}".into(),
            stack: "at x".into(),
        }),
        request: Some(RunRequest {
            method: "GET".into(),
            url: "http://x/?a=1".into(),
            status: Some(502),
        }),
        args: Some("[1, 2.50]".into()),
        return_value: Some(r#"{"a":null}"#.into()),
        response: Some(HttpResponse {
            status: 200,
            headers: vec![("a".into(), "b".into())],
            body: "hi".into(),
            base64: false,
            size: 2,
        }),
        truncated: Truncated {
            logs: true,
            ..Truncated::default()
        },
        phases: RunPhases {
            ran_ms: Some(1.5),
            ..RunPhases::default()
        },
        ..run_of(&val, at(0))
    };
    let bare = RunRecord {
        val_id: None,
        val_name: None,
        version: None,
        status: RunStatus::Running,
        trigger: Trigger::Eval,
        ended_at: None,
        duration_ms: None,
        ..run_of(&val, at(1))
    };
    for run in [&full, &bare] {
        store.write(run.clone(), &[]).await;
        assert_eq!(store.get_run(run.id).await.expect("the run"), *run);
    }
    let store = store.reopened().await;
    assert_eq!(store.get_run(full.id).await.expect("kept"), full);
    let list = store
        .list_runs(RunScope::Val(val.id), &RunFilter::default(), page(0, 20))
        .await
        .expect("a list");
    let small = RunRecord {
        args: None,
        return_value: None,
        response: None,
        ..full.clone()
    };
    assert_eq!(list.items, [small], "lists leave out what may be large");
    assert!(matches!(
        store.get_run(RunId(Uuid::now_v7())).await,
        Err(StoreError::NotFound("run"))
    ));
}

both!(what_is_told_of_a_run_s_earlier_start_changes_nothing);
async fn what_is_told_of_a_run_s_earlier_start_changes_nothing(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let started = |second, status| RunRecord {
        status,
        ..run_of(&val, at(second))
    };
    let early = started(0, RunStatus::Lost);
    let late = RunRecord {
        id: early.id,
        ..started(5, RunStatus::Ok)
    };
    for (record, stands) in [(&early, &early), (&late, &late), (&early, &late)] {
        store.write(record.clone(), &[]).await;
        assert_eq!(store.get_run(early.id).await.expect("the run"), *stands);
        let last = store.last_runs(&[val.id]).await.expect("runs");
        assert_eq!(last[&val.id].status, stands.status);
    }
}

both!(what_a_run_was_given_is_written_once_and_stays);
async fn what_a_run_was_given_is_written_once_and_stays(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let request = KeptRequest {
        method: "POST".into(),
        url: "http://x/".into(),
        headers: vec![("a".into(), Some("b".into())), ("cookie".into(), None)],
        body: "nul \0 and \u{1f600}".into(),
        base64: false,
        size: 13,
    };
    let given = KeptInput {
        input: RunInput::Request(request),
        cut: true,
    };
    let (run, other) = (run_of(&val, at(0)), run_of(&val, at(1)));
    let write = |record: &RunRecord, input: Option<&KeptInput>| RunWrite {
        record: Arc::new(record.clone()),
        logs: Vec::new(),
        input: input.cloned(),
    };
    // In one write of three of the same run, two of them at once.
    let writes = vec![write(&run, Some(&given)), write(&run, None), write(&other, None)];
    store.write_runs(writes).await.expect("written");
    store.write_runs(vec![write(&run, None)]).await.expect("written");
    assert_eq!(
        store.get_run_input(run.id).await.expect("the input"),
        Some(given.clone())
    );
    assert_eq!(store.get_run(run.id).await.expect("the run"), run);
    assert_eq!(store.get_run_input(other.id).await.expect("none"), None);
    store
        .write_runs(vec![write(&other, Some(&given))])
        .await
        .expect("written");
    let store = store.reopened().await;
    assert_eq!(
        store.get_run_input(other.id).await.expect("the input"),
        Some(given)
    );
    store.prune_runs(far_future(), 0).await.expect("pruned");
    assert_eq!(store.get_run_input(other.id).await.expect("none"), None);
}

both!(a_run_goes_on_and_its_lines_stay_in_order);
async fn a_run_goes_on_and_its_lines_stay_in_order(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let over = run_of(&val, at(0));
    let running = RunRecord {
        status: RunStatus::Running,
        ended_at: None,
        ..over.clone()
    };
    store.write(running.clone(), &["one", "two"]).await;
    store.write(running.clone(), &[]).await;
    let write = |record: &RunRecord, text: &str| RunWrite {
        record: Arc::new(record.clone()),
        logs: vec![line(text)],
        input: None,
    };
    // Twice the same run at once: the last says how it stands.
    store
        .write_runs(vec![write(&running, "three"), write(&over, "four")])
        .await
        .expect("written");
    assert_eq!(store.get_run(over.id).await.expect("the run"), over);
    let lines = store.get_run_logs(over.id).await.expect("lines");
    let texts: Vec<_> = lines.iter().map(|line| line.message.as_str()).collect();
    assert_eq!(texts, ["one", "two", "three", "four"]);
    assert_eq!(lines[0], line("one"));
    assert_eq!(
        store
            .list_runs(RunScope::Val(val.id), &RunFilter::default(), page(0, 9))
            .await
            .expect("a list")
            .items
            .len(),
        1
    );
    assert!(
        store
            .get_run_logs(RunId(Uuid::now_v7()))
            .await
            .expect("none")
            .is_empty()
    );
    store.write_runs(Vec::new()).await.expect("nothing to write");
}

both!(many_runs_are_written_at_once);
async fn many_runs_are_written_at_once(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let writes: Vec<_> = (0..777)
        .map(|n| RunWrite {
            record: Arc::new(run_of(&val, at(n))),
            logs: vec![line(&n.to_string())],
            input: None,
        })
        .collect();
    let ids: Vec<_> = writes.iter().rev().map(|write| write.record.id).collect();
    store.write_runs(writes).await.expect("written");
    let (mut seen, mut offset) = (Vec::new(), 0);
    loop {
        let slice = store
            .list_runs(RunScope::User(ada.id), &RunFilter::default(), page(offset, 100))
            .await
            .expect("a page");
        seen.extend(slice.items.iter().map(|run| run.id));
        offset += 100;
        if !slice.more {
            break;
        }
    }
    assert_eq!(seen, ids);
    assert_eq!(store.get_run_logs(ids[0]).await.expect("lines")[0].message, "776");
}

both!(runs_are_listed_newest_first_by_val_and_by_user);
async fn runs_are_listed_newest_first_by_val_and_by_user(store: TestStore) {
    let (ada, eve) = (store.user("ada").await, store.user("eve").await);
    let (a, b) = (
        store.val(&ada, "a", Privacy::Private).await,
        store.val(&ada, "b", Privacy::Private).await,
    );
    let eves = store.val(&eve, "a", Privacy::Private).await;
    let runs = [
        run_of(&a, at(5)),
        run_of(&b, at(7)),
        run_of(&a, at(5)),
        run_of(&eves, at(6)),
    ];
    let eval = RunRecord {
        val_id: None,
        val_name: None,
        version: None,
        ..run_of(&a, at(1))
    };
    for run in runs.iter().chain([&eval]) {
        store.write(run.clone(), &[]).await;
    }
    let all = RunFilter::default();
    assert_eq!(
        listed(&store, RunScope::Val(a.id), &all).await,
        [runs[2].id, runs[0].id]
    );
    assert_eq!(
        listed(&store, RunScope::User(ada.id), &all).await,
        [runs[1].id, runs[2].id, runs[0].id, eval.id]
    );
    assert_eq!(listed(&store, RunScope::User(eve.id), &all).await, [runs[3].id]);
}

both!(a_list_of_runs_can_be_narrowed);
async fn a_list_of_runs_can_be_narrowed(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let mut runs = Vec::new();
    for (n, status) in RunStatus::ALL.into_iter().enumerate() {
        let trigger = if n == 2 { Trigger::Schedule } else { Trigger::Run };
        let started_at = at(n as i64);
        runs.push(RunRecord {
            status,
            trigger,
            version: Some(n as u32 % 2),
            ..run_of(&val, started_at)
        });
        store.write(runs[n].clone(), &[]).await;
    }
    type Keep = fn(&RunRecord) -> bool;
    let cases: [(RunFilter, Keep); 9] = [
        (
            RunFilter {
                status: Some(RunStatus::OutOfMemory),
                ..RunFilter::default()
            },
            |run| run.status == RunStatus::OutOfMemory,
        ),
        (
            RunFilter {
                trigger: Some(Trigger::Schedule),
                ..RunFilter::default()
            },
            |run| run.trigger == Trigger::Schedule,
        ),
        (
            RunFilter {
                version: Some(1),
                ..RunFilter::default()
            },
            |run| run.version == Some(1),
        ),
        (
            RunFilter {
                since: Some(at(3)),
                ..RunFilter::default()
            },
            |run| run.started_at >= at(3),
        ),
        (
            RunFilter {
                until: Some(at(3)),
                ..RunFilter::default()
            },
            |run| run.started_at < at(3),
        ),
        (
            RunFilter {
                error: Some(true),
                ..RunFilter::default()
            },
            |run| run.status.is_failure(),
        ),
        (
            RunFilter {
                error: Some(false),
                ..RunFilter::default()
            },
            |run| !run.status.is_failure(),
        ),
        (
            RunFilter {
                error: Some(true),
                version: Some(0),
                ..RunFilter::default()
            },
            |run| run.status.is_failure() && run.version == Some(0),
        ),
        (
            RunFilter {
                error: Some(true),
                status: Some(RunStatus::Ok),
                ..RunFilter::default()
            },
            |_| false,
        ),
    ];
    for (filter, keep) in cases {
        let expected: Vec<_> = runs
            .iter()
            .rev()
            .filter(|run| keep(run))
            .map(|run| run.id)
            .collect();
        assert_eq!(
            listed(&store, RunScope::Val(val.id), &filter).await,
            expected,
            "{filter:?}"
        );
    }
}

both!(the_last_run_of_a_val_is_the_one_that_began_last);
async fn the_last_run_of_a_val_is_the_one_that_began_last(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let never = store.val(&ada, "never", Privacy::Private).await;
    let (old, new) = (
        run_of(&val, at(1)),
        RunRecord {
            status: RunStatus::Running,
            ..run_of(&val, at(2))
        },
    );
    let last = async || {
        let runs = store.last_runs(&[never.id, val.id]).await.expect("an answer");
        assert!(!runs.contains_key(&never.id));
        runs.get(&val.id).cloned()
    };
    assert_eq!(last().await, None);
    store.write(new.clone(), &[]).await;
    store.write(old, &[]).await;
    let run = last().await.expect("a run");
    assert_eq!(
        (run.id, run.status, run.run_start_at),
        (new.id, RunStatus::Running, at(2))
    );
    store
        .write(
            RunRecord {
                status: RunStatus::Timeout,
                duration_ms: Some(9.0),
                ..new.clone()
            },
            &[],
        )
        .await;
    let run = last().await.expect("a run");
    assert_eq!(
        (run.id, run.status, run.duration_ms),
        (new.id, RunStatus::Timeout, Some(9.0))
    );
    assert!(store.last_runs(&[]).await.expect("an answer").is_empty());
}

both!(what_a_dead_server_left_is_lost);
async fn what_a_dead_server_left_is_lost(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let (over, mut unfinished) = (run_of(&val, at(0)), Vec::new());
    store.write(over.clone(), &[]).await;
    for (n, status) in [RunStatus::Queued, RunStatus::Running].into_iter().enumerate() {
        unfinished.push(RunRecord {
            status,
            ended_at: None,
            duration_ms: None,
            ..run_of(&val, at(1 + n as i64))
        });
        store.write(unfinished[n].clone(), &["a line"]).await;
    }
    assert_eq!(store.lose_unfinished_runs().await.expect("an answer"), 2);
    for run in &unfinished {
        let lost = store.get_run(run.id).await.expect("the run");
        assert_eq!((lost.status, lost.duration_ms), (RunStatus::Lost, None));
        assert!(lost.ended_at.is_some() && lost.error.expect("a reason").message.contains("server stopped"));
        assert_eq!(store.get_run_logs(run.id).await.expect("lines").len(), 1);
    }
    assert_eq!(store.get_run(over.id).await.expect("the run"), over);
    assert_eq!(
        store.last_runs(&[val.id]).await.expect("an answer")[&val.id].status,
        RunStatus::Lost
    );
    assert_eq!(store.lose_unfinished_runs().await.expect("an answer"), 0);
}

both!(old_runs_go_and_young_ones_stay);
async fn old_runs_go_and_young_ones_stay(store: TestStore) {
    let ada = store.user("ada").await;
    let (val, idle) = (
        store.val(&ada, "hello", Privacy::Private).await,
        store.val(&ada, "idle", Privacy::Private).await,
    );
    let runs: Vec<_> = (0..10).map(|n| run_of(&val, at(n))).collect();
    for run in runs.iter().chain([&run_of(&idle, at(3))]) {
        store.write(run.clone(), &["a line"]).await;
    }
    assert_eq!(store.prune_runs(at(6), u64::MAX).await.expect("pruned"), 7);
    let left: Vec<_> = runs[6..].iter().rev().map(|run| run.id).collect();
    assert_eq!(
        listed(&store, RunScope::User(ada.id), &RunFilter::default()).await,
        left
    );
    assert!(
        store
            .get_run_logs(runs[0].id)
            .await
            .expect("an answer")
            .is_empty()
    );
    assert_eq!(store.get_run_logs(runs[6].id).await.expect("an answer").len(), 1);
    let last = store.last_runs(&[val.id, idle.id]).await.expect("an answer");
    assert_eq!((last.len(), last[&val.id].id), (1, runs[9].id));
    assert_eq!(
        store.prune_runs(at(6), u64::MAX).await.expect("nothing to prune"),
        0
    );
}

both!(the_oldest_runs_go_when_all_hold_too_much);
async fn the_oldest_runs_go_when_all_hold_too_much(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let text = "x".repeat(100_000);
    let mut ids = Vec::new();
    for n in 0..20 {
        let run = RunRecord {
            return_value: Some(text.clone()),
            ..run_of(&val, at(n))
        };
        ids.push(run.id);
        // Lines count too, and each time that some are written.
        for _ in 0..2 {
            store.write(run.clone(), &[&text[..50_000]]).await;
        }
    }
    // Each holds 200 kB and a little more: four have room.
    assert_eq!(store.prune_runs(long_ago(), 1_000_000).await.expect("pruned"), 16);
    let left: Vec<_> = ids[16..].iter().rev().copied().collect();
    assert_eq!(
        listed(&store, RunScope::Val(val.id), &RunFilter::default()).await,
        left
    );
    assert_eq!(
        store
            .prune_runs(long_ago(), 1_000_000)
            .await
            .expect("nothing to prune"),
        0
    );
    assert_eq!(store.prune_runs(far_future(), 0).await.expect("pruned"), 4);
    if store.is_sqlite() {
        let folder = store.into_folder().await;
        let size = folder
            .path()
            .join("data/runs.db")
            .metadata()
            .expect("the file")
            .len();
        assert!(
            size < 500_000,
            "the room went back to the file system, but {size} bytes are held"
        );
    }
}

both!(the_runs_of_a_deleted_val_go);
async fn the_runs_of_a_deleted_val_go(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store
        .create_val(ada.id, &new_val("hello", "1"))
        .await
        .expect("a val");
    let other = store.val(&ada, "other", Privacy::Private).await;
    let (gone, stays) = (run_of(&val, at(0)), run_of(&other, at(0)));
    for run in [&gone, &stays] {
        store.write(run.clone(), &["a line"]).await;
    }
    store.delete_val(val.id).await.expect("deleted");
    while store.get_run(gone.id).await.is_ok() {
        tokio::task::yield_now().await;
    }
    // Written late, by a run that was under way; the next pruning takes it.
    let late = run_of(&val, at(1));
    store.write(late.clone(), &[]).await;
    store.prune_runs(long_ago(), u64::MAX).await.expect("pruned");
    assert!(matches!(
        store.get_run(late.id).await,
        Err(StoreError::NotFound("run"))
    ));
    assert!(store.get_run_logs(gone.id).await.expect("an answer").is_empty());
    assert!(store.last_runs(&[val.id]).await.expect("an answer").is_empty());
    assert_eq!(store.get_run(stays.id).await.expect("the other"), stays);
}
