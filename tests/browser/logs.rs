//! What a run printed.

use std::sync::Arc;

use hamlet_app::components::log_view::LogView;
use hamlet_models::{LogLevel, LogLine, LogStream, Timestamp};
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::harness::{Mounted, button, find, find_all, has_text, mount, query, tick, until, write};

const START: i64 = 1_769_860_800_000;

fn line(after_ms: i64, level: LogLevel, message: &str) -> LogLine {
    LogLine {
        time: Timestamp::from_millis(START + after_ms),
        level,
        message: message.to_owned(),
        stream: LogStream::Console,
    }
}

fn shown(lines: RwSignal<Arc<Vec<LogLine>>>, live: bool, truncated: bool) -> (web_sys::HtmlElement, Mounted) {
    mount(move || {
        let started_at = Signal::stored(Timestamp::from_millis(START));
        view! { <LogView lines started_at live=Signal::stored(live) truncated=Signal::stored(truncated) /> }
    })
}

fn of_each_level() -> RwSignal<Arc<Vec<LogLine>>> {
    RwSignal::new(Arc::new(vec![
        line(2, LogLevel::Debug, "cache miss"),
        line(62_003, LogLevel::Info, "Forecast for Berlin"),
        line(62_004, LogLevel::Warn, "slow station"),
        line(62_005, LogLevel::Error, "no answer"),
    ]))
}

#[wasm_bindgen_test]
async fn each_line_has_its_level_and_the_time_since_the_run_began() {
    let (root, _mounted) = shown(of_each_level(), false, false);
    let rows: Vec<String> = find_all(&root, ".log__row")
        .iter()
        .map(|row| row.inner_text())
        .collect();
    assert_eq!(rows.len(), 4);
    assert!(rows[0].contains("+0.002") && rows[0].contains("debug") && rows[0].contains("cache miss"));
    assert!(rows[1].contains("+1:02.003"), "{}", rows[1]);
    assert!(has_text(&root, "4 lines"));
    assert!(!has_text(&root, "not kept"), "nothing was cut");
}

#[wasm_bindgen_test]
async fn a_level_hides_what_is_quieter() {
    let (root, _mounted) = shown(of_each_level(), false, false);
    button(&root, "Warnings2").click();
    tick().await;
    let rows = find_all(&root, ".log__row");
    assert_eq!(rows.len(), 2);
    assert!(has_text(&root, "slow station") && has_text(&root, "no answer"));
    assert!(!has_text(&root, "cache miss") && !has_text(&root, "Forecast"));
    assert!(has_text(&root, "2 of 4 lines"));
    assert_eq!(
        button(&root, "Warnings2")
            .get_attribute("aria-pressed")
            .as_deref(),
        Some("true")
    );
    assert_eq!(
        button(&root, "All4").get_attribute("aria-pressed").as_deref(),
        Some("false")
    );
}

#[wasm_bindgen_test]
async fn a_search_marks_what_it_finds_in_any_case() {
    let (root, _mounted) = shown(of_each_level(), false, false);
    write(&find(&root, "input[type=search]"), "berlin");
    tick().await;
    assert_eq!(find_all(&root, ".log__row").len(), 1);
    assert_eq!(find(&root, "mark").inner_text(), "Berlin");
    write(&find(&root, "input[type=search]"), "Hamburg");
    tick().await;
    assert!(has_text(&root, "No line matches.") && query(&root, ".log__row").is_none());
}

#[wasm_bindgen_test]
async fn a_run_that_printed_nothing_says_so() {
    let (root, _mounted) = shown(RwSignal::default(), false, false);
    assert!(has_text(&root, "Nothing was printed."));
    let (root, _mounted) = shown(RwSignal::default(), true, false);
    assert!(has_text(&root, "Nothing printed yet."));
}

#[wasm_bindgen_test]
async fn a_log_that_was_cut_says_so() {
    let (root, _mounted) = shown(of_each_level(), false, true);
    assert!(has_text(&root, "Lines after these were not kept"));
}

#[wasm_bindgen_test]
async fn lines_of_a_long_log_are_made_as_the_reader_comes_near() {
    let lines: Vec<LogLine> = (0..10_000)
        .map(|n| line(n, LogLevel::Info, &format!("line {n}")))
        .collect();
    let (root, _mounted) = shown(RwSignal::new(Arc::new(lines)), false, false);
    let scroller = find(&root, ".log__lines");
    scroller
        .set_attribute("style", "height: 200px; overflow: auto; position: relative")
        .expect("a style");
    tick().await;
    assert!(has_text(&root, "10,000 lines"));
    assert!(
        find_all(&root, ".log__row").len() < 1_000,
        "all of it was made at once"
    );
    assert!(!has_text(&root, "line 9999"));

    scroller.set_scroll_top(scroller.scroll_height());
    until("the last line", || has_text(&root, "line 9999")).await;
    assert!(
        find_all(&root, ".log__row").len() < 2_000,
        "what lies between was made too"
    );
}

#[wasm_bindgen_test]
async fn lines_that_come_leave_the_others_where_they_are() {
    let lines = RwSignal::new(Arc::new(
        (0..150)
            .map(|n| line(n, LogLevel::Info, &format!("line {n}")))
            .collect::<Vec<_>>(),
    ));
    let (root, _mounted) = shown(lines, true, false);
    until("the second part", || has_text(&root, "line 149")).await;
    let first = find(&root, ".log__row");
    lines.update(|lines| Arc::make_mut(lines).push(line(151, LogLevel::Error, "the end")));
    until("the new line", || has_text(&root, "the end")).await;
    assert!(first.is_connected(), "the first line was made again");
    assert_eq!(find_all(&root, ".log__row").len(), 151);
}
