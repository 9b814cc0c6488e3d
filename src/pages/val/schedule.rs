//! Setting when a val runs, and keeping true what is shown of that.

use hamlet_models::{ExtendedVal, NewSchedule, ValKind, ValUpdate};
use leptos::{prelude::*, task::spawn_local};

use super::runner::Runner;
use crate::{
    api::ApiClient,
    components::run_panel::{RunState, ScheduleEdit},
    hooks::clock::Clock,
};

/// What sets the val's schedule. When a tick has passed, or a run has ended, the val is asked for what comes next.
pub fn use_schedule(api: ApiClient, val: RwSignal<ExtendedVal>, runner: Runner) -> ScheduleEdit {
    let (open, busy) = (RwSignal::new(false), RwSignal::new(false));
    let error = RwSignal::new(None);
    let id = val.with_untracked(|val| val.id);
    let on_save = Callback::new(move |schedule: Option<NewSchedule>| {
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        error.set(None);
        spawn_local(async move {
            let update = ValUpdate {
                schedule: Some(schedule),
                ..ValUpdate::default()
            };
            let answer = api.update_val(id, &update).await;
            if answer.is_ok() {
                ask(api, val).await;
            }
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(()) => open.set(false),
                Err(refused) => error.set(Some(refused)),
            }
        });
    });

    let ended = Memo::new(move |_| {
        let idle = runner.state.with(|state| *state == RunState::Idle);
        idle.then(|| runner.run.with(|run| run.as_ref().map(|run| run.id)))
    });
    Effect::new(move |before: Option<Option<_>>| {
        let now = ended.get();
        let scheduled = val.with_untracked(|val| val.kind == ValKind::Interval);
        if scheduled && now.flatten().is_some() && before.is_some_and(|before| before != now) {
            spawn_local(ask(api, val));
        }
        now
    });

    let clock = expect_context::<Clock>();
    Effect::new(move |_| {
        let now = clock.get();
        let next = val.with_untracked(|val| val.schedule.as_ref().and_then(|schedule| schedule.next_run_at));
        if next.is_some_and(|next| next.as_millis() < now) {
            spawn_local(async move {
                ask(api, val).await;
                // The tick's run, unless something else is being watched.
                if runner.state.try_with_untracked(RunState::is_busy) == Some(false) {
                    runner.show_last(id).await;
                }
            });
        }
    });
    ScheduleEdit {
        open,
        busy,
        error,
        on_save,
    }
}

/// Asks for the val's schedule; what else may have changed of the val is left to who saves it.
async fn ask(api: ApiClient, val: RwSignal<ExtendedVal>) {
    let id = val.with_untracked(|val| val.id);
    let Ok(now) = api.get_val(id).await else { return };
    if val.try_with_untracked(|val| val.schedule != now.schedule) == Some(true) {
        val.update(|val| val.schedule = now.schedule);
    }
}
