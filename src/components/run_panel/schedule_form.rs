//! A schedule to set: an interval, or a cron expression in a time zone.

use hamlet_models::{NewSchedule, Schedule, ValUpdate};
use leptos::{ev::SubmitEvent, prelude::*};
use wasm_bindgen::JsValue;

use super::{schedule_view::ScheduleEdit, schedule_words::schedule_words};
use crate::{
    api::error::sentence,
    components::form::FormEnd,
    ui::{
        button::{Button, ButtonKind},
        field::{Checkbox, TextField},
        part::part,
        select::Select,
    },
};

/// What a schedule begins with.
const FIRST: (&str, &str) = ("15", "minutes");

/// What is filled in; a handle that is copied freely.
#[derive(Clone, Copy)]
struct Filled {
    /// Whether it is a cron expression, not an interval.
    by_cron: RwSignal<bool>,
    count: RwSignal<String>,
    unit: RwSignal<String>,
    cron: RwSignal<String>,
    timezone: RwSignal<String>,
    catch_up: RwSignal<bool>,
    overlap: RwSignal<bool>,
    paused: bool,
}

impl Filled {
    fn of(before: Option<&Schedule>) -> Self {
        let interval = before.map(|schedule| interval_of(&schedule.cron));
        let by_cron = interval == Some(None);
        let (count, unit) = interval.flatten().unwrap_or((FIRST.0.to_owned(), FIRST.1));
        let cron = before.filter(|_| by_cron).map(|schedule| schedule.cron.clone());
        let timezone = before.map(|schedule| schedule.timezone.clone());
        Self {
            by_cron: RwSignal::new(by_cron),
            count: RwSignal::new(count),
            unit: RwSignal::new(unit.to_owned()),
            cron: RwSignal::new(cron.unwrap_or_else(|| "0 7 * * *".to_owned())),
            timezone: RwSignal::new(timezone.filter(|_| by_cron).unwrap_or_else(own_timezone)),
            catch_up: RwSignal::new(before.is_some_and(|schedule| schedule.catch_up)),
            overlap: RwSignal::new(before.is_some_and(|schedule| schedule.overlap)),
            paused: before.is_some_and(|schedule| schedule.paused),
        }
    }

    fn schedule(self) -> NewSchedule {
        let (cron, timezone) = if self.by_cron.get_untracked() {
            let cron = self.cron.get_untracked();
            (
                cron.split_whitespace().collect::<Vec<_>>().join(" "),
                self.timezone.get_untracked().trim().to_owned(),
            )
        } else {
            let count = self.count.get_untracked();
            (
                format!("every {} {}", count.trim(), self.unit.get_untracked()),
                "UTC".to_owned(),
            )
        };
        NewSchedule {
            cron,
            timezone,
            paused: self.paused,
            catch_up: self.catch_up.get_untracked(),
            overlap: self.overlap.get_untracked(),
        }
    }
}

