//! What a run printed: filtered, searched, copied, and quick also with ten thousand lines.

mod filter;
mod lines;

pub use filter::LogFilter;

use std::sync::Arc;

use hamlet_models::{LogLevel, LogLine, Timestamp};
use leptos::prelude::*;

use self::lines::log_lines;
use crate::{
    hooks::storage,
    ui::{copy::CopyButton, number, part::part},
};

/// Where it is remembered that lines are not to be wrapped.
const WRAP_KEY: &str = "hamlet.logs.wrap";

/// Shows what a run printed, each line with the time since the run began.
#[component]
pub fn LogView(
    /// Every line so far, in order; lines are only ever added.
    #[prop(into)]
    lines: Signal<Arc<Vec<LogLine>>>,
    /// When the run began.
    #[prop(into)]
    started_at: Signal<Timestamp>,
    /// Whether more lines may come: the newest is kept in sight for a reader who is at the end.
    #[prop(into)]
    live: Signal<bool>,
    /// Whether lines are missing at the end.
    #[prop(into, optional)]
    truncated: Signal<bool>,
    /// What is shown of the lines; given by who keeps it in the address.
    #[prop(optional)]
    filter: Option<RwSignal<LogFilter>>,
    /// What a screen reader calls it, where there are several.
    #[prop(default = "Logs")]
    label: &'static str,
) -> AnyView {
    let filter = filter.unwrap_or_else(|| RwSignal::new(LogFilter::default()));
    let wrap = RwSignal::new(storage::get(WRAP_KEY).as_deref() != Some("no"));
    let shown = Memo::new(move |_| filter.with(|filter| lines.with(|lines| filter.matching(lines))));
    let copied = Signal::derive(move || {
        let shown = shown.get();
        lines.with(|lines| {
            let printed = shown.iter().filter_map(|&index| lines.get(index as usize));
            printed
                .map(|line| format!("{}\n", line.message))
                .collect::<String>()
        })
    });
    let nothing = move || {
        let text = match (lines.with(|lines| lines.is_empty()), live.get()) {
            (true, true) => "Nothing printed yet.",
            (true, false) => "Nothing was printed.",
            _ if shown.with(|shown| shown.is_empty()) => "No line matches.",
            _ => return None,
        };
        Some(view! { <p class="log__nothing">{text}</p> }.into_any())
    };
    view! {
        <section class="log" class:log--nowrap=move || !wrap.get() aria-label=label>
            <div class="log__bar">
                <LevelPicker filter lines />
                <input
                    class="log__search"
                    type="search"
                    placeholder="Search logs"
                    aria-label="Search logs"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=move || filter.with(|filter| filter.search.clone())
                    on:input:target=move |event| {
                        filter.update(|filter| filter.search = event.target().value());
                    }
                />
                <div class="log__end">
                    <span class="log__count">{part(move || count(lines.with(|lines| lines.len()), shown.with(|s| s.len())))}</span>
                    <label class="log__wrap">
                        <input
                            type="checkbox"
                            prop:checked=wrap
                            on:change:target=move |event| {
                                wrap.set(event.target().checked());
                                storage::set(WRAP_KEY, (!event.target().checked()).then_some("no"));
                            }
                        />
                        "Wrap"
                    </label>
                    <CopyButton text=copied what="logs" />
                </div>
            </div>
            {part(nothing)}
            {log_lines(lines, shown, filter, started_at, live)}
            {part(move || {
                truncated
                    .get()
                    .then(|| {
                        view! {
                            <p class="log__cut">
                                "Lines after these were not kept: the run printed more than this instance keeps."
                            </p>
                        }
                            .into_any()
                    })
            })}
        </section>
    }
    .into_any()
}

/// How many lines there are, and how many of them are shown.
fn count(all: usize, shown: usize) -> String {
    let lines = number::plural(all as u64, "line", "lines");
    match all {
        0 => String::new(),
        _ if all == shown => lines,
        _ => format!("{} of {lines}", number::count(shown as u64)),
    }
}

/// Chooses from which level on lines are shown.
#[component]
fn LevelPicker(filter: RwSignal<LogFilter>, lines: Signal<Arc<Vec<LogLine>>>) -> AnyView {
    let buttons: Vec<AnyView> = [
        (LogLevel::Debug, "All"),
        (LogLevel::Info, "Info"),
        (LogLevel::Warn, "Warnings"),
        (LogLevel::Error, "Errors"),
    ]
    .into_iter()
    .map(|(level, label)| {
        let pressed = move || filter.with(|filter| filter.level == level).to_string();
        let number = move || lines.with(|lines| filter::count_from(lines, level));
        let hint = match level {
            LogLevel::Debug => "Every line",
            LogLevel::Info => "Info, warnings and errors",
            LogLevel::Warn => "Warnings and errors",
            LogLevel::Error => "Errors only",
        };
        view! {
            <button
                class="log__level"
                type="button"
                title=hint
                aria-pressed=pressed
                on:click=move |_| filter.update(|filter| filter.level = level)
            >
                {label}
                <span class="log__number">{part(move || number::count(number() as u64))}</span>
            </button>
        }
        .into_any()
    })
    .collect();
    view! { <div class="log__levels" role="group" aria-label="Level">{buttons}</div> }.into_any()
}
