//! Schedules: a tick is claimed once, on either database, and across a restart.

use hamlet_models::{NewSchedule, NewVal, RunId, Timestamp, ValId, ValKind, ValUpdate};
use hamlet_store::{ClaimedTick, DueTick, Store, StoreError, Turns};
use uuid::Uuid;

use crate::harness::TestStore;

async fn scheduled(store: &Store, store_user: hamlet_models::UserId, cron: &str) -> (ValId, Timestamp) {
    let new = NewVal {
        kind: Some(ValKind::Interval),
        schedule: Some(schedule(cron)),
        ..NewVal::of_code("1")
    };
    let val = store.create_val(store_user, &new).await.expect("a val");
    let schedule = val.schedule.as_ref().expect("a schedule");
    (val.id, schedule.next_run_at.expect("a tick"))
}

fn schedule(cron: &str) -> NewSchedule {
    NewSchedule {
        cron: cron.to_owned(),
        timezone: "UTC".to_owned(),
        paused: false,
        catch_up: false,
        overlap: false,
    }
}

/// Claims the one tick that is due then.
async fn claim(store: &Store, now: Timestamp, until: Timestamp) -> ClaimedTick {
    let tick = due(store, now).await.remove(0);
    let claim = store.claim_tick(tick, now, until).await.expect("an answer");
    claim.expect("won")
}

fn later(time: Timestamp, minutes: i64) -> Timestamp {
    Timestamp::from_millis(time.as_millis() + minutes * 60_000)
}

async fn due(store: &Store, now: Timestamp) -> Vec<DueTick> {
    store
        .list_due_ticks(now, &Turns::of_all(100))
        .await
        .expect("ticks")
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
    store.return_tick(&won[0]).await.expect("returned");
    let schedule = store.get_val(val).await.expect("the val").schedule.clone();
    assert_eq!(schedule.expect("a schedule").last_run_at, None, "it has not run");
    let again = due(&store, tick).await;
    assert_eq!((again.len(), again[0].at, again[0].last_run_at), (1, tick, None));
    assert!(!store.begin_tick(&won[0]).await.expect("an answer"), "given back");
}

both!(a_claim_that_was_never_begun_goes_to_the_next_and_to_one_alone);
async fn a_claim_that_was_never_begun_goes_to_the_next_and_to_one_alone(store: TestStore) {
    let user = store.user("ada").await.id;
    let (_, tick) = scheduled(&store, user, "every 1 hour").await;
    let first = claim(&store, tick, later(tick, 2)).await;
    assert!(due(&store, later(tick, 1)).await.is_empty(), "it may yet begin");
    let now = later(tick, 2);
    let left = due(&store, now).await;
    assert_eq!((left.len(), left[0].at, left[0].last_run_at), (1, tick, None));
    let claims = (0..16).map(|_| store.claim_tick(left[0].clone(), now, later(now, 2)));
    let claims = futures_util::future::join_all(claims).await;
    let won: Vec<_> = claims
        .into_iter()
        .filter_map(|claim| claim.expect("an answer"))
        .collect();
    assert_eq!(won.len(), 1);
    assert!(
        !store.begin_tick(&first).await.expect("an answer"),
        "who was slow must not run what is another's"
    );
    assert!(store.begin_tick(&won[0]).await.expect("an answer"));
    assert!(
        !store.begin_tick(&won[0]).await.expect("an answer"),
        "a tick is spent once"
    );
    store.end_tick(&won[0]).await.expect("ended");
    let next = due(&store, later(tick, 60)).await;
    assert_eq!((next.len(), next[0].at), (1, later(tick, 60)));
    assert_eq!(next[0].last_run_at, Some(now));
}

