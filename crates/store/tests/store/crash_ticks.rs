//! A server that is killed while its schedules run has run every tick once.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use futures_util::future::join_all;
use hamlet_models::{NewSchedule, NewVal, Timestamp, ValKind};
use hamlet_store::{DueTick, NewUser, Store, Turns};

use crate::crash::{FOLDER, config, killed_after, say};

const VALS: usize = 6;
const MINUTE_MS: i64 = 60_000;

fn later(time: Timestamp, minutes: i64) -> Timestamp {
    Timestamp::from_millis(time.as_millis() + minutes * MINUTE_MS)
}

/// Not a test of its own: what the test below starts and kills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the crash test starts it"]
async fn ticks_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let store = Store::open(&config(Path::new(&folder))).await.expect("a store");
    if store.find_user("ada").await.is_err() {
        make_vals(&store).await;
    }
    let long_ago = Timestamp::from_millis(0);
    store
        .resume_schedules(long_ago, long_ago, true)
        .await
        .expect("resumed");
    let mut now = first_tick(&store).await;
    loop {
        // A tick that is late by a minute would take the next one with it.
        loop {
            let due = store
                .list_due_ticks(now, &Turns::of_all(100))
                .await
                .expect("ticks");
            if due.is_empty() {
                break;
            }
            // Two servers that look at once.
            let looks = due.iter().chain(&due).map(|tick| run(&store, tick.clone(), now));
            join_all(looks).await;
        }
        now = later(now, 1);
    }
}

async fn make_vals(store: &Store) {
    let new = NewUser {
        username: "ada".parse().expect("a name"),
        admin: true,
        password_hash: None,
    };
    let user = store.create_user(&new).await.expect("a user").id;
    for index in 0..VALS {
        let new = NewVal {
            kind: Some(ValKind::Interval),
            schedule: Some(NewSchedule {
                cron: "every 1 minute".to_owned(),
                timezone: "UTC".to_owned(),
                paused: false,
                catch_up: false,
                overlap: index % 2 == 0,
            }),
            ..NewVal::of_code("1")
        };
        store.create_val(user, &new).await.expect("a val");
    }
}

/// The first tick that any schedule has before it.
async fn first_tick(store: &Store) -> Timestamp {
    let far = Timestamp::from_millis(i64::MAX / 2);
    let planned = store
        .list_due_ticks(far, &Turns::of_all(100))
        .await
        .expect("ticks");
    planned.iter().map(|tick| tick.at).min().expect("a tick")
}

async fn run(store: &Store, tick: DueTick, now: Timestamp) {
    let name = format!("{} {}", tick.val_id, tick.at.as_millis());
    let until = later(now, 2);
    let Some(claim) = store.claim_tick(tick, now, until).await.expect("an answer") else {
        return;
    };
    say(&format!("begins {name}"));
    if store.begin_tick(&claim).await.expect("an answer") {
        say(&format!("ran {name}"));
    }
    store.end_tick(&claim).await.expect("ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_runs_every_tick_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("data");
    let (mut begun, mut ran) = (BTreeMap::<String, BTreeSet<i64>>::new(), BTreeSet::new());
    let crashes = [1, 2, 5, 38, 101, 102, 203];
    for lines in crashes {
        for line in killed_after("crash_ticks::ticks_until_it_is_killed", &folder, lines) {
            let (what, tick) = line.split_once(' ').expect("a whole line");
            let (val, at) = tick.split_once(' ').expect("a whole line");
            if what == "ran" {
                assert!(ran.insert(tick.to_owned()), "{tick} ran twice");
            } else {
                let at = at.parse().expect("a time");
                begun.entry(val.to_owned()).or_default().insert(at);
            }
        }
    }
    let store = Store::open(&config(&folder)).await.expect("opens after a crash");
    let long_ago = Timestamp::from_millis(0);
    store
        .resume_schedules(long_ago, long_ago, true)
        .await
        .expect("resumed");
    for owed in store
        .list_due_ticks(long_ago, &Turns::of_all(100))
        .await
        .expect("ticks")
    {
        let ticks = begun.entry(owed.val_id.to_string()).or_default();
        ticks.insert(owed.at.as_millis());
    }
    assert_eq!(begun.len(), VALS);
    for (val, ticks) in &begun {
        let minutes: Vec<i64> = ticks.iter().copied().collect();
        let skipped = minutes.windows(2).find(|pair| pair[1] - pair[0] != MINUTE_MS);
        assert_eq!(skipped, None, "{val} skipped a tick");
    }
    let ticks: usize = begun.values().map(BTreeSet::len).sum();
    assert!(
        ticks - ran.len() <= crashes.len() * VALS,
        "{} of {ticks} ticks ran: only what a crash cut off may be missing",
        ran.len()
    );
}
