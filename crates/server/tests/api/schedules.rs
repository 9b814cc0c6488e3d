//! Schedules: set through the interface, run by the scheduler when a test says what time it is.

use std::time::Duration;

use hamlet_models::{
    BaseRun, ExtendedVal, FullRun, Page, PageQuery, Privacy, ProblemCode, RunFilter, RunStatus, Schedule,
    Timestamp, Trigger,
};
use hamlet_runtime::Input;
use hamlet_server::{config::Settings, run_service::Call, scheduler::Scheduler};
use hamlet_store::{RunScope, Turns};
use serde_json::{Value, json};

use crate::test_app::{Client, Endless, TestApp, pass};

/// A scheduled val of this schedule and code.
async fn scheduled(owner: &Client, schedule: Value, code: &str) -> ExtendedVal {
    let new = json!({"name": "tick", "type": "interval", "code": code, "schedule": schedule});
    owner.post("/v1/vals", &new).await.json()
}

async fn schedule_of(owner: &Client, val: &ExtendedVal) -> Schedule {
    let val: ExtendedVal = owner.get(&format!("/v1/vals/{}", val.id)).await.json();
    val.schedule.expect("a schedule")
}

/// Its runs, the first one first.
async fn runs_of(owner: &Client, val: &ExtendedVal) -> Vec<FullRun> {
    let page: Page<BaseRun> = owner.get(&format!("/v1/vals/{}/runs", val.id)).await.json();
    let mut runs = Vec::new();
    for run in page.data.iter().rev() {
        runs.push(owner.get(&format!("/v1/runs/{}", run.id)).await.json());
    }
    runs
}

/// The run of this number once it is over, the first one being 0.
async fn wait_for_run(owner: &Client, val: &ExtendedVal, number: usize) -> FullRun {
    loop {
        let mut runs = runs_of(owner, val).await;
        if runs.get(number).is_some_and(|run| run.run.status.is_over()) {
            return runs.remove(number);
        }
        tokio::task::yield_now().await;
    }
}

fn later(time: Timestamp, minutes: i64) -> Timestamp {
    Timestamp::from_millis(time.as_millis() + minutes * 60_000)
}

async fn due(app: &TestApp, now: Timestamp) -> usize {
    app.server.scheduler.run_due(now).await.expect("a look")
}

/// A run is refused that found no place for so long.
const LONGER_THAN_A_WAIT: Duration = Duration::from_secs(11);

const HOURLY: &str = "every 1 hour";

#[tokio::test]
async fn a_schedule_tells_when_it_ticks_next() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let val = scheduled(
        &ada,
        json!({"cron": "0 7 * * *", "timezone": "Europe/Berlin"}),
        "export default () => 1",
    )
    .await;
    let schedule = val.schedule.as_ref().expect("a schedule");
    assert_eq!(
        (
            schedule.cron.as_str(),
            schedule.timezone.as_str(),
            schedule.paused
        ),
        ("0 7 * * *", "Europe/Berlin", false)
    );
    assert_eq!((schedule.last_run_at, schedule.next_ticks.len()), (None, 5));
    assert_eq!(schedule.next_run_at, Some(schedule.next_ticks[0]));
    assert!(schedule.next_ticks.is_sorted());
    for tick in &schedule.next_ticks {
        let text = tick.to_string();
        assert!(
            text.ends_with("T05:00:00.000Z") || text.ends_with("T06:00:00.000Z"),
            "{text}"
        );
    }
    assert_eq!(&schedule_of(&ada, &val).await, schedule);

    let path = format!("/v1/vals/{}", val.id);
    ada.put(
        &path,
        &json!({"schedule": {"cron": HOURLY, "paused": true, "catchUp": true, "overlap": true}}),
    )
    .await
    .nothing();
    let paused = schedule_of(&ada, &val).await;
    assert_eq!((paused.next_run_at, paused.next_ticks.len()), (None, 0));
    assert!(paused.paused && paused.catch_up && paused.overlap);
    ada.put(&path, &json!({"schedule": {"cron": HOURLY}}))
        .await
        .nothing();
    assert!(schedule_of(&ada, &val).await.next_run_at.is_some());
    ada.put(&path, &json!({"type": "script"})).await.nothing();
    let val: ExtendedVal = ada.get(&path).await.json();
    assert_eq!(val.schedule, None);
    ada.put(&path, &json!({"type": "interval"})).await.nothing();
    let val: ExtendedVal = ada.get(&path).await.json();
    assert!(
        val.schedule
            .is_some_and(|schedule| schedule.next_run_at.is_some())
    );
    ada.put(&path, &json!({"schedule": null})).await.nothing();
    let val: ExtendedVal = ada.get(&path).await.json();
    assert_eq!(val.schedule, None);
}