both!(what_was_claimed_and_not_begun_does_not_make_the_next_tick_overlap);
async fn what_was_claimed_and_not_begun_does_not_make_the_next_tick_overlap(store: TestStore) {
    let user = store.user("ada").await.id;
    let (_, tick) = scheduled(&store, user, "every 1 minute").await;
    claim(&store, tick, later(tick, 2)).await;
    let now = later(tick, 2);
    let owed = due(&store, now).await;
    assert_eq!(owed.iter().map(|tick| tick.at).collect::<Vec<_>>(), [tick]);
    let again = claim(&store, now, later(now, 2)).await;
    store.return_tick(&again).await.expect("returned");
    let again = claim(&store, now, later(now, 2)).await;
    assert!(due(&store, now).await.is_empty(), "the next one waits for it");
    assert!(store.begin_tick(&again).await.expect("an answer"));
    store.end_tick(&again).await.expect("ended");
    let next = due(&store, now).await;
    assert_eq!(
        (next.len(), next[0].at, next[0].last_run_at),
        (1, later(tick, 1), Some(now)),
    );
}

both!(what_is_owed_goes_with_the_schedule_that_owes_it);
async fn what_is_owed_goes_with_the_schedule_that_owes_it(store: TestStore) {
    let user = store.user("ada").await.id;
    let (val, tick) = scheduled(&store, user, "every 1 hour").await;
    let claim = claim(&store, tick, later(tick, 2)).await;
    store.return_tick(&claim).await.expect("returned");
    let paused = ValUpdate {
        schedule: Some(Some(NewSchedule {
            paused: true,
            ..schedule("every 1 hour")
        })),
        ..ValUpdate::default()
    };
    store.update_val(val, &paused).await.expect("paused");
    assert!(due(&store, later(tick, 10)).await.is_empty());
    let claimed = store.begin_tick(&claim).await.expect("an answer");
    assert!(!claimed, "not even by who had it");
}

both!(a_tick_waits_until_the_last_one_is_ended);
async fn a_tick_waits_until_the_last_one_is_ended(store: TestStore) {
    let user = store.user("ada").await.id;
    let (_, tick) = scheduled(&store, user, "every 1 minute").await;
    let claim = claim(&store, tick, later(tick, 5)).await;
    assert!(store.begin_tick(&claim).await.expect("an answer"));
    assert!(due(&store, later(tick, 2)).await.is_empty());
    store.end_tick(&claim).await.expect("ended");
    let waiting = due(&store, later(tick, 2)).await;
    assert_eq!((waiting.len(), waiting[0].at), (1, later(tick, 1)));
    assert_eq!(waiting[0].last_run_at, Some(tick));
}

both!(a_tick_waits_while_its_schedule_is_held);
async fn a_tick_waits_while_its_schedule_is_held(store: TestStore) {
    let user = store.user("ada").await.id;
    let (val, tick) = scheduled(&store, user, "every 1 hour").await;
    let runs = [5, 2, 3].map(|minutes| (RunId(Uuid::now_v7()), minutes));
    for (run, minutes) in runs {
        let held = store.hold_schedule(val, run, later(tick, minutes)).await;
        held.expect("held");
    }
    let seen = due(&store, later(tick, 5)).await.remove(0);
    let early = store.claim_tick(seen, later(tick, 4), later(tick, 9)).await;
    assert!(early.expect("an answer").is_none(), "held for the longest");
    for ((run, _), ticks) in runs.into_iter().zip([0, 0, 1]) {
        store.release_schedule(run).await.expect("released");
        assert_eq!(due(&store, tick).await.len(), ticks, "each holds by itself");
    }
    let gone = ValId(Uuid::now_v7());
    let refused = store.hold_schedule(gone, runs[0].0, tick).await;
    assert!(matches!(refused, Err(StoreError::NotFound("val"))), "{refused:?}");

    let overlapping = ValUpdate {
        schedule: Some(Some(NewSchedule {
            overlap: true,
            ..schedule("every 1 hour")
        })),
        ..ValUpdate::default()
    };
    store.update_val(val, &overlapping).await.expect("changed");
    let held = store.hold_schedule(val, runs[0].0, later(tick, 200)).await;
    held.expect("held");
    assert_eq!(due(&store, later(tick, 100)).await.len(), 1);
}

