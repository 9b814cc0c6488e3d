//! A val's runs as a table whose rows stack where it is narrow.

use std::sync::Arc;

use hamlet_models::{BaseRun, ExtendedVal, ValKind};
use leptos::{ev::KeyboardEvent, prelude::*};

use crate::{
    components::{
        labels::trigger_word,
        status_dot::{StatusDot, status_word},
    },
    hooks::arrows,
    paths,
    ui::{
        state::EmptyState,
        time::{RelativeTime, duration},
    },
};

/// The runs of one page of the list. The arrow keys move between rows; Enter opens one.
#[component]
pub fn RunList(
    /// The runs, newest first.
    #[prop(into)]
    runs: Signal<Arc<Vec<BaseRun>>>,
) -> AnyView {
    // A row is made anew when its run goes on.
    let key = |run: &BaseRun| (run.id, run.status);
    let on_key = |event: KeyboardEvent| arrows::move_focus(&event, ".row__link");
    view! {
        <div class="run-list__head" aria-hidden="true">
            <span>"Status"</span>
            <span>"Started"</span>
            <span>"Trigger"</span>
            <span>"Version"</span>
            <span class="run-list__took">"Took"</span>
            <span>"Request or error"</span>
        </div>
        <ol class="rows run-list" role="list" aria-label="Runs" on:keydown=on_key>
            <For each=move || runs.get().to_vec() key=key children=|run| row(&run) />
        </ol>
    }
    .into_any()
}

fn row(run: &BaseRun) -> AnyView {
    let took = run.duration_ms.map(duration);
    let name = format!(
        "{}{}, run of {}",
        status_word(run.status),
        took.as_ref()
            .map(|took| format!(" after {took}"))
            .unwrap_or_default(),
        crate::ui::time::exact(run.run_start_at.as_millis()),
    );
    view! {
        <li class="row run-list__row">
            <a class="row__link" href=paths::run(run.id) aria-label=name>
                <StatusDot status=run.status />
            </a>
            <span class="run-list__when">
                <RelativeTime at=run.run_start_at.as_millis() />
            </span>
            <span class="run-list__trigger">{trigger_word(run.trigger)}</span>
            <span class="run-list__version">{run.version.map(|version| format!("v{version}"))}</span>
            <span class="run-list__took">{took}</span>
            <span class="run-list__detail">{detail(run)}</span>
        </li>
    }
    .into_any()
}

/// The request, and what went wrong.
fn detail(run: &BaseRun) -> AnyView {
    let request = run.request.as_ref().map(|request| {
        let status = request.status.map(|status| format!(" → {status}"));
        let path = path_of(&request.url).to_owned();
        view! { <span class="run-list__request">{format!("{} {path}", request.method)} {status}</span> }
            .into_any()
    });
    let error = run.error.as_ref().map(|error| {
        let text = format!(
            "{}: {}",
            error.name,
            error.message.lines().next().unwrap_or_default()
        );
        view! { <span class="run-list__error">{text}</span> }.into_any()
    });
    (request, error).into_any()
}

/// Path and query of an absolute address.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |start| &rest[start..])
}

/// A val that has not run yet: how to start it.
#[component]
pub fn NoRuns(
    /// The val.
    val: ExtendedVal,
) -> AnyView {
    let username = val
        .author
        .as_ref()
        .map(|author| author.username.to_string())
        .unwrap_or_default();
    let page = paths::val(&username, val.name.as_str());
    let how = match (val.kind, val.links.endpoint.clone()) {
        (ValKind::Http, Some(address)) => {
            let endpoint = address.clone();
            view! {
            <p>"Each request to " <a href=endpoint>{address}</a> " is a run, and so is each that you send from its page."</p>
            }
            .into_any()
        }
        (ValKind::Interval, _) => {
            view! { <p>"It runs at each tick of its schedule, or when you run it from its page."</p> }
                .into_any()
        }
        (ValKind::Email, _) => {
            view! { <p>"Each mail to its address is a run, and so is each test message from its page."</p> }
                .into_any()
        }
        _ => view! {
            <p>
                "Run it from its page, or call " <code>{format!("/v1/run/{username}.{}", val.name)}</code>
                " with a token of yours."
            </p>
        }
        .into_any(),
    };
    view! {
        <EmptyState title="No runs yet">
            {how} <a class="button button--primary" href=page>"Open the val"</a>
        </EmptyState>
    }
    .into_any()
}
