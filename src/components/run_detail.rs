//! One run with everything that was recorded of it.

use std::sync::Arc;

use hamlet_models::{FullRun, KeptRequest, LogLine, RunInput};
use leptos::prelude::*;

use crate::{
    components::{
        heading::PageHeading,
        http_answer::HttpMessage,
        labels::trigger_word,
        log_view::{LogFilter, LogView},
        phases::Phases,
        run_beside::RunBeside,
        run_outcome::{RunResult, headline, untold},
        status_dot::StatusDot,
        value_tree::ValueTree,
    },
    paths,
    ui::{
        number::bytes,
        part::part,
        time::{RelativeTime, duration, exact},
    },
};

/// The most characters of the sentence in the heading; all of an error stands below.
const HEADLINE_CHARS: usize = 280;

/// Shows one run, also while it goes on; a screen reader hears when it ends.
#[component]
pub fn RunDetail(
    /// The run as it is now.
    #[prop(into)]
    run: Signal<FullRun>,
    /// Which log lines are shown.
    log_filter: RwSignal<LogFilter>,
    /// An earlier run to show it beside, if there is one.
    #[prop(into)]
    earlier: Signal<Option<FullRun>>,
    /// What can be done with the run.
    children: Children,
) -> AnyView {
    let status = Memo::new(move |_| run.with(|run| run.status));
    let sentence = Memo::new(move |_| run.with(|run| shortened(&headline(run))));
    let title = Signal::derive(move || {
        let name = run.with(|run| run.name.as_ref().map(ToString::to_string));
        format!(
            "{} · {}",
            sentence.get(),
            name.unwrap_or_else(|| "evaluation".to_owned())
        )
    });
    let was_going_on = !status.get_untracked().is_over();
    // A run that had ended before anyone looked is told by the heading alone.
    let said = move || (was_going_on && status.get().is_over()).then(|| sentence.get());
    let over = Memo::new(move |_| status.get().is_over());
    let came_of_it = move || {
        match earlier.get() {
        Some(earlier) => view! { <RunBeside run earlier log_filter /> }.into_any(),
        None => view! {
            <div class="run__exchange" class:run__exchange--failed=move || run.with(|run| untold(run).is_some())>
                {part(move || over.get().then(|| view! { <RunEnd run=run.get_untracked() /> }))}
                <InputOf run />
            </div>
            <RunLogs run filter=log_filter />
        }
        .into_any(),
    }
    };
    view! {
        <article class="run" aria-busy=move || (!over.get()).to_string()>
            <header class="run__head">
                {part(move || run.with(origin))}
                <div class="run__title">
                    <PageHeading title>
                        <span aria-hidden="true">{part(move || view! { <StatusDot status=status.get() /> })}</span> <span class="run__sentence">{sentence}</span>
                    </PageHeading>
                    <div class="run__actions">{children()}</div>
                </div>
                <p class="visually-hidden" role="status">{part(said)}</p>
            </header>
            <div class="run__overview">
                <RunFacts run />
                <RunTime run />
            </div>
            {part(came_of_it)}
        </article>
    }
    .into_any()
}

