//! A JSON value as a tree that folds.

use leptos::{ev::KeyboardEvent, prelude::*};
use serde_json::Value;
use web_sys::{Element, Event, HtmlElement, wasm_bindgen::JsCast};

use crate::ui::{number, part::part};

/// A level with more entries than this is shown in groups of as many.
const GROUP: usize = 100;
/// A text longer than this is shown in part until all of it is asked for.
const LONG_TEXT_CHARS: usize = 400;
/// How much of a folded value its line tells.
const PREVIEW_CHARS: usize = 60;
/// The outermost level is open from the start if it has no more entries than this.
const OPEN_ENTRIES: usize = 30;

/// Shows a JSON value: lists and objects fold, and their entries are made when they are first opened.
///
/// The arrow keys move between the lines that fold: up and down, right opens, left closes or goes out.
#[component]
pub fn ValueTree(
    /// What to show; it never changes.
    value: Value,
    /// What a screen reader calls it.
    #[prop(into)]
    label: String,
) -> AnyView {
    let open = entries_of(&value).is_some_and(|count| count <= OPEN_ENTRIES);
    view! {
        <div class="value-tree" role="group" aria-label=label on:keydown=move_focus>
            {node(None, value, open)}
        </div>
    }
    .into_any()
}

/// How many entries a list or an object has.
fn entries_of(value: &Value) -> Option<usize> {
    match value {
        Value::Array(items) => Some(items.len()),
        Value::Object(fields) => Some(fields.len()),
        _ => None,
    }
}

/// One line, and under it what it holds.
fn node(key: Option<String>, value: Value, open: bool) -> AnyView {
    if entries_of(&value).is_none_or(|count| count == 0) {
        return view! { <div class="value-tree__leaf">{key_view(key)} " " {leaf(value)}</div> }.into_any();
    }
    let preview = preview(&value);
    branch(key, preview, open, move || {
        let entries = entries(value.clone());
        if entries.len() <= GROUP {
            return nodes(entries);
        }
        entries
            .chunks(GROUP)
            .enumerate()
            .map(|(index, group)| {
                let first = index * GROUP;
                let label = format!("{first} … {}", first + group.len() - 1);
                let group = group.to_vec();
                branch(None, label, false, move || nodes(group.clone()))
            })
            .collect()
    })
}

/// A line that folds; `children` are made each time that it opens.
fn branch(
    key: Option<String>,
    preview: String,
    open: bool,
    children: impl Fn() -> Vec<AnyView> + Send + 'static,
) -> AnyView {
    let children: Box<dyn Fn() -> Vec<AnyView> + Send> = Box::new(children);
    let is_open = RwSignal::new(open);
    let toggled = move |event: Event| {
        let details = event
            .target()
            .and_then(|target| target.dyn_into::<Element>().ok());
        let open = details.is_some_and(|details| details.has_attribute("open"));
        // A line that is there from the start tells of it too, and must not be made again for that.
        if is_open.get_untracked() != open {
            is_open.set(open);
        }
    };
    view! {
        <details class="value-tree__branch" open=open on:toggle=toggled>
            <summary class="value-tree__line">
                {key_view(key)} " " <span class="value-tree__preview">{preview}</span>
            </summary>
            <div class="value-tree__entries">{part(move || is_open.get().then(&children))}</div>
        </details>
    }
    .into_any()
}

fn nodes(entries: Vec<(String, Value)>) -> Vec<AnyView> {
    entries
        .into_iter()
        .map(|(key, value)| node(Some(key), value, false))
        .collect()
}

fn entries(value: Value) -> Vec<(String, Value)> {
    match value {
        Value::Array(items) => items
            .into_iter()
            .enumerate()
            .map(|(index, item)| (index.to_string(), item))
            .collect(),
        Value::Object(fields) => fields.into_iter().collect(),
        _ => Vec::new(),
    }
}

fn key_view(key: Option<String>) -> Option<AnyView> {
    key.map(|key| view! { <span class="value-tree__key">{key}":"</span> }.into_any())
}

/// A value that doesn't fold.
fn leaf(value: Value) -> AnyView {
    let (kind, text) = match value {
        Value::String(text) if text.chars().nth(LONG_TEXT_CHARS).is_some() => return long_text(text),
        Value::String(text) => ("value-tree__text", quoted(&text)),
        Value::Number(number) => ("value-tree__number", number.to_string()),
        Value::Bool(yes) => ("value-tree__word", yes.to_string()),
        Value::Null => ("value-tree__word", "null".to_owned()),
        Value::Array(_) => ("value-tree__preview", "[]".to_owned()),
        Value::Object(_) => ("value-tree__preview", "{}".to_owned()),
    };
    view! { <span class=kind>{text}</span> }.into_any()
}

