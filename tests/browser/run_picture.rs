//! The picture of the latest runs, and the filters below it.

use std::sync::Arc;

use hamlet_app::components::{
    run_filters::{Changes, Period, RunFilters, RunsQuery, StatusChoice},
    run_picture::RunPicture,
};
use hamlet_models::{BaseRun, RunFilter, RunId, RunStatus, Timestamp, Trigger};
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{
    fixtures::{id, run},
    harness::{Mounted, button, find, find_all, has_text, link, mount, press, query, tick},
};

fn timed(number: u32, status: RunStatus, ms: f64) -> BaseRun {
    BaseRun {
        duration_ms: Some(ms),
        ..run(number, "hello", status)
    }
}

fn picture(runs: Vec<BaseRun>, filter: RunFilter) -> (web_sys::HtmlElement, Mounted, RwSignal<Vec<RunId>>) {
    let opened = RwSignal::new(Vec::new());
    let (root, mounted) = mount(move || {
        let on_open = Callback::new(move |run: RunId| opened.update(|opened| opened.push(run)));
        view! { <RunPicture runs=Signal::stored(Arc::new(runs)) filter=Signal::stored(filter) on_open /> }
    });
    (root, mounted, opened)
}

#[wasm_bindgen_test]
async fn the_summary_adds_up_what_the_bars_show() {
    let mut runs: Vec<BaseRun> = (1..=19)
        .map(|n| timed(n, RunStatus::Ok, f64::from(n) * 10.0))
        .collect();
    runs.push(timed(20, RunStatus::Error, 5_000.0));
    let (root, _mounted, _) = picture(runs, RunFilter::default());
    let summary = find(&root, "figcaption").inner_text();
    for part in ["20 runs", "since", "p50 100 ms", "p95 190 ms", "1 failed (5 %)"] {
        assert!(summary.contains(part), "no {part} in {summary}");
    }
    assert_eq!(find_all(&root, ".run-picture__bar").len(), 20);
}

#[wasm_bindgen_test]
async fn what_did_not_end_well_has_a_mark_of_its_own() {
    let runs = [
        RunStatus::Ok,
        RunStatus::Error,
        RunStatus::Timeout,
        RunStatus::Cancelled,
        RunStatus::Running,
    ];
    let runs = runs
        .into_iter()
        .zip(1..)
        .map(|(status, n)| timed(n, status, 10.0))
        .collect();
    let (root, _mounted, _) = picture(runs, RunFilter::default());
    assert!(query(&root, ".run-picture__bar--ok .run-picture__mark").is_none());
    let mut shapes: Vec<String> = find_all(&root, ".run-picture__mark")
        .iter()
        .filter_map(|mark| mark.get_attribute("d"))
        .collect();
    shapes.sort();
    shapes.dedup();
    assert_eq!(shapes.len(), 4, "each in another shape");
    for word in ["ok", "failed", "timed out", "cancelled", "running"] {
        assert!(has_text(&root, word), "the legend has no {word}");
    }
    assert!(!has_text(&root, "lost"), "the legend has what is not there");
}

#[wasm_bindgen_test]
async fn the_arrow_keys_choose_a_run_and_enter_opens_it() {
    let runs = vec![
        timed(3, RunStatus::Ok, 12.0),
        timed(2, RunStatus::Error, 132.0),
        timed(1, RunStatus::Ok, 9.0),
    ];
    let (root, _mounted, opened) = picture(runs, RunFilter::default());
    let plot = find(&root, "[role=slider]");
    assert_eq!(plot.get_attribute("aria-valuemax").as_deref(), Some("3"));
    plot.focus().expect("to focus");
    tick().await;
    assert!(
        plot.get_attribute("aria-valuetext")
            .is_some_and(|text| text.starts_with("ok after 12 ms"))
    );
    press(&plot, "ArrowLeft");
    tick().await;
    assert_eq!(plot.get_attribute("aria-valuenow").as_deref(), Some("2"));
    assert!(
        plot.get_attribute("aria-valuetext")
            .is_some_and(|text| text.starts_with("failed after 132 ms"))
    );
    assert!(has_text(&root, "TypeError: x is not a function"));
    press(&plot, "Enter");
    assert_eq!(opened.get_untracked(), [id::<RunId>(2)]);
    press(&plot, "Home");
    press(&plot, "ArrowLeft");
    tick().await;
    assert_eq!(
        plot.get_attribute("aria-valuenow").as_deref(),
        Some("1"),
        "the first is the end"
    );
}

