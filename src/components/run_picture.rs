//! The latest runs as a picture: a bar a run, and what it adds up to in words.

mod scale;
mod summary;

use std::sync::Arc;

use hamlet_models::{BaseRun, RunFilter, RunId, RunStatus};
use leptos::{
    ev::{KeyboardEvent, MouseEvent, PointerEvent},
    html,
    prelude::*,
};

use self::{scale::Scale, summary::Summary};
use crate::{
    components::{
        labels::trigger_word,
        status_dot::{StatusDot, status_word},
    },
    paths,
    ui::{
        number::plural,
        time::{RelativeTime, duration, relative},
    },
};

/// How many runs the picture has room for.
pub const PICTURE_RUNS: usize = 200;
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

/// Shows the latest runs, newest at the end: a bar's height is the duration on a logarithmic scale, colour, pattern and
/// the mark below it tell how the run ended. Pointing or the arrow keys tell of one; a click or Enter opens it.
#[component]
pub fn RunPicture(
    /// The runs, newest first; the first two hundred are drawn.
    #[prop(into)]
    runs: Signal<Arc<Vec<BaseRun>>>,
    /// Which of them the list below shows; the others stand back.
    #[prop(into)]
    filter: Signal<RunFilter>,
    /// Called with the run to open.
    on_open: Callback<RunId>,
) -> AnyView {
    let drawn = Memo::new(move |_| {
        runs.with(|runs| runs.iter().take(PICTURE_RUNS).rev().cloned().collect::<Vec<_>>())
    });
    let chosen = RwSignal::new(None::<RunId>);
    let position = move || {
        chosen
            .get()
            .and_then(|id| drawn.with(|runs| runs.iter().position(|run| run.id == id)))
    };
    let plot = NodeRef::<html::Div>::new();

    let choose = move |index: usize| {
        let id = drawn.with_untracked(|runs| runs.get(index).map(|run| run.id));
        if chosen.get_untracked() != id {
            chosen.set(id);
        }
    };
    let pointed = move |x: i32| {
        let bounds = plot.get_untracked()?.get_bounding_client_rect();
        let count = drawn.with_untracked(Vec::len);
        let share = (f64::from(x) - bounds.left()) / bounds.width();
        let from_end = ((1.0 - share) * places(count) as f64).floor().max(0.0);
        (count > 0).then(|| (count - 1).saturating_sub(from_end as usize))
    };
    let on_move = move |event: PointerEvent| {
        if let Some(index) = pointed(event.client_x()) {
            choose(index);
        }
    };
    // A mouse has chosen before it clicks; a finger chooses with its first tap and opens with its second.
    let on_click = move |event: MouseEvent| {
        let Some(index) = pointed(event.client_x()) else {
            return;
        };
        match untrack(position) {
            Some(here) if here == index => open(chosen, on_open),
            _ => choose(index),
        }
    };
    let on_key = move |event: KeyboardEvent| {
        let count = drawn.with_untracked(Vec::len);
        let last = count.saturating_sub(1);
        let here = untrack(position);
        let next = match event.key().as_str() {
            "ArrowLeft" | "ArrowDown" => here.map_or(last, |here| here.saturating_sub(1)),
            "ArrowRight" | "ArrowUp" => here.map_or(last, |here| (here + 1).min(last)),
            "PageDown" => here.map_or(last, |here| here.saturating_sub(10)),
            "PageUp" => here.map_or(last, |here| (here + 10).min(last)),
            "Home" => 0,
            "End" => last,
            "Escape" => return chosen.set(None),
            "Enter" => return open(chosen, on_open),
            _ => return,
        };
        event.prevent_default();
        choose(next);
    };
    let on_focus = move |_| {
        if untrack(position).is_none() {
            choose(drawn.with_untracked(Vec::len).saturating_sub(1));
        }
    };

    let value_text = move || {
        let now = crate::hooks::clock::now();
        let told = |run: &BaseRun| format!("{}, {}", facts(run), relative(run.run_start_at.as_millis(), now));
        let chosen = position().and_then(|index| drawn.with(|runs| runs.get(index).map(told)));
        chosen.unwrap_or_else(|| "No run chosen".to_owned())
    };
    let summary = move || drawn.with(|runs| Summary::of(runs)).map(|summary| summary.view());
    let scale = Memo::new(move |_| drawn.with(|runs| Scale::of(runs)));
    view! {
        <figure class="run-picture">
            <figcaption class="run-picture__summary">{summary}</figcaption>
            <div class="run-picture__frame">
                {move || labels(scale.get())}
                <div
                    class="run-picture__plot"
                    node_ref=plot
                    tabindex="0"
                    role="slider"
                    aria-label="Latest runs; the arrow keys choose one, Enter opens it"
                    aria-valuemin="1"
                    aria-valuemax=move || drawn.with(Vec::len).max(1).to_string()
                    aria-valuenow=move || position().map_or(drawn.with(Vec::len).max(1), |at| at + 1).to_string()
                    aria-valuetext=value_text
                    on:pointermove=on_move
                    on:pointerleave=move |_| chosen.set(None)
                    on:click=on_click
                    on:keydown=on_key
                    on:focus=on_focus
                >
                    <svg class="run-picture__svg" width="100%" height="100" aria-hidden="true">
                        {patterns()}
                        {move || lines(scale.get())}
                        {move || {
                            let (scale, filter) = (scale.get(), filter.get());
                            drawn.with(|runs| bars(runs, scale, &filter))
                        }}
                        {move || position().map(|index| pointer(index, drawn.with(Vec::len)))}
                    </svg>
                </div>
            </div>
            <div class="run-picture__told">
                {move || match position().and_then(|index| drawn.with(|runs| runs.get(index).cloned())) {
                    Some(run) => told(&run),
                    None => legend(&drawn.get()),
                }}
            </div>
        </figure>
    }
    .into_any()
}

