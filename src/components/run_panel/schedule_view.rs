//! When a scheduled val runs.

use hamlet_models::Schedule;
use leptos::prelude::*;

use crate::ui::time::RelativeTime;

/// When a scheduled val runs, as far as the server tells.
#[component]
pub fn ScheduleView(
    /// The schedule, if it has one.
    schedule: Option<Schedule>,
) -> AnyView {
    let Some(schedule) = schedule else {
        return view! { <p class="run-panel__note">"No schedule is set: it runs when you say so."</p> }
            .into_any();
    };
    let time = |at: Option<hamlet_models::Timestamp>, none: &'static str| match at {
        Some(at) => view! { <RelativeTime at=at.as_millis() /> }.into_any(),
        None => none.into_any(),
    };
    view! {
        <dl class="run-panel__schedule">
            <div>
                <dt>"Schedule"</dt>
                <dd>
                    <code>{schedule.cron}</code>
                    " "
                    {schedule.timezone}
                </dd>
            </div>
            <div>
                <dt>"Next"</dt>
                <dd>{if schedule.paused { "paused".into_any() } else { time(schedule.next_run_at, "not planned") }}</dd>
            </div>
            <div>
                <dt>"Last"</dt>
                <dd>{time(schedule.last_run_at, "never")}</dd>
            </div>
        </dl>
    }
    .into_any()
}
