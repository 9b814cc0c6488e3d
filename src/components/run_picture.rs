//! The latest runs as a picture: a bar a run, and what it adds up to in words.

mod plot;
mod scale;
mod summary;

use std::sync::Arc;

use hamlet_models::{BaseRun, RunFilter, RunId, RunStatus};
use leptos::{
    ev::{KeyboardEvent, MouseEvent, PointerEvent},
    html,
    prelude::*,
};

use self::{
    plot::{bars, labels, lines, patterns, places, pointer},
    scale::Scale,
    summary::Summary,
};
use crate::{
    components::{
        labels::trigger_word,
        status_dot::{StatusDot, status_word},
    },
    paths,
    ui::{
        number::plural,
        part::part,
        time::{RelativeTime, duration, relative},
    },
};

/// How many runs the picture has room for.
pub const PICTURE_RUNS: usize = 200;
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
            <figcaption class="run-picture__summary">{part(summary)}</figcaption>
            <div class="run-picture__frame">
                {part(move || labels(scale.get()))}
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
                        {part(move || lines(scale.get()))}
                        {part(move || {
                            let (scale, filter) = (scale.get(), filter.get());
                            drawn.with(|runs| bars(runs, scale, &filter))
                        })}
                        {part(move || position().map(|index| pointer(index, drawn.with(Vec::len))))}
                    </svg>
                </div>
            </div>
            <div class="run-picture__told">
                {part(move || match position().and_then(|index| drawn.with(|runs| runs.get(index).cloned())) {
                    Some(run) => told(&run),
                    None => legend(&drawn.get()),
                })}
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