#[tokio::test]
async fn a_schedule_without_meaning_is_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (schedule, path) in [
        (json!({"cron": "0 0 * * * *"}), "schedule.cron"),
        (json!({"cron": "61 * * * *"}), "schedule.cron"),
        (json!({"cron": "every 0 minutes"}), "schedule.cron"),
        (json!({"cron": "0 0 30 2 *"}), "schedule.cron"),
        (json!({"cron": "0 0 31 4,6,9,11 *"}), "schedule.cron"),
        (
            json!({"cron": "* * * * *", "timezone": "Mars/Base"}),
            "schedule.timezone",
        ),
    ] {
        let new = json!({"code": "1", "type": "interval", "schedule": schedule});
        let problem = ada.post("/v1/vals", &new).await.refused(ProblemCode::Invalid);
        assert_eq!(problem.details[0].path, path, "{schedule}");
    }
}

#[tokio::test]
async fn a_schedule_is_for_scheduled_vals_alone() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let schedule = json!({"cron": HOURLY});
    for kind in [json!(null), json!("script"), json!("http"), json!("email")] {
        let mut new = json!({"code": "1", "schedule": schedule});
        if !kind.is_null() {
            new["type"] = kind;
        }
        let problem = ada.post("/v1/vals", &new).await.refused(ProblemCode::Invalid);
        assert_eq!(problem.details[0].path, "schedule", "{new}");
    }
    let val = ada.create_val("hello", Privacy::Private).await;
    let path = format!("/v1/vals/{}", val.id);
    let problem = ada.put(&path, &json!({"schedule": schedule})).await;
    assert_eq!(problem.refused(ProblemCode::Invalid).details[0].path, "schedule");
    ada.put(&path, &json!({"schedule": null})).await.nothing();
    ada.put(&path, &json!({"type": "interval", "schedule": schedule}))
        .await
        .nothing();
    let problem = ada
        .put(&path, &json!({"type": "http", "schedule": schedule}))
        .await;
    assert_eq!(problem.refused(ProblemCode::Invalid).details[0].path, "schedule");
}

#[tokio::test]
async fn each_tick_runs_once_and_is_told_when_the_last_one_ran() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default ({ lastRunAt }) => console.log(lastRunAt?.toISOString() ?? 'never')";
    let val = scheduled(&ada, json!({"cron": HOURLY}), code).await;
    let first = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    assert_eq!(due(&app, later(first, -1)).await, 0, "too early");
    assert_eq!(due(&app, first).await, 1);
    assert_eq!(due(&app, later(first, 1)).await, 0, "once");
    app.server.scheduler.ended().await;
    let schedule = schedule_of(&ada, &val).await;
    assert_eq!(
        (schedule.last_run_at, schedule.next_run_at),
        (Some(first), Some(later(first, 60)))
    );
    assert_eq!(due(&app, later(first, 61)).await, 1);
    app.server.scheduler.ended().await;
    assert_eq!(
        schedule_of(&ada, &val).await.next_run_at,
        Some(later(first, 120)),
        "late ticks don't drift"
    );

    let runs = runs_of(&ada, &val).await;
    let said: Vec<_> = runs.iter().map(|run| run.logs[0].message.clone()).collect();
    assert_eq!(said, ["never".to_owned(), first.to_string()]);
    assert!(
        runs.iter()
            .all(|run| run.run.status == RunStatus::Ok && run.run.trigger == Trigger::Schedule)
    );
}

#[tokio::test]
async fn a_tick_goes_to_one_of_all_servers_that_look() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = scheduled(
        &ada,
        json!({"cron": HOURLY, "overlap": true}),
        "export default () => {}",
    )
    .await;
    let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    let state = &app.server.state;
    let others: Vec<_> = (0..8)
        .map(|_| Scheduler::new(app.store.clone(), state.runs.clone(), &state.config.limits, false))
        .collect();
    let looks = others.iter().map(|scheduler| scheduler.run_due(tick));
    let started = futures_util::future::try_join_all(looks).await.expect("looks");
    assert_eq!(started.iter().sum::<usize>(), 1);
    for scheduler in &others {
        scheduler.ended().await;
    }
    assert_eq!(runs_of(&ada, &val).await.len(), 1);
}

