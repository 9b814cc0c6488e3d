//! What can be done with a run: end it, or start another like it.

use hamlet_models::{FullRun, NewRun, RunInput, VersionNumber};
use leptos::prelude::*;

use crate::ui::{
    button::{Button, ButtonKind},
    icon::{Icon, IconName},
    part::part,
    select::Select,
};

/// What is known of the val that a run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunVal {
    /// It is being asked for.
    Asking,
    /// Its latest version.
    Latest(VersionNumber),
    /// It is gone, or can't be reached.
    Gone,
}

/// The buttons of a run: Cancel while it goes on, Run again once it is over.
#[component]
pub fn RunActions(
    /// The run as it is now.
    #[prop(into)]
    run: Signal<FullRun>,
    /// The val that it is a run of.
    #[prop(into)]
    val: Signal<RunVal>,
    /// The versions that there are, newest first, as far as they are known.
    versions: Signal<Vec<VersionNumber>>,
    /// Whether what was pressed goes on.
    #[prop(into)]
    busy: Signal<bool>,
    /// Why it failed, if it did.
    #[prop(into)]
    error: Signal<Option<String>>,
    /// Called with the run to start.
    on_again: Callback<NewRun>,
    /// Called to end the run.
    on_cancel: Callback<()>,
) -> AnyView {
    let over = Memo::new(move |_| run.with(|run| run.status.is_over()));
    let of_val = run.with_untracked(|run| run.val_id.is_some());
    let buttons = move || match (of_val, over.get()) {
        (false, _) => ().into_any(),
        (true, false) => view! {
            <Button kind=ButtonKind::Danger busy on_click=on_cancel>
                <Icon name=IconName::Stop />
                "Cancel"
            </Button>
        }
        .into_any(),
        (true, true) => again(run, val, versions, busy, on_again),
    };
    let failed = move || {
        error
            .get()
            .map(|error| view! { <p class="run-actions__error" role="alert">{error}</p> }.into_any())
    };
    view! { <div class="run-actions">{part(buttons)} {part(failed)}</div> }.into_any()
}

fn again(
    run: Signal<FullRun>,
    val: Signal<RunVal>,
    versions: Signal<Vec<VersionNumber>>,
    busy: Signal<bool>,
    on_again: Callback<NewRun>,
) -> AnyView {
    let (id, version) = run.with_untracked(|run| (run.id, run.version));
    let note = match run.with_untracked(input_of) {
        Ok(note) => note,
        Err(why) => return view! { <p class="run-actions__note">{why}</p> }.into_any(),
    };
    let start = Callback::new(move |version: Option<VersionNumber>| {
        on_again.run(NewRun {
            version,
            replay_of: Some(id),
            ..NewRun::default()
        })
    });
    let button = move |kind: ButtonKind, words: String, version: Option<VersionNumber>| {
        view! {
            <Button kind busy on_click=move |()| start.run(version)>
                <Icon name=IconName::Retry />
                {words}
            </Button>
        }
        .into_any()
    };
    let buttons = move || match (val.get(), version) {
        (RunVal::Gone, _) => {
            view! { <p class="run-actions__note">"Its val is gone: it can’t be run again."</p> }.into_any()
        }
        (RunVal::Latest(latest), Some(version)) if latest != version => (
            button(
                ButtonKind::Plain,
                format!("Run again on v{version}"),
                Some(version),
            ),
            button(ButtonKind::Primary, format!("Run on latest, v{latest}"), None),
        )
            .into_any(),
        (RunVal::Asking | RunVal::Latest(_), version) => {
            button(ButtonKind::Primary, "Run again".to_owned(), version).into_any()
        }
    };
    let others = move || {
        let RunVal::Latest(latest) = val.get() else {
            return ().into_any();
        };
        let others = versions.with(|versions| {
            let others = versions.iter().copied();
            others
                .filter(|other| *other != latest && Some(*other) != version)
                .collect::<Vec<_>>()
        });
        other_version(others, busy, start)
    };
    let note = note.map(|note| view! { <p class="run-actions__note">{note}</p> }.into_any());
    view! {
        <div class="run-actions__buttons">{part(buttons)}</div>
        {part(others)}
        {note}
    }
    .into_any()
}

/// A choice of the versions that have no button of their own.
fn other_version(
    others: Vec<VersionNumber>,
    busy: Signal<bool>,
    start: Callback<Option<VersionNumber>>,
) -> AnyView {
    let Some(first) = others.first() else {
        return ().into_any();
    };
    let chosen = RwSignal::new(first.to_string());
    let options = others
        .iter()
        .map(|version| (version.to_string(), format!("v{version}")))
        .collect();
    let run = move |()| {
        if let Ok(version) = chosen.with_untracked(|chosen| chosen.parse()) {
            start.run(Some(version));
        }
    };
    view! {
        <details class="run-actions__other">
            <summary>"On another version"</summary>
            <div class="run-actions__other-line">
                <Select label="Version" options value=chosen on_change=move |version| chosen.set(version) />
                <Button busy on_click=run>"Run on this version"</Button>
            </div>
        </details>
    }
    .into_any()
}

/// Why a run can't be run again with what it was given, if so; else what of that is left out.
fn input_of(run: &FullRun) -> Result<Option<String>, &'static str> {
    if run.truncated.args || run.truncated.input {
        return Err("What it was given is not kept as it was: it can’t be run again with it.");
    }
    let request = match (&run.input, &run.request) {
        (Some(RunInput::Request(request)), _) => request,
        (None, Some(_)) => return Err("Its request was not kept: it can’t be run again with it."),
        _ => return Ok(None),
    };
    let left_out = request.headers.iter().filter(|(_, value)| value.is_none());
    let names: Vec<&str> = left_out.map(|(name, _)| name.as_str()).collect();
    Ok((!names.is_empty())
        .then(|| format!("Without what was not kept of the request: {}.", names.join(", "))))
}
