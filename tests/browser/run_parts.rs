//! The parts of a run: values, stacks, phases.

use hamlet_app::components::{
    phases::Phases,
    stack::{StackTrace, first_val_frame, module_hosts, val_frame},
    value_tree::ValueTree,
};
use hamlet_models::RunPhases;
use leptos::prelude::*;
use serde_json::{Value, json};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::harness::{Mounted, button, find, find_all, has_text, link, mount, press, query, tick, until};

fn tree(value: Value) -> (web_sys::HtmlElement, Mounted) {
    mount(move || view! { <ValueTree value label="The value" /> })
}

#[wasm_bindgen_test]
async fn what_is_folded_is_made_once_it_opens() {
    let (root, _mounted) = tree(json!({"city": "Berlin", "days": [{"high": 6.5, "note": null}]}));
    assert!(has_text(&root, "\"Berlin\""));
    assert!(has_text(&root, "days: [{2}]") && !has_text(&root, "6.5"));
    find_all(&root, "summary")[1].click();
    until("the days", || has_text(&root, "{ high: 6.5, note: null }")).await;
    find_all(&root, "summary")[2].click();
    until("the day", || has_text(&root, "high: 6.5\n")).await;
}

#[wasm_bindgen_test]
async fn the_arrow_keys_walk_through_a_value() {
    let (root, _mounted) = tree(json!({"a": [1], "b": [2]}));
    let lines = find_all(&root, "summary");
    let focused = || document().active_element();
    lines[0].focus().expect("to focus");
    press(&lines[0], "ArrowDown");
    assert_eq!(focused().as_ref(), Some(lines[1].as_ref()));
    press(&lines[1], "ArrowRight");
    until("it to open", || {
        lines[1]
            .parent_element()
            .is_some_and(|details| details.has_attribute("open"))
    })
    .await;
    press(&lines[1], "ArrowLeft");
    until("it to close", || {
        lines[1]
            .parent_element()
            .is_some_and(|details| !details.has_attribute("open"))
    })
    .await;
    press(&lines[1], "ArrowLeft");
    assert_eq!(
        focused().as_ref(),
        Some(lines[0].as_ref()),
        "left of a closed one is what holds it"
    );
}

#[wasm_bindgen_test]
async fn a_long_list_comes_in_groups_and_a_long_text_in_part() {
    let numbers: Vec<u32> = (0..250).collect();
    let (root, _mounted) = tree(json!(numbers));
    find(&root, "summary").click();
    until("groups", || has_text(&root, "200 … 249")).await;
    assert!(has_text(&root, "0 … 99") && !has_text(&root, "150:"));

    let (root, _mounted) = tree(json!("é".repeat(401)));
    assert!(has_text(&root, "…") && !root.inner_text().contains(&"é".repeat(401)));
    button(&root, "Show all 401 characters").click();
    tick().await;
    assert!(root.inner_text().contains(&"é".repeat(401)) && query(&root, "button").is_none());
}

#[wasm_bindgen_test]
async fn what_holds_nothing_does_not_fold() {
    for (value, text) in [
        (json!([]), "[]"),
        (json!({}), "{}"),
        (json!(null), "null"),
        (json!("<b>"), "\"<b>\""),
    ] {
        let (root, _mounted) = tree(value);
        assert_eq!(root.inner_text().trim(), text);
        assert!(query(&root, "summary").is_none() && query(&root, "b").is_none());
    }
}

const STACK: &str = "TypeError: x is not a function
    at inner (https://esm.town/v/grace/tools?v=4:88:12)
    at async default (https://esm.town/v/ada/hello:2:3)
    at dispatch (ext:deno_http/00_serve.ts:382:11)
    at https://example.com/v/ada/hello?v=1:1:1";

#[wasm_bindgen_test]
async fn frames_of_vals_lead_to_their_lines_and_others_nowhere() {
    let (root, _mounted) = mount(|| view! { <StackTrace stack=STACK version=Some(9) /> });
    let links: Vec<String> = find_all(&root, "a")
        .iter()
        .filter_map(|link| link.get_attribute("href"))
        .collect();
    assert_eq!(
        links,
        ["/v/grace/tools/versions/4#L88", "/v/ada/hello/versions/9#L2"]
    );
    assert_eq!(
        link(&root, "grace/tools v4:88:12").text_content().as_deref(),
        Some("grace/tools v4:88:12")
    );
    assert!(has_text(&root, "TypeError: x is not a function") && has_text(&root, "ext:deno_http"));
}

#[wasm_bindgen_test]
fn a_frame_is_read_or_left_alone() {
    let hosts = ["https://esm.town".to_owned()];
    let frame = first_val_frame(STACK, &hosts).expect("a frame");
    assert_eq!((frame.username.as_str(), frame.val.as_str()), ("grace", "tools"));
    assert_eq!((frame.version, frame.line, frame.column), (Some(4), 88, 12));
    for line in [
        "",
        "at f (https://esm.town/v/ada/hello:x:1)",
        "at f (https://esm.town/v/ada:1:1)",
        "at f (https://esm.town/v/ada/he-llo:1:1)",
        "at f (https://esm.town.evil.example/v/ada/hello:1:1)",
        "at f (https://esm.town/u/ada/hello:1:1)",
    ] {
        assert_eq!(val_frame(line, &hosts), None, "{line}");
    }
}

#[wasm_bindgen_test]
fn a_server_on_this_machine_has_two_names() {
    let port = leptos::prelude::window().location().port().expect("a port");
    let hosts = module_hosts();
    for host in [
        format!("http://localhost:{port}"),
        format!("http://127.0.0.1:{port}"),
    ] {
        let line = format!("    at f ({host}/v/ada/hello?v=3:2:1)");
        assert!(val_frame(&line, &hosts).is_some(), "{line}");
    }
}

#[wasm_bindgen_test]
fn phases_that_were_not_reached_are_not_shown() {
    let phases = RunPhases {
        waited_ms: Some(10.0),
        worker_ms: Some(30.0),
        ..RunPhases::default()
    };
    let (root, _mounted) = mount(move || view! { <Phases phases /> });
    assert!(has_text(&root, "Waited") && has_text(&root, "30 ms"));
    assert!(!has_text(&root, "Ran") && !has_text(&root, "Module loaded"));
    let bars = find_all(&root, ".phases__bar");
    let style = bars[1].get_attribute("style").expect("a style");
    assert!(style.contains("25%") && style.contains("75%"), "{style}");
}

#[wasm_bindgen_test]
fn a_run_that_took_no_time_has_phases_all_the_same() {
    let phases = RunPhases {
        waited_ms: Some(0.0),
        ..RunPhases::default()
    };
    let (root, _mounted) = mount(move || view! { <Phases phases /> });
    let style = find(&root, ".phases__bar")
        .get_attribute("style")
        .expect("a style");
    assert!(!style.contains("NaN"), "{style}");
}
