//! Schedules: a tick is claimed once, on either database, and across a restart.

use hamlet_models::{NewSchedule, NewVal, Timestamp, ValId, ValKind};
use hamlet_store::{DueTick, Store};

use crate::harness::TestStore;

async fn scheduled(store: &Store, store_user: hamlet_models::UserId, cron: &str) -> (ValId, Timestamp) {
    let new = NewVal {
        kind: Some(ValKind::Interval),
        schedule: Some(NewSchedule {
            cron: cron.to_owned(),
            timezone: "UTC".to_owned(),
            paused: false,
            catch_up: false,
            overlap: false,
        }),
        ..NewVal::of_code("1")
    };
    let val = store.create_val(store_user, &new).await.expect("a val");
    let schedule = val.schedule.as_ref().expect("a schedule");
    (val.id, schedule.next_run_at.expect("a tick"))
}

fn later(time: Timestamp, minutes: i64) -> Timestamp {
    Timestamp::from_millis(time.as_millis() + minutes * 60_000)
}

async fn due(store: &Store, now: Timestamp) -> Vec<DueTick> {
    store.list_due_ticks(now, 100).await.expect("ticks")
}

both!(of_many_who_claim_a_tick_one_gets_it);
async fn of_many_who_claim_a_tick_one_gets_it(store: TestStore) {
    let user = store.user("ada").await.id;
    let (val, tick) = scheduled(&store, user, "every 1 hour").await;
    assert!(due(&store, later(tick, -1)).await.is_empty());
    let seen = due(&store, tick).await;
    assert_eq!((seen.len(), seen[0].val_id, seen[0].at), (1, val, tick));
    let claims = (0..16).map(|_| store.claim_tick(seen[0].clone(), tick, later(tick, 2)));
    let claims = futures_util::future::join_all(claims).await;
    let won: Vec<_> = claims
        .into_iter()
        .filter_map(|claim| claim.expect("an answer"))
        .collect();
    assert_eq!(won.len(), 1);

    assert!(due(&store, later(tick, 1)).await.is_empty());
    let next = later(tick, 60);
    assert_eq!(
        due(&store, next).await.len(),
        1,
        "a claim that is never ended runs out"
    );
    store.return_tick(&won[0]).await.expect("returned");
    let again = due(&store, tick).await;
    assert_eq!((again.len(), again[0].at, again[0].last_run_at), (1, tick, None));
}

both!(a_tick_waits_until_the_last_one_is_ended);
async fn a_tick_waits_until_the_last_one_is_ended(store: TestStore) {
    let user = store.user("ada").await.id;
    let (_, tick) = scheduled(&store, user, "every 1 minute").await;
    let seen = due(&store, tick).await.remove(0);
    let claim = store
        .claim_tick(seen, tick, later(tick, 5))
        .await
        .expect("an answer")
        .expect("won");
    assert!(due(&store, later(tick, 2)).await.is_empty());
    store.end_tick(&claim).await.expect("ended");
    let waiting = due(&store, later(tick, 2)).await;
    assert_eq!((waiting.len(), waiting[0].at), (1, later(tick, 1)));
    assert_eq!(waiting[0].last_run_at, Some(tick));
}

both!(schedules_that_do_not_catch_up_pass_over_what_they_missed);
async fn schedules_that_do_not_catch_up_pass_over_what_they_missed(store: TestStore) {
    let user = store.user("ada").await.id;
    let (_, tick) = scheduled(&store, user, "every 1 hour").await;
    let back = later(tick, 150);
    store
        .resume_schedules(back, later(back, -1), false)
        .await
        .expect("resumed");
    assert!(due(&store, back).await.is_empty());
    assert_eq!(due(&store, later(tick, 180)).await.len(), 1);
}

#[tokio::test]
async fn a_claim_outlives_the_server_and_what_ran_there_keeps_nothing_from_running() {
    let store = TestStore::on_sqlite().await;
    let user = store.user("ada").await.id;
    let (_, tick) = scheduled(&store, user, "every 1 minute").await;
    let seen = due(&store, tick).await.remove(0);
    store
        .claim_tick(seen, tick, later(tick, 60))
        .await
        .expect("an answer")
        .expect("won");
    let store = store.reopened().await;
    let next = later(tick, 1);
    assert!(due(&store, next).await.is_empty(), "the run may go on elsewhere");
    store
        .resume_schedules(next, later(next, -1), true)
        .await
        .expect("resumed");
    let due = due(&store, next).await;
    assert_eq!(
        (due.len(), due[0].at),
        (1, next),
        "the claimed tick never comes again"
    );
}