both!(every_owner_has_a_turn_before_anybody_has_a_second);
async fn every_owner_has_a_turn_before_anybody_has_a_second(store: TestStore) {
    let (bob, ada) = (store.user("bob").await.id, store.user("ada").await.id);
    for _ in 0..4 {
        scheduled(&store, bob, "every 1 hour").await;
    }
    let (_, last) = scheduled(&store, ada, "every 1 hour").await;
    let whose = async |turns: Turns| {
        let due = store.list_due_ticks(last, &turns).await.expect("ticks");
        due.iter().map(|tick| tick.owner).collect::<Vec<_>>()
    };
    let of_two = Turns::of_all(2);
    assert_eq!(
        whose(of_two.clone()).await,
        [bob, ada],
        "the oldest are all Bob's"
    );
    let one_each = Turns {
        of_each: 1,
        ..Turns::of_all(9)
    };
    assert_eq!(whose(one_each).await, [bob, ada]);
    let without_bob = Turns {
        without: vec![bob],
        ..Turns::of_all(9)
    };
    assert_eq!(whose(without_bob.clone()).await, [ada]);

    for tick in store
        .list_due_ticks(last, &Turns::of_all(9))
        .await
        .expect("ticks")
    {
        let claim = store
            .claim_tick(tick, last, later(last, 1))
            .await
            .expect("an answer");
        store.return_tick(&claim.expect("won")).await.expect("returned");
    }
    assert_eq!(whose(of_two).await, [bob, ada], "also of what was given back");
    assert_eq!(whose(without_bob).await, [ada]);
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
async fn a_server_that_starts_beside_another_passes_over_nothing_that_waits_there() {
    let Some(store) = TestStore::on_postgres().await else {
        return;
    };
    let (ada, bob) = (store.user("ada").await.id, store.user("bob").await.id);
    let (slow, tick) = scheduled(&store, bob, "every 1 minute").await;
    let running = claim(&store, tick, later(tick, 60)).await;
    assert!(store.begin_tick(&running).await.expect("an answer"));
    let (waiting, _) = scheduled(&store, bob, "every 1 minute").await;
    let (missed, _) = scheduled(&store, ada, "every 1 minute").await;
    let now = later(tick, 10);
    let second = store.second_server().await.expect("a second server");
    second
        .resume_schedules(now, later(now, -1), false)
        .await
        .expect("resumed");
    let whose = async || {
        let due = second
            .list_due_ticks(now, &Turns::of_all(9))
            .await
            .expect("ticks");
        due.iter().map(|tick| tick.val_id).collect::<Vec<_>>()
    };
    assert_eq!(whose().await, [waiting], "it may wait for a place of its owner's");
    second.end_tick(&running).await.expect("ended");
    let mut due = whose().await;
    due.sort();
    let mut expected = [slow, waiting];
    expected.sort();
    assert_eq!(due, expected, "and this one waited for the run before it");
    assert!(!due.contains(&missed));
}

#[tokio::test]
async fn what_began_before_the_server_died_is_spent_and_what_did_not_is_owed() {
    for begins in [true, false] {
        let store = TestStore::on_sqlite().await;
        let user = store.user("ada").await.id;
        let (_, tick) = scheduled(&store, user, "every 1 minute").await;
        let claim = claim(&store, tick, later(tick, 60)).await;
        if begins {
            assert!(store.begin_tick(&claim).await.expect("an answer"));
        }
        let store = store.reopened().await;
        let back = later(tick, 5);
        assert!(due(&store, back).await.is_empty(), "it may go on elsewhere");
        store
            .resume_schedules(back, later(back, -1), true)
            .await
            .expect("resumed");
        let owed: Vec<_> = due(&store, back).await.iter().map(|tick| tick.at).collect();
        let expected = if begins { vec![] } else { vec![tick] };
        assert_eq!(owed, expected, "begun {begins}: what was missed is passed over");
        assert_eq!(due(&store, later(tick, 6)).await.len(), 1, "one after the other");
    }
}
