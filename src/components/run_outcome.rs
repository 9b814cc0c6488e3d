//! What became of a run: a sentence, what it returned, answered or threw, and what it printed.

use std::sync::Arc;

use hamlet_models::{FullRun, LogLine, RunError, RunStatus};
use leptos::prelude::*;

use crate::{
    components::{
        http_answer::HttpAnswer,
        log_view::LogView,
        stack::{StackTrace, ValFrame, first_val_frame, module_hosts},
        status_dot::StatusDot,
        value_tree::ValueTree,
    },
    ui::time::duration,
};

/// What became of a run, as a sentence: `Failed after 132 ms: TypeError: x is not a function, line 12 of version 9`.
pub fn headline(run: &FullRun) -> String {
    let after = run
        .duration_ms
        .map(|ms| format!(" after {}", duration(ms)))
        .unwrap_or_default();
    let what = match run.status {
        RunStatus::Queued => return "Waiting for a place".to_owned(),
        RunStatus::Running => return "Running".to_owned(),
        RunStatus::Ok => match run.request.as_ref().and_then(|request| request.status) {
            Some(status) => return format!("Answered {status}{after}"),
            None => return format!("Done{after}"),
        },
        RunStatus::Error => "Failed",
        RunStatus::Timeout => "Timed out",
        RunStatus::OutOfMemory => "Ran out of memory",
        RunStatus::Cancelled => "Cancelled",
        RunStatus::Lost => "Lost",
    };
    let why = run
        .error
        .as_ref()
        .map(|error| match run.status {
            RunStatus::Error => format!(": {}", thrown(error)),
            // What ended it is said already.
            _ => format!(": {}", error.message),
        })
        .unwrap_or_default();
    let place = match (own_frame(run), run.version) {
        (Some(frame), Some(version)) => format!(", line {} of version {version}", frame.line),
        (Some(frame), None) => format!(", line {}", frame.line),
        (None, _) => String::new(),
    };
    format!("{what}{after}{why}{place}")
}

/// What was thrown, as one text: `TypeError: x is not a function`.
pub fn thrown(error: &RunError) -> String {
    match (error.name.as_str(), error.message.as_str()) {
        (name, "") => name.to_owned(),
        ("", message) => message.to_owned(),
        (name, message) => format!("{name}: {message}"),
    }
}

/// What a run threw, if there is more to it than its sentence says.
pub fn untold(run: &FullRun) -> Option<&RunError> {
    let error = run.error.as_ref()?;
    let stack = error.stack.trim();
    let more = run.status == RunStatus::Error || !(stack.is_empty() || stack == thrown(error));
    more.then_some(error)
}

/// Where in its own val a run failed, if that is known.
pub fn own_frame(run: &FullRun) -> Option<ValFrame> {
    let hosts = module_hosts();
    let (author, name) = (run.author.as_ref()?, run.name.as_ref()?);
    let is_own =
        |frame: &ValFrame| frame.username.key() == author.username.key() && frame.val.key() == name.key();
    let stack = &run.error.as_ref()?.stack;
    // The innermost frame may lie in a val that this one imports.
    stack
        .lines()
        .find_map(|line| first_val_frame(line, &hosts).filter(is_own))
}

/// Everything about a run: its sentence, which a screen reader hears when it ends, its result, and its logs as they
/// come.
#[component]
pub fn RunOutcome(
    /// The run as it is now.
    #[prop(into)]
    run: Signal<FullRun>,
    /// Called when someone wants to see the line where it failed; without it there is only the stack's links.
    #[prop(optional, into)]
    on_frame: Option<Callback<ValFrame>>,
) -> AnyView {
    let status = Memo::new(move |_| run.with(|run| run.status));
    let sentence = Memo::new(move |_| run.with(headline));
    let over = Memo::new(move |_| status.get().is_over());
    let frame = Memo::new(move |_| run.with(own_frame));
    let jump = move || {
        let (on_frame, frame) = (on_frame?, frame.get()?);
        let label = format!("Show line {}", frame.line);
        Some(
            view! {
                <button type="button" class="run-outcome__jump" on:click=move |_| on_frame.run(frame.clone())>
                    {label}
                </button>
            }
            .into_any(),
        )
    };
    view! {
        <section class="run-outcome" aria-label="Outcome">
            <div class="run-outcome__head">
                {move || view! { <StatusDot status=status.get() /> }}
                <p class="run-outcome__sentence" role="status">{sentence}</p>
                {jump}
            </div>
            {move || over.get().then(|| view! { <RunResult run=run.get_untracked() /> })}
            <RunLogs run />
        </section>
    }
    .into_any()
}

/// What a run that is over returned, answered or threw.
#[component]
pub fn RunResult(
    /// The run.
    run: FullRun,
) -> AnyView {
    let mut parts: Vec<AnyView> = Vec::new();
    if let Some(error) = untold(&run).cloned() {
        parts.push(view! { <Thrown error version=run.run.version cut=run.truncated.error /> }.into_any());
    }
    if let Some(response) = run.response {
        parts.push(view! { <HttpAnswer response cut=run.truncated.response /> }.into_any());
    }
    if let Some(value) = run.return_value {
        let cut = run
            .truncated
            .return_value
            .then_some("The value was too large: this is the beginning of its text.");
        parts.push(
            view! {
                <div class="run-outcome__value">
                    <h2 class="run-outcome__label">"Returned"</h2>
                    {cut.map(|cut| view! { <p class="run-outcome__cut">{cut}</p> }.into_any())}
                    <ValueTree value label="What it returned" />
                </div>
            }
            .into_any(),
        );
    }
    view! { <div class="run-outcome__result">{parts}</div> }.into_any()
}

#[component]
fn Thrown(error: RunError, version: Option<u32>, cut: bool) -> AnyView {
    // A stack begins with what was thrown.
    let shown = if error.stack.trim().is_empty() {
        view! { <p class="run-outcome__thrown">{thrown(&error)}</p> }.into_any()
    } else {
        view! { <StackTrace stack=error.stack version /> }.into_any()
    };
    let cut = cut
        .then(|| view! { <p class="run-outcome__cut">"The error was too long: this is its beginning."</p> });
    view! {
        <div class="run-outcome__error">
            {cut}
            {shown}
        </div>
    }
    .into_any()
}

#[component]
fn RunLogs(run: Signal<FullRun>) -> AnyView {
    let lines = Memo::new(move |before: Option<&Arc<Vec<LogLine>>>| {
        run.with(|run| match before {
            // Lines are only ever added to the same run.
            Some(before) if before.len() == run.logs.len() && before.first() == run.logs.first() => {
                Arc::clone(before)
            }
            _ => Arc::new(run.logs.clone()),
        })
    });
    let started_at = Memo::new(move |_| run.with(|run| run.run_start_at));
    let live = Memo::new(move |_| run.with(|run| !run.status.is_over()));
    let truncated = Memo::new(move |_| run.with(|run| run.truncated.logs));
    view! { <LogView lines started_at live truncated /> }.into_any()
}
