//! When a scheduled val runs, and what changes that.

use hamlet_models::{NewSchedule, Schedule, Timestamp};
use leptos::prelude::*;

use super::{schedule_form::ScheduleForm, schedule_words::schedule_words};
use crate::{
    api::error::ClientError,
    ui::{
        button::Button,
        part::part,
        time::{RelativeTime, to_the_minute},
    },
};

/// A schedule under someone's hands; a handle that is copied freely.
#[derive(Clone, Copy)]
pub struct ScheduleEdit {
    /// Whether the form is open.
    pub open: RwSignal<bool>,
    /// Whether it is being saved.
    pub busy: RwSignal<bool>,
    /// Why it could not be saved.
    pub error: RwSignal<Option<ClientError>>,
    /// Saves it; `None` takes it away.
    pub on_save: Callback<Option<NewSchedule>>,
}

/// When a scheduled val runs: in words, its next ticks, and what changes it.
#[component]
pub fn ScheduleView(
    /// The schedule, if it has one.
    schedule: Memo<Option<Schedule>>,
    /// What changes it.
    edit: ScheduleEdit,
) -> AnyView {
    let shown = move || {
        if edit.open.get() {
            return view! { <ScheduleForm before=schedule.get_untracked() edit /> }.into_any();
        }
        match schedule.get() {
            Some(schedule) => planned(schedule, edit),
            None => unplanned(edit),
        }
    };
    view! { <section class="schedule" aria-label="Schedule">{part(shown)}</section> }.into_any()
}

fn unplanned(edit: ScheduleEdit) -> AnyView {
    view! {
            <p class="run-panel__note">"No schedule is set: it runs when you say so."</p>
            <div class="schedule__actions">
                <Button on_click=move |()| edit.open.set(true)>"Set a schedule"</Button>
            </div>
    }
    .into_any()
}

fn planned(schedule: Schedule, edit: ScheduleEdit) -> AnyView {
    let words = match schedule_words(&schedule.cron, &schedule.timezone) {
        Some(words) => words.into_any(),
        None => view! { <code>{schedule.cron.clone()}</code> ", " {schedule.timezone.clone()} }.into_any(),
    };
    let last = match schedule.last_run_at {
        Some(at) => view! { "Last ran " <RelativeTime at=at.as_millis() /> "." }.into_any(),
        None => "It has not run yet.".into_any(),
    };
    let rules = [
        (
            schedule.catch_up,
            "A tick that is missed while the server is down runs once when it is back.",
        ),
        (schedule.overlap, "A tick runs also while another run goes on."),
    ];
    let rules: Vec<AnyView> = rules
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, words)| view! { <p class="run-panel__note">{words}</p> }.into_any())
        .collect();
    let paused = schedule.paused;
    let ticks = if paused {
        view! { <p class="schedule__paused">"Paused: it runs only when you say so."</p> }.into_any()
    } else {
        next_ticks(&schedule.next_ticks)
    };
    let turned = NewSchedule {
        cron: schedule.cron,
        timezone: schedule.timezone,
        paused: !paused,
        catch_up: schedule.catch_up,
        overlap: schedule.overlap,
    };
    let failed = move || {
        edit.error
            .get()
            .map(|error| view! { <p class="form__error" role="alert">{error.sentence()}</p> }.into_any())
    };
    let busy = edit.busy;
    view! {
        <p class="schedule__words">{words}</p>
        {ticks}
        <p class="run-panel__note">{last}</p>
        {rules}
        {part(failed)}
        <div class="schedule__actions">
            <Button on_click=move |()| edit.open.set(true)>"Change"</Button>
            <Button busy on_click=move |()| edit.on_save.run(Some(turned.clone()))>
                {if paused { "Resume" } else { "Pause" }}
            </Button>
        </div>
    }
    .into_any()
}

/// The next ticks as the server tells them, in the reader's time.
fn next_ticks(ticks: &[Timestamp]) -> AnyView {
    if ticks.is_empty() {
        return view! { <p class="run-panel__note">"No tick is to come."</p> }.into_any();
    }
    let tick = |at: &Timestamp| {
        let at = at.as_millis();
        view! { <li>{to_the_minute(at)} " " <span class="schedule__in"><RelativeTime at /></span></li> }
            .into_any()
    };
    let ticks: Vec<AnyView> = ticks.iter().map(tick).collect();
    view! {
        <p class="schedule__label">"Next, in your time"</p>
        <ol class="schedule__ticks" role="list" aria-label="Next ticks">{ticks}</ol>
    }
    .into_any()
}
