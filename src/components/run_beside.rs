//! Two runs side by side: what came of each, and whether it is the same.

use hamlet_models::{FullRun, RunError};
use leptos::prelude::*;

use crate::{
    components::{
        log_view::LogFilter,
        run_detail::{RunEnd, RunLogs},
        run_outcome::headline,
        status_dot::StatusDot,
    },
    paths,
    ui::{
        part::part,
        time::{RelativeTime, duration},
    },
};

/// Shows a run beside an earlier one.
#[component]
pub fn RunBeside(
    /// The run as it is now.
    run: Signal<FullRun>,
    /// The one to compare it with.
    earlier: FullRun,
    /// Which log lines are shown of both.
    log_filter: RwSignal<LogFilter>,
) -> AnyView {
    let id = run.with_untracked(|run| run.id);
    let (link, other) = (paths::run(earlier.id), earlier.clone());
    let verdict = Memo::new(move |_| {
        run.with(|run| run.status.is_over() && other.status.is_over())
            .then(|| run.with(|run| verdict(run, &other)))
    });
    let (now, before) = (
        column(run, log_filter, THIS),
        column(Signal::stored(earlier), log_filter, EARLIER),
    );
    view! {
        <section class="beside" aria-label="Two runs side by side">
            <header class="beside__head">
                <p class="beside__verdict" role="status">{verdict}</p>
                <a href=paths::run(id)>"Show this run alone"</a>
            </header>
            <div class="beside__pair">
                <article class="beside__run" aria-label="This run">
                    <h2 class="run__label">"This run"</h2>
                    {now}
                </article>
                <article class="beside__run" aria-label="The earlier run">
                    <h2 class="run__label"><a href=link>"The earlier run"</a></h2>
                    {before}
                </article>
            </div>
        </section>
    }
    .into_any()
}

/// What a screen reader calls the result, the output and the logs of a run: two of each are on the page.
type Names = [&'static str; 3];

const THIS: Names = ["Result of this run", "Output of this run", "Logs of this run"];
const EARLIER: Names = [
    "Result of the earlier run",
    "Output of the earlier run",
    "Logs of the earlier run",
];

fn column(run: Signal<FullRun>, log_filter: RwSignal<LogFilter>, names: Names) -> AnyView {
    let [result, output, logs] = names;
    let status = Memo::new(move |_| run.with(|run| run.status));
    let over = Memo::new(move |_| status.get().is_over());
    let sentence = Memo::new(move |_| run.with(headline));
    let (version, at) = run.with_untracked(|run| (run.version, run.run_start_at.as_millis()));
    let version = version.map(|version| format!("Version {version}, "));
    view! {
        <p class="beside__facts">{version} <RelativeTime at /></p>
        <p class="beside__sentence">
            <span aria-hidden="true">{part(move || view! { <StatusDot status=status.get() /> })}</span>
            " "
            {sentence}
        </p>
        {part(move || over.get().then(|| view! { <RunEnd run=run.get_untracked() label=result /> }))}
        <RunLogs run filter=log_filter label=output logs />
    }
    .into_any()
}

/// In words, how a run compares with an earlier one: `The same result, other logs, 12.0 ms faster.`
fn verdict(run: &FullRun, earlier: &FullRun) -> String {
    let thrown = |error: &Option<RunError>| {
        let error = error.as_ref()?;
        Some((error.name.clone(), error.message.clone()))
    };
    let answered = |run: &FullRun| run.request.as_ref().and_then(|request| request.status);
    let body = |run: &FullRun| run.response.as_ref().map(|response| response.body.clone());
    let same_result = run.status == earlier.status
        && run.return_value == earlier.return_value
        && thrown(&run.error) == thrown(&earlier.error)
        && answered(run) == answered(earlier)
        // Of most answers the body isn't kept: that tells nothing.
        && (run.response.is_none() || earlier.response.is_none() || body(run) == body(earlier));
    let result = match (same_result, was_cut(run) || was_cut(earlier)) {
        (true, false) => "The same result",
        (true, true) => "The same result as far as it was kept",
        (false, _) => "Another result",
    };
    let printed =
        |run: &FullRun| -> Vec<String> { run.logs.iter().map(|line| line.message.clone()).collect() };
    let logs = if printed(run) == printed(earlier) {
        "the same logs"
    } else {
        "other logs"
    };
    let time = run.duration_ms.zip(earlier.duration_ms).map(|(now, before)| {
        let word = if now <= before { "faster" } else { "slower" };
        format!(", {} {word}", duration((now - before).abs()))
    });
    format!("{result}, {logs}{}.", time.unwrap_or_default())
}

fn was_cut(run: &FullRun) -> bool {
    run.truncated.return_value || run.truncated.error || run.truncated.response
}