fn open(chosen: RwSignal<Option<RunId>>, on_open: Callback<RunId>) {
    if let Some(id) = chosen.get_untracked() {
        on_open.run(id);
    }
}

/// How many bars there is room for.
fn places(count: usize) -> usize {
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
fn labels(scale: Scale) -> Vec<AnyView> {
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
fn lines(scale: Scale) -> Vec<AnyView> {
    let line = |ms: f64| {
        let y = format!("{:.1}", GROUND - scale.share(ms) * TALLEST);
        view! { <line class="run-picture__line" x1="0" x2="100%" y1=y.clone() y2=y /> }.into_any()
    };
    scale.steps().map(line).collect()
}

/// The fills that tell outcomes apart without colour.
fn patterns() -> AnyView {
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

fn bars(runs: &[BaseRun], scale: Scale, filter: &RunFilter) -> Vec<AnyView> {
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
fn pointer(index: usize, count: usize) -> AnyView {
    let (x, width) = place(index, count);
    view! { <rect class="run-picture__pointer" x=format!("{x:.2}%") width=format!("{width:.2}%") y="0" height="100" /> }
        .into_any()
}

/// A run in words, without its time.
fn facts(run: &BaseRun) -> String {
    let took = run
        .duration_ms
        .map(|ms| format!(" after {}", duration(ms)))
        .unwrap_or_default();
    format!("{}{took}", status_word(run.status))
}

/// One run, below the picture.
fn told(run: &BaseRun) -> AnyView {
    let version = run.version.map(|version| format!("v{version}"));
    view! {
        <StatusDot status=run.status />
        <span class="run-picture__took">{run.duration_ms.map(duration)}</span>
        <RelativeTime at=run.run_start_at.as_millis() />
        <span>{trigger_word(run.trigger)}</span>
        <span>{version}</span>
        <span class="run-picture__error">{run.error.as_ref().map(|error| format!("{}: {}", error.name, error.message))}</span>
        <a class="run-picture__open" href=paths::run(run.id) tabindex="-1">"Open"</a>
    }
    .into_any()
}

/// What the shapes mean, for those that are in the picture.
fn legend(runs: &[BaseRun]) -> AnyView {
    let parts: Vec<AnyView> = RunStatus::ALL
        .into_iter()
        .filter_map(|status| {
            let count = runs.iter().filter(|run| run.status == status).count();
            (count > 0).then(|| {
                view! {
                    <span class="run-picture__key" title=plural(count as u64, "run", "runs")>
                        <StatusDot status />
                        " "
                        {count}
                    </span>
                }
                .into_any()
            })
        })
        .collect();
    parts.into_any()
}