/// A scheduler of a server that is started over the store of this one, as if that had died.
async fn next_server(app: &TestApp, now: Timestamp) -> Scheduler {
    let state = &app.server.state;
    app.store.lose_unfinished_runs().await.expect("the lost ones");
    let next = Scheduler::new(app.store.clone(), state.runs.clone(), &state.config.limits, true);
    next.resume(now).await.expect("resumed");
    next
}

#[tokio::test]
async fn a_tick_whose_server_died_before_it_began_runs_once() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default ({ lastRunAt }) => console.log(lastRunAt?.toISOString() ?? 'never')";
    let val = scheduled(&ada, json!({"cron": HOURLY}), code).await;
    let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    let ticks = app.store.list_due_ticks(tick, &Turns::of_all(10)).await;
    let seen = ticks.expect("ticks").remove(0);
    let claim = app.store.claim_tick(seen, tick, later(tick, 2)).await;
    let claim = claim.expect("an answer").expect("won");
    assert_eq!(due(&app, later(tick, 1)).await, 0, "it may yet begin");

    let back = later(tick, 10);
    let next = next_server(&app, back).await;
    assert_eq!(next.run_due(back).await.expect("a look"), 1);
    assert_eq!(next.run_due(back).await.expect("a look"), 0);
    next.ended().await;
    let began = app.store.begin_tick(&claim).await.expect("an answer");
    assert!(!began, "it is another's by now");
    let runs = runs_of(&ada, &val).await;
    assert_eq!((runs.len(), runs[0].logs[0].message.as_str()), (1, "never"));
    let schedule = schedule_of(&ada, &val).await;
    assert_eq!(
        (schedule.last_run_at, schedule.next_run_at),
        (Some(back), Some(later(tick, 60)))
    );
}

#[tokio::test]
async fn a_tick_whose_server_died_with_its_run_recorded_is_that_run() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = scheduled(&ada, json!({"cron": HOURLY}), "export default () => {}").await;
    let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    let ticks = app.store.list_due_ticks(tick, &Turns::of_all(10)).await;
    let seen = ticks.expect("ticks").remove(0);
    let claim = app.store.claim_tick(seen, tick, later(tick, 2)).await;
    let claim = claim.expect("an answer").expect("won");
    let runs = &app.server.state.runs;
    let call = Call {
        trigger: Trigger::Schedule,
        parent_id: None,
        replay_of: None,
        input: Input::Interval { last_run_at: None },
    };
    let record = app.store.get_val(val.id).await.expect("the val");
    let prepared = runs
        .prepare(claim.run_id(), &record, call)
        .await
        .expect("recorded");
    runs.recorder().flush().await;
    // Who is dead does not even give it up.
    std::mem::forget(prepared);

    let next = next_server(&app, later(tick, 10)).await;
    let lost = app.store.get_run(claim.run_id()).await.expect("the run");
    assert_eq!(lost.status, RunStatus::Lost);
    assert_eq!(next.run_due(later(tick, 10)).await.expect("a look"), 1);
    next.ended().await;
    runs.recorder().flush().await;
    let runs = runs_of(&ada, &val).await;
    assert_eq!(runs.len(), 1);
    let run = &runs[0].run;
    assert_eq!((run.id, run.status), (claim.run_id(), RunStatus::Ok));
    assert!(runs[0].error.is_none(), "{:?}", runs[0].error);
}

#[tokio::test]
async fn a_tick_whose_server_died_after_it_began_is_lost_and_not_run_again() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let endless = "export default () => new Promise((done) => setTimeout(done, 1e6))";
    let val = scheduled(&ada, json!({"cron": HOURLY}), endless).await;
    let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    assert_eq!(due(&app, tick).await, 1);
    let on_disk = async || {
        let page = PageQuery { offset: 0, limit: 10 };
        let (scope, all) = (RunScope::Val(val.id), RunFilter::default());
        let runs = app.store.list_runs(scope, &all, page).await.expect("runs").items;
        runs.iter().map(|run| run.status).collect::<Vec<_>>()
    };
    let statuses = on_disk().await;
    assert!(
        statuses.len() == 1 && !statuses[0].is_over(),
        "recorded before it began: {statuses:?}"
    );
    // From then on it has nothing to say that would be recorded.
    while on_disk().await != [RunStatus::Running] {
        app.server.state.runs.recorder().flush().await;
    }

    let next = next_server(&app, later(tick, 10)).await;
    assert_eq!(next.run_due(later(tick, 10)).await.expect("a look"), 0);
    assert_eq!(on_disk().await, [RunStatus::Lost]);
}

