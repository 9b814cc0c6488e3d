//! Where the time of a run went, as a small waterfall.

use hamlet_models::RunPhases;
use leptos::prelude::*;

use crate::ui::time::duration;

/// Shows each part of a run's time that was reached, one under the other, each beginning where the one before ended.
#[component]
pub fn Phases(
    /// The parts.
    phases: RunPhases,
) -> AnyView {
    let parts: Vec<(&'static str, f64)> = [
        ("Waited", phases.waited_ms),
        ("Worker ready", phases.worker_ms),
        ("Module loaded", phases.module_ms),
        ("Ran", phases.ran_ms),
        ("Sent", phases.sent_ms),
    ]
    .into_iter()
    .filter_map(|(label, ms)| Some((label, ms?)))
    .collect();
    let total: f64 = parts.iter().map(|(_, ms)| ms).sum();
    let mut start = 0.0;
    let rows: Vec<AnyView> = parts
        .into_iter()
        .map(|(label, ms)| {
            let row = phase(label, ms, start / total, ms / total);
            start += ms;
            row
        })
        .collect();
    view! { <dl class="phases">{rows}</dl> }.into_any()
}

fn phase(label: &'static str, ms: f64, start: f64, share: f64) -> AnyView {
    // A run that took no measurable time has no shares.
    let percent = |part: f64| if part.is_finite() { part * 100.0 } else { 0.0 };
    let start = format!("{:.2}%", percent(start));
    let size = format!("{:.2}%", percent(share));
    view! {
        <div class="phases__part">
            <dt>{label}</dt>
            <dd class="phases__track" aria-hidden="true">
                <span class="phases__bar" style:margin-inline-start=start style:inline-size=size></span>
            </dd>
            <dd class="phases__time">{duration(ms)}</dd>
        </div>
    }
    .into_any()
}