/// The form of a schedule.
#[component]
pub fn ScheduleForm(
    /// The schedule as it is, if there is one.
    before: Option<Schedule>,
    /// What saves it.
    edit: ScheduleEdit,
) -> AnyView {
    let filled = Filled::of(before.as_ref());
    let wrong = RwSignal::new(None::<(&'static str, String)>);
    edit.error.set(None);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let schedule = filled.schedule();
        let update = ValUpdate {
            schedule: Some(Some(schedule.clone())),
            ..ValUpdate::default()
        };
        let problem = update.problems().first().copied();
        wrong.set(problem.map(|(field, words)| (field, sentence(words))));
        if problem.is_none() && !edit.busy.get_untracked() {
            edit.on_save.run(Some(schedule));
        }
    };
    let wrong_in = move |field: &'static str| {
        Signal::derive(move || {
            let found = wrong.get().filter(|(at, _)| *at == field);
            found.map(|(_, words)| words).or_else(|| {
                edit.error
                    .with(|error| error.as_ref().and_then(|error| error.field(field)))
            })
        })
    };
    let ways = [("interval", "by interval"), ("cron", "by cron expression")];
    let way = Signal::derive(move || if filled.by_cron.get() { "cron" } else { "interval" }.to_owned());
    let fields = move || {
        if filled.by_cron.get() {
            cron_fields(filled, wrong_in("schedule.cron"), wrong_in("schedule.timezone"))
        } else {
            interval_fields(filled, wrong_in("schedule.cron"))
        }
    };
    let remove = before.is_some().then(|| {
        view! {
            <Button kind=ButtonKind::Quiet on_click=move |()| edit.on_save.run(None)>"Remove the schedule"</Button>
        }
        .into_any()
    });
    let (catch_up, overlap) = (filled.catch_up, filled.overlap);
    view! {
        <form class="form schedule__form" aria-label="Schedule" on:submit=submit>
            <Select
                label="Runs"
                options=ways.map(|(key, word)| (key.to_owned(), word.to_owned())).to_vec()
                value=way
                on_change=move |way: String| filled.by_cron.set(way == "cron")
            />
            {part(fields)}
            <Checkbox
                label="Catch up: a tick that is missed while the server is down runs once when it is back"
                checked=catch_up
                on_change=move |on| catch_up.set(on)
            />
            <Checkbox
                label="Overlap: a tick runs also while another run goes on; else ticks wait, and become one"
                checked=overlap
                on_change=move |on| overlap.set(on)
            />
            <FormEnd verb="Save schedule" busy=edit.busy error=edit.error fields=&["schedule.cron", "schedule.timezone"]>
                <Button kind=ButtonKind::Quiet on_click=move |()| edit.open.set(false)>"Cancel"</Button>
                {remove}
            </FormEnd>
        </form>
    }
    .into_any()
}

fn interval_fields(filled: Filled, error: Signal<Option<String>>) -> AnyView {
    let units = ["minutes", "hours", "days"].map(|unit| (unit.to_owned(), unit.to_owned()));
    view! {
        <div class="schedule__line">
            <TextField label="Every" value=filled.count error />
            <Select
                label="Unit"
                options=units.to_vec()
                value=filled.unit
                on_change=move |unit| filled.unit.set(unit)
            />
        </div>
    }
    .into_any()
}

fn cron_fields(
    filled: Filled,
    wrong_cron: Signal<Option<String>>,
    wrong_zone: Signal<Option<String>>,
) -> AnyView {
    let words = move || {
        let words = schedule_words(&filled.cron.get(), &filled.timezone.get());
        words.map(|words| view! { <p class="run-panel__note" role="status">{words}</p> }.into_any())
    };
    view! {
        <TextField
            label="Cron expression"
            value=filled.cron
            code=true
            hint="Minute, hour, day, month, day of the week."
            error=wrong_cron
        />
        {part(words)}
        <TextField label="Time zone" value=filled.timezone hint="As Europe/Berlin or UTC." error=wrong_zone />
    }
    .into_any()
}

/// The number and the unit of an interval, as `every 15 minutes`.
fn interval_of(text: &str) -> Option<(String, &'static str)> {
    let rest = text.strip_prefix("every ")?;
    let (count, unit) = rest.rsplit_once(' ').unwrap_or(("1", rest));
    let unit = match unit {
        "minute" | "minutes" => "minutes",
        "hour" | "hours" => "hours",
        "day" | "days" => "days",
        _ => return None,
    };
    Some((count.to_owned(), unit))
}

/// The time zone of this browser.
fn own_timezone() -> String {
    let format = js_sys::Intl::DateTimeFormat::new(&js_sys::Array::new(), &js_sys::Object::new());
    js_sys::Reflect::get(&format.resolved_options(), &JsValue::from_str("timeZone"))
        .ok()
        .and_then(|zone| zone.as_string())
        .unwrap_or_else(|| "UTC".to_owned())
}