/// The beginning of a sentence that is too long for a heading.
fn shortened(sentence: &str) -> String {
    let line = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(HEADLINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Whose val it is a run of, and the way back to the others.
fn origin(run: &FullRun) -> AnyView {
    let (Some(author), Some(name)) = (run.author.as_ref(), run.name.as_ref()) else {
        return view! { <p class="run__origin">"An evaluation: it belongs to no val"</p> }.into_any();
    };
    let (username, name) = (author.username.to_string(), name.to_string());
    view! {
        <nav class="run__origin" aria-label="Where this run belongs">
            <a href=paths::user(&username)>{username.clone()}</a>
            " / "
            <a href=paths::val(&username, &name)>{name.clone()}</a>
            " / "
            <a href=paths::runs(&username, &name)>"Runs"</a>
        </nav>
    }
    .into_any()
}

/// The facts: when, by what, which version, what it cost.
#[component]
fn RunFacts(run: Signal<FullRun>) -> AnyView {
    let facts = move || {
        run.with(|run| {
            let started = run.run_start_at.as_millis();
            let mut facts = vec![
                fact("Started", view! { <RelativeTime at=started /> " " <span class="run__exact">{exact(started)}</span> }.into_any()),
                fact("Trigger", trigger_word(run.trigger).into_any()),
            ];
            if let (Some(author), Some(name), Some(version)) = (&run.author, &run.name, run.version) {
                let href = paths::version(author.username.as_str(), name.as_str(), version);
                facts.push(fact("Version", view! { <a href=href>{format!("v{version}")}</a> }.into_any()));
            }
            if let Some(ms) = run.duration_ms {
                facts.push(fact("Took", duration(ms).into_any()));
            }
            if let Some(ms) = run.cpu_ms {
                facts.push(fact("CPU time", duration(ms).into_any()));
            }
            if let Some(size) = run.memory_bytes {
                facts.push(fact("Memory", bytes(size).into_any()));
            }
            if let Some(parent) = run.parent_id {
                facts.push(fact("Started by", view! { <a href=paths::run(parent)>"another run"</a> }.into_any()));
            }
            if let Some(earlier) = run.replay_of {
                let beside = paths::run_beside(run.id, earlier);
                facts.push(fact("Repeats", view! { <a href=paths::run(earlier)>"an earlier run"</a> " · " <a href=beside>"side by side"</a> }.into_any()));
            }
            facts.push(fact("Id", view! { <code class="run__id">{run.id.to_string()}</code> }.into_any()));
            facts
        })
    };
    view! {
        <section class="run__part" aria-label="Facts">
            <dl class="facts">{part(facts)}</dl>
        </section>
    }
    .into_any()
}

fn fact(name: &'static str, value: AnyView) -> AnyView {
    view! {
        <div class="facts__fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
        </div>
    }
    .into_any()
}

/// Where its time went.
#[component]
fn RunTime(run: Signal<FullRun>) -> AnyView {
    let phases = Memo::new(move |_| run.with(|run| run.phases));
    view! {
        <section class="run__part" aria-label="Time">
            <h2 class="run__label">"Where its time went"</h2>
            {part(move || view! { <Phases phases=phases.get() /> })}
        </section>
    }
    .into_any()
}

/// What it was given: the request, the message, the time, the arguments.
#[component]
fn InputOf(run: Signal<FullRun>) -> AnyView {
    // It may be large, and is known when the run begins, or all of it when it ends.
    let known = Memo::new(move |_| run.with(|run| (run.input.is_some(), run.truncated.input)));
    let parts = move || {
        known.track();
        run.with_untracked(given)
    };
    view! {
        <section class="run__part" aria-label="Input">
            <h2 class="run__label">"Input"</h2>
            {part(parts)}
        </section>
    }
    .into_any()
}

fn given(run: &FullRun) -> Vec<AnyView> {
    let cut = run.truncated.input;
    let mut parts: Vec<AnyView> = Vec::new();
    if let Some(request) = &run.request {
        let (method, url) = (request.method.clone(), request.url.clone());
        parts.push(view! { <p class="run__request"><b>{method}</b> " " <span>{url}</span></p> }.into_any());
    }
    match &run.input {
        Some(RunInput::Request(request)) => parts.push(asked(request.clone())),
        Some(RunInput::Email(message)) => {
            if cut {
                parts.push(note("The message was too large: this is a part of it."));
            }
            parts.push(view! { <ValueTree value=message.clone() label="The message" /> }.into_any());
        }
        Some(RunInput::LastRunAt(Some(last))) => {
            let told = format!("It was told that it last ran at {}.", exact(last.as_millis()));
            parts.push(view! { <p class="run__none">{told}</p> }.into_any());
        }
        Some(RunInput::LastRunAt(None)) => parts.push(note("It was told that it had never run before.")),
        None => {}
    }
    let args = run.args.as_ref();
    if let Some(args) = args.filter(|args| args.as_array().is_none_or(|list| !list.is_empty())) {
        if run.truncated.args {
            parts.push(note(
                "The arguments were too large: this is the beginning of their text.",
            ));
        }
        parts.push(view! { <ValueTree value=args.clone() label="The arguments" /> }.into_any());
    }
    if parts.is_empty() {
        parts.push(note("It was started without input."));
    }
    parts
}

fn asked(request: KeptRequest) -> AnyView {
    let cut = request.size > request.body.len() as u64;
    let message = HttpMessage {
        headers: request
            .headers
            .into_iter()
            .map(|(name, value)| (name, value.unwrap_or_else(|| "not kept".to_owned())))
            .collect(),
        body: request.body,
        base64: request.base64,
    };
    view! { <div class="http-answer">{message.show(cut)}</div> }.into_any()
}

fn note(words: &'static str) -> AnyView {
    view! { <p class="run__none">{words}</p> }.into_any()
}

/// What it returned, answered or threw.
#[component]
pub fn RunEnd(
    /// The run, which is over.
    run: FullRun,
    /// What a screen reader calls it, where there are several.
    #[prop(default = "Result")]
    label: &'static str,
) -> AnyView {
    let nothing = untold(&run).is_none() && run.return_value.is_none() && run.response.is_none();
    let answered = run.request.as_ref().and_then(|request| request.status).is_some();
    let content = match (nothing, answered) {
        (true, true) => {
            view! { <p class="run__none">"Its answer went to the one who asked; it is not kept."</p> }
                .into_any()
        }
        (true, false) if run.error.is_some() => note("It ended before it returned anything."),
        (true, false) => note("It returned nothing."),
        _ => view! { <RunResult run /> }.into_any(),
    };
    view! {
        <section class="run__part" aria-label=label>
            <h2 class="run__label">"Result"</h2>
            {content}
        </section>
    }
    .into_any()
}

/// What it printed.
#[component]
pub fn RunLogs(
    /// The run as it is now.
    run: Signal<FullRun>,
    /// Which lines are shown.
    filter: RwSignal<LogFilter>,
    /// What a screen reader calls it, where there are several.
    #[prop(default = "Output")]
    label: &'static str,
    /// The same of the lines within.
    #[prop(default = "Logs")]
    logs: &'static str,
) -> AnyView {
    let lines = Memo::new(move |before: Option<&Arc<Vec<LogLine>>>| {
        run.with(|run| match before {
            // Lines are only ever added.
            Some(before) if before.len() == run.logs.len() => Arc::clone(before),
            _ => Arc::new(run.logs.clone()),
        })
    });
    let started_at = Memo::new(move |_| run.with(|run| run.run_start_at));
    let live = Memo::new(move |_| run.with(|run| !run.status.is_over()));
    let truncated = Memo::new(move |_| run.with(|run| run.truncated.logs));
    view! {
        <section class="run__part run__part--logs" aria-label=label>
            <h2 class="run__label">"Logs"</h2>
            <LogView lines started_at live truncated filter label=logs />
        </section>
    }
    .into_any()
}