#[tokio::test]
async fn a_tick_waits_for_the_run_of_the_last_one_unless_it_may_overlap() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let endless = "export default () => new Promise((done) => setTimeout(done, 1e6))";
    let val = scheduled(&ada, json!({"cron": "every 1 minute"}), endless).await;
    let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    assert_eq!(due(&app, tick).await, 1);
    assert_eq!(due(&app, later(tick, 1)).await, 0, "the first goes on");
    let running: Page<BaseRun> = ada.get(&format!("/v1/vals/{}/runs", val.id)).await.json();
    let cancel = format!("/v1/vals/{}/evaluations/{}/cancel", val.id, running.data[0].id);
    while ada.post(&cancel, &json!({})).await.status != 200 {
        tokio::task::yield_now().await;
    }
    app.server.scheduler.ended().await;
    assert_eq!(due(&app, later(tick, 1)).await, 1, "it waited, and was not lost");

    ada.put(
        &format!("/v1/vals/{}", val.id),
        &json!({"schedule": {"cron": "every 1 minute", "overlap": true}}),
    )
    .await
    .nothing();
    let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    assert_eq!((due(&app, tick).await, due(&app, later(tick, 1)).await), (1, 1));
}

#[tokio::test]
async fn many_ticks_of_one_owner_do_not_hold_up_those_of_another() {
    let app = TestApp::running_with(Settings {
        user_runs: Some(2),
        ..Settings::default()
    })
    .await;
    let (bob, ada) = (app.user("bob").await, app.user("ada").await);
    let endless = "export default () => new Promise((done) => setTimeout(done, 1e6))";
    for number in 0..101 {
        let new = json!({
            "name": format!("tick{number}"), "type": "interval", "code": endless, "schedule": {"cron": HOURLY},
        });
        bob.post("/v1/vals", &new).await.value();
    }
    let val = scheduled(&ada, json!({"cron": HOURLY}), "export default () => {}").await;
    let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    assert_eq!(
        due(&app, tick).await,
        2,
        "one of each, as many as a user may have"
    );
    wait_for_run(&ada, &val, 0).await;
    while runs_of(&ada, &val).await.len() < 2 {
        due(&app, later(tick, 60)).await;
    }
    wait_for_run(&ada, &val, 1).await;
}

#[tokio::test]
async fn a_tick_that_finds_every_place_taken_runs_later_and_once() {
    let app = TestApp::running_with(Settings {
        user_runs: Some(1),
        ..Settings::default()
    })
    .await;
    let bob = app.user("bob").await;
    let code = "export default ({ lastRunAt }) => console.log(lastRunAt?.toISOString() ?? 'never')";
    let val = scheduled(&bob, json!({"cron": HOURLY}), code).await;
    let tick = schedule_of(&bob, &val).await.next_run_at.expect("a tick");
    let endless = Endless::start(&bob).await;
    assert_eq!(due(&app, tick).await, 0);
    pass(LONGER_THAN_A_WAIT).await;
    while app
        .store
        .list_due_ticks(tick, &Turns::of_all(9))
        .await
        .expect("ticks")
        .is_empty()
    {
        tokio::task::yield_now().await;
    }
    assert!(
        runs_of(&bob, &val).await.is_empty(),
        "what did not begin is no run"
    );
    assert_eq!(schedule_of(&bob, &val).await.last_run_at, None);

    assert_eq!(due(&app, later(tick, 61)).await, 0, "it waits again");
    endless.cancel().await;
    let first = wait_for_run(&bob, &val, 0).await;
    assert_eq!(
        (first.run.status, first.logs[0].message.as_str()),
        (RunStatus::Ok, "never")
    );
    while runs_of(&bob, &val).await.len() < 2 {
        due(&app, later(tick, 61)).await;
    }
    let second = wait_for_run(&bob, &val, 1).await;
    assert_eq!(second.run.status, RunStatus::Ok, "the next one waited for it");
    assert_eq!(due(&app, later(tick, 61)).await, 0);
}

#[tokio::test]
async fn missed_ticks_run_once_if_the_schedule_catches_up_and_else_not_at_all() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    for (catch_up, runs) in [(true, 1), (false, 0)] {
        let val = scheduled(
            &ada,
            json!({"cron": HOURLY, "catchUp": catch_up}),
            "export default () => {}",
        )
        .await;
        let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
        let back = later(tick, 24 * 60 + 30);
        app.server.scheduler.resume(back).await.expect("resumed");
        assert_eq!(due(&app, back).await, runs, "catch_up {catch_up}");
        app.server.scheduler.ended().await;
        assert_eq!(due(&app, back).await, 0);
        assert_eq!(
            schedule_of(&ada, &val).await.next_run_at,
            Some(later(tick, 25 * 60))
        );
        ada.delete(&format!("/v1/vals/{}", val.id)).await.nothing();
    }
}