#[wasm_bindgen_test]
async fn runs_that_the_list_leaves_out_stand_back() {
    let runs = vec![timed(2, RunStatus::Error, 132.0), timed(1, RunStatus::Ok, 9.0)];
    let (root, _mounted, _) = picture(
        runs,
        RunFilter {
            error: Some(true),
            ..RunFilter::default()
        },
    );
    assert!(query(&root, ".run-picture__bar--ok.run-picture__bar--back").is_some());
    assert!(query(&root, ".run-picture__bar--error.run-picture__bar--back").is_none());
}

#[wasm_bindgen_test]
async fn no_more_than_two_hundred_runs_are_drawn() {
    let runs = (0..230).map(|n| timed(n, RunStatus::Ok, 10.0)).collect();
    let (root, _mounted, _) = picture(runs, RunFilter::default());
    assert_eq!(find_all(&root, ".run-picture__bar").len(), 200);
    assert!(has_text(&root, "200 runs"));
}

fn query_of(pairs: &[(&str, &str)]) -> RunsQuery {
    RunsQuery::read(|name| {
        pairs
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    })
}

#[wasm_bindgen_test]
fn an_address_says_which_runs_are_asked_for() {
    let query = query_of(&[
        ("status", "failed"),
        ("trigger", "http"),
        ("version", "3"),
        ("last", "hour"),
    ]);
    let filter = query.filter(3_600_000 + 7);
    assert_eq!((filter.status, filter.error), (None, Some(true)));
    assert_eq!((filter.trigger, filter.version), (Some(Trigger::Http), Some(3)));
    assert_eq!(
        (filter.since, filter.until),
        (Some(Timestamp::from_millis(7)), None)
    );
    let query = query_of(&[("status", "out_of_memory"), ("until", "2026-01-31T12:00:00.000Z")]);
    assert_eq!(query.status, Some(StatusChoice::Is(RunStatus::OutOfMemory)));
    assert!(matches!(
        query.period,
        Some(Period::Between {
            since: None,
            until: Some(_)
        })
    ));
}

#[wasm_bindgen_test]
fn what_an_address_says_wrongly_is_left_out() {
    let query = query_of(&[
        ("status", "brilliant"),
        ("trigger", "x"),
        ("version", "-1"),
        ("last", "century"),
        ("since", "1"),
    ]);
    assert_eq!(query, RunsQuery::default());
    assert_eq!(query.filter(0), RunFilter::default());
}

#[wasm_bindgen_test]
async fn each_choice_of_a_filter_is_an_address() {
    let (root, _mounted) = mount(|| {
        let query = Signal::stored(query_of(&[("status", "failed")]));
        let href = Callback::new(|(changes,): (Changes,)| {
            let changes: Vec<String> = changes
                .into_iter()
                .map(|(name, value)| format!("{name}={}", value.unwrap_or_default()))
                .collect();
            format!("?{}", changes.join("&"))
        });
        view! { <RunFilters query latest=9 href on_go=Callback::new(|_| ()) /> }
    });
    assert_eq!(
        button(&root, "Status: not ok")
            .get_attribute("aria-expanded")
            .as_deref(),
        Some("false")
    );
    button(&root, "Status: not ok").click();
    tick().await;
    assert_eq!(
        link(&root, "timed out").get_attribute("href").as_deref(),
        Some("?status=timeout")
    );
    assert_eq!(
        link(&root, "not ok").get_attribute("aria-current").as_deref(),
        Some("true")
    );
    assert_eq!(link(&root, "timed out").get_attribute("aria-current"), None);
    assert_eq!(
        link(&root, "v9, latest").get_attribute("href").as_deref(),
        Some("?version=9")
    );
    assert_eq!(
        link(&root, "Last day").get_attribute("href").as_deref(),
        Some("?last=day&since=&until=")
    );
    assert!(
        link(&root, "Clear filters")
            .get_attribute("href")
            .is_some_and(|href| href.contains("status=&"))
    );
    assert!(
        find_all(&root, "a")
            .iter()
            .all(|link| link.text_content().as_deref() != Some("eval"))
    );
}
