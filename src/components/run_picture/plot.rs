//! What the picture is drawn of: lines, bars, marks.

use hamlet_models::{BaseRun, RunFilter, RunStatus};
use leptos::prelude::*;

use super::{PICTURE_RUNS, scale::Scale};

/// The fewest places: a few bars stay slim, at the end where the next will come.
const FEWEST_PLACES: usize = 40;
/// Where the bars stand, in pixels from the top.
const GROUND: f64 = 84.0;
/// How high the longest bar is.
const TALLEST: f64 = 76.0;
/// How high a bar is at least: a run without a duration yet, and one that took none.
const SHORTEST: f64 = 2.0;
/// The middle of the marks below the bars of runs that did not end well.
const MARKS: f64 = 92.0;

/// How many bars there is room for.
pub(super) fn places(count: usize) -> usize {
    match count {
        0..=FEWEST_PLACES => FEWEST_PLACES,
        _ if count <= PICTURE_RUNS / 2 => PICTURE_RUNS / 2,
        _ => PICTURE_RUNS,
    }
}

/// The place of a bar from the left, and its width, in percent.
fn place(index: usize, count: usize) -> (f64, f64) {
    let places = places(count);
    let width = 100.0 / places as f64;
    ((places - count + index) as f64 * width, width)
}

/// The durations at the lines, beside the plot.
pub(super) fn labels(scale: Scale) -> Vec<AnyView> {
    let label = |ms: f64| {
        let top = format!("{:.1}px", GROUND - scale.share(ms) * TALLEST);
        let text = match ms {
            ms if ms < 1_000.0 => format!("{ms} ms"),
            ms => format!("{} s", ms / 1_000.0),
        };
        view! { <span class="run-picture__label" style:inset-block-start=top aria-hidden="true">{text}</span> }.into_any()
    };
    scale.steps().map(label).collect()
}

/// The lines at whole powers of ten.
pub(super) fn lines(scale: Scale) -> Vec<AnyView> {
    let line = |ms: f64| {
        let y = format!("{:.1}", GROUND - scale.share(ms) * TALLEST);
        view! { <line class="run-picture__line" x1="0" x2="100%" y1=y.clone() y2=y /> }.into_any()
    };
    scale.steps().map(line).collect()
}

/// The fills that tell outcomes apart without colour.
pub(super) fn patterns() -> AnyView {
    let pattern = |id: &'static str, path: &'static str| {
        view! {
            <pattern id=id class=id width="4" height="4" patternUnits="userSpaceOnUse">
                <rect class="run-picture__back" width="4" height="4" />
                <path class="run-picture__hatch" d=path />
            </pattern>
        }
        .into_any()
    };
    view! {
        <defs>
            {pattern("run-picture-timeout", "M0 1h4M0 3h4")} {pattern("run-picture-ended", "M-1 3l4-4M1 5l4-4")}
        </defs>
    }
    .into_any()
}

/// The group of outcomes that a status belongs to, as the dots show them.
fn shape(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Ok => "ok",
        RunStatus::Queued | RunStatus::Running => "running",
        RunStatus::Error | RunStatus::OutOfMemory => "error",
        RunStatus::Timeout => "timeout",
        RunStatus::Cancelled | RunStatus::Lost => "ended",
    }
}

pub(super) fn bars(runs: &[BaseRun], scale: Scale, filter: &RunFilter) -> Vec<AnyView> {
    let count = runs.len();
    runs.iter()
        .enumerate()
        .map(|(index, run)| {
            let (x, width) = place(index, count);
            let height = run
                .duration_ms
                .map_or(SHORTEST, |ms| (scale.share(ms) * TALLEST).max(SHORTEST));
            let back = if filter.matches(run) {
                ""
            } else {
                " run-picture__bar--back"
            };
            let class = format!("run-picture__bar run-picture__bar--{}{back}", shape(run.status));
            view! {
                <g class=class>
                    <rect
                        x=format!("{:.2}%", x + width * 0.1)
                        width=format!("{:.2}%", width * 0.8)
                        y=format!("{:.1}", GROUND - height)
                        height=format!("{height:.1}")
                    />
                    {mark(run.status, x + width / 2.0)}
                </g>
            }
            .into_any()
        })
        .collect()
}

/// The mark below the bar of a run that did not end well, in the shape of its dot.
fn mark(status: RunStatus, x: f64) -> Option<AnyView> {
    let path = match shape(status) {
        "running" => "M0-3a3 3 0 1 0 0 6a3 3 0 1 0 0-6z",
        "error" => "M-3-3L3 3M3-3L-3 3",
        "timeout" => "M0-3L3.5 3h-7z",
        "ended" => "M-3 0h6",
        _ => return None,
    };
    Some(
        view! {
            <svg x=format!("{x:.2}%") y=format!("{MARKS}") overflow="visible">
                <path class="run-picture__mark" d=path />
            </svg>
        }
        .into_any(),
    )
}

/// The light behind the bar that is told of.
pub(super) fn pointer(index: usize, count: usize) -> AnyView {
    let (x, width) = place(index, count);
    view! { <rect class="run-picture__pointer" x=format!("{x:.2}%") width=format!("{width:.2}%") y="0" height="100" /> }
        .into_any()
}