#[tokio::test]
async fn what_is_paused_deleted_or_no_schedule_does_not_tick() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = scheduled(&ada, json!({"cron": HOURLY}), "export default () => {}").await;
    let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    let path = format!("/v1/vals/{}", val.id);
    ada.put(&path, &json!({"schedule": {"cron": HOURLY, "paused": true}}))
        .await
        .nothing();
    assert_eq!(due(&app, later(tick, 600)).await, 0);
    ada.put(&path, &json!({"schedule": {"cron": HOURLY}}))
        .await
        .nothing();
    ada.put(&path, &json!({"type": "script"})).await.nothing();
    assert_eq!(due(&app, later(tick, 600)).await, 0);
    ada.put(&path, &json!({"type": "interval"})).await.nothing();
    ada.delete(&path).await.nothing();
    assert_eq!(due(&app, later(tick, 600)).await, 0);
}

#[tokio::test]
async fn run_now_runs_at_once_and_leaves_the_next_tick_where_it_is() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = scheduled(&ada, json!({"cron": HOURLY}), "export default () => {}").await;
    let before = schedule_of(&ada, &val).await;
    ada.post(&format!("/v1/vals/{}/runs", val.id), &json!({}))
        .await
        .value();
    let after = schedule_of(&ada, &val).await;
    assert_eq!(before.next_run_at, after.next_run_at);
    assert!(before.last_run_at.is_none() && after.last_run_at.is_some());
}

#[tokio::test]
async fn ticks_wait_for_a_run_that_was_started_now_which_itself_waits_for_none() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let endless = "export default () => new Promise((done) => setTimeout(done, 1e6))";
    let val = scheduled(&ada, json!({"cron": "every 1 minute"}), endless).await;
    let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    let path = format!("/v1/vals/{}/runs", val.id);
    let run_now = async || ada.post(&path, &json!({})).await.json::<BaseRun>().id;
    let cancel = async |run| {
        let path = format!("/v1/vals/{}/evaluations/{run}/cancel", val.id);
        while ada.post(&path, &json!({})).await.status != 200 {
            tokio::task::yield_now().await;
        }
    };
    let first = run_now().await;
    assert_eq!(due(&app, tick).await, 0, "a run goes on");
    cancel(first).await;
    while due(&app, tick).await == 0 {
        tokio::task::yield_now().await;
    }
    let ticks = runs_of(&ada, &val).await.pop().expect("the tick's").run.id;
    let second = run_now().await;
    let is_running = async |run| {
        let run: FullRun = ada.get(&format!("/v1/runs/{run}")).await.json();
        run.run.status == RunStatus::Running
    };
    while !(is_running(ticks).await && is_running(second).await) {
        tokio::task::yield_now().await;
    }
    cancel(ticks).await;
    app.server.scheduler.ended().await;
    assert_eq!(due(&app, later(tick, 1)).await, 0, "the other goes on");
    cancel(second).await;
    while due(&app, later(tick, 1)).await == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn ticks_wait_for_all_runs_that_were_started_now_whichever_ends_first() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let endless = "export default () => new Promise((done) => setTimeout(done, 1e6))";
    let val = scheduled(&ada, json!({"cron": "every 1 minute"}), endless).await;
    let tick = schedule_of(&ada, &val).await.next_run_at.expect("a tick");
    let val = app.store.get_val(val.id).await.expect("the val");
    let run_now = async || {
        let call = Call {
            trigger: Trigger::Run,
            parent_id: None,
            replay_of: None,
            input: Input::Interval { last_run_at: None },
        };
        app.server.state.runs.start(&val, call).await.expect("a run")
    };
    for first_ends_first in [true, false] {
        let (first, second) = (run_now().await, run_now().await);
        let mut ends = [first, second];
        if !first_ends_first {
            ends.reverse();
        }
        for (number, run) in ends.into_iter().enumerate() {
            assert_eq!(due(&app, tick).await, 0, "{number} of two are over");
            while !app.server.state.runs.cancel(run.run.id()) {
                tokio::task::yield_now().await;
            }
            // What it held is released by then.
            run.outcome().await.expect("an end");
        }
    }
    assert_eq!(due(&app, tick).await, 1);
}