fn long_text(text: String) -> AnyView {
    let whole = RwSignal::new(false);
    let count = text.chars().count();
    let start: String = text.chars().take(LONG_TEXT_CHARS).collect();
    let shown = move || {
        if whole.get() {
            quoted(&text)
        } else {
            format!("{}…", quoted(&start))
        }
    };
    let more = move || {
        (!whole.get()).then(|| {
            view! {
                <button class="value-tree__more" type="button" on:click=move |_| whole.set(true)>
                    "Show all " {number::count(count as u64)} " characters"
                </button>
            }
        })
    };
    view! {
        <span class="value-tree__text">{part(shown)}</span>
        {part(more)}
    }
    .into_any()
}

/// A text in quotes, its line breaks kept as they are.
fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// What a folded list or object holds, in a line.
fn preview(value: &Value) -> String {
    let (mut line, end, count) = match value {
        Value::Array(items) => (String::from("["), "]", items.len()),
        Value::Object(fields) => (String::from("{ "), " }", fields.len()),
        other => return short(other),
    };
    let parts: Box<dyn Iterator<Item = String>> = match value {
        Value::Object(fields) => Box::new(
            fields
                .iter()
                .map(|(key, value)| format!("{key}: {}", short(value))),
        ),
        Value::Array(items) => Box::new(items.iter().map(short)),
        _ => Box::new(std::iter::empty()),
    };
    for (index, part) in parts.enumerate() {
        if line.chars().count() + part.chars().count() > PREVIEW_CHARS {
            let rest = count - index;
            line.push_str(&format!("{}… {rest} more", if index == 0 { "" } else { ", " }));
            break;
        }
        if index > 0 {
            line.push_str(", ");
        }
        line.push_str(&part);
    }
    line.push_str(end);
    line
}

/// A value within a preview: its kind and size where it would be long.
fn short(value: &Value) -> String {
    match value {
        Value::String(text) if text.chars().count() > 24 => {
            let start: String = text.chars().take(24).collect();
            format!("\"{start}…\"")
        }
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.len()),
        Value::Object(fields) => format!("{{{}}}", fields.len()),
        plain => plain.to_string(),
    }
}

/// Moves the focus between the lines that fold.
fn move_focus(event: KeyboardEvent) {
    let key = event.key();
    if !matches!(key.as_str(), "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight") {
        return;
    }
    let root = event
        .current_target()
        .and_then(|target| target.dyn_into::<Element>().ok());
    let line = event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok());
    let (Some(root), Some(line)) = (root, line) else {
        return;
    };
    if line.tag_name() != "SUMMARY" {
        return;
    }
    event.prevent_default();
    let is_open = line
        .parent_element()
        .is_some_and(|details| details.has_attribute("open"));
    let click = |line: &Element| {
        if let Some(line) = line.dyn_ref::<HtmlElement>() {
            line.click();
        }
    };
    match key.as_str() {
        "ArrowRight" if !is_open => click(&line),
        "ArrowLeft" if is_open => click(&line),
        "ArrowLeft" => {
            let outer = line
                .parent_element()
                .and_then(|details| details.parent_element())
                .and_then(|entries| entries.closest("details").ok().flatten())
                .and_then(|details| details.query_selector("summary").ok().flatten());
            focus(outer);
        }
        _ => {
            let Ok(lines) = root.query_selector_all("summary") else {
                return;
            };
            let here = (0..lines.length()).find(|&index| lines.get(index).is_some_and(|node| node == *line));
            let Some(here) = here else { return };
            let next = if key == "ArrowUp" {
                here.checked_sub(1)
            } else {
                Some(here + 1)
            };
            focus(
                next.and_then(|next| lines.get(next))
                    .and_then(|node| node.dyn_into().ok()),
            );
        }
    }
}

fn focus(line: Option<Element>) {
    if let Some(line) = line.and_then(|line| line.dyn_into::<HtmlElement>().ok()) {
        // An element that is gone can't be focused, and there is nothing to do about it.
        let _ = line.focus();
    }
}
