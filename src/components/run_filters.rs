//! Which runs of a list are shown: chips that unfold, each choice an address.

mod forms;
mod query;

pub use query::{Period, RunsQuery, StatusChoice};

use hamlet_models::{RunStatus, Trigger, VersionNumber};
use leptos::prelude::*;

use self::forms::{keep_keys, period_form, version_form};
use crate::{
    components::labels::trigger_word,
    ui::{
        icon::{Icon, IconName},
        menu::Menu,
        part::part,
    },
};

/// Changes of an address' query: a name, and its new value if it has one.
pub type Changes = Vec<(&'static str, Option<String>)>;

/// How many of the newest versions the filter offers without typing.
const OFFERED_VERSIONS: u32 = 8;

/// A choice: its word, and what it makes of the address.
type Choice = (String, Changes);

/// The filters of a list of runs.
#[component]
pub fn RunFilters(
    /// What the address asks for.
    #[prop(into)]
    query: Signal<RunsQuery>,
    /// The val's latest version.
    latest: VersionNumber,
    /// The address with these changes.
    href: Callback<(Changes,), String>,
    /// Goes to an address.
    on_go: Callback<String>,
) -> AnyView {
    let clear = move || {
        let all = ["status", "trigger", "version", "last", "since", "until"];
        let changes: Changes = all.map(|name| (name, None)).into();
        query.with(|query| *query != RunsQuery::default()).then(|| {
            view! { <a class="run-filters__clear" href=href.run((changes,))>"Clear filters"</a> }.into_any()
        })
    };
    view! {
        <div class="run-filters" role="group" aria-label="Filters">
            {chip(
                "Status",
                Signal::derive(move || query.with(|query| query.status.map(StatusChoice::word).map(str::to_owned))),
                vec![("status", None)],
                statuses(),
                href,
                None,
            )}
            {chip(
                "Trigger",
                Signal::derive(move || query.with(|query| query.trigger.map(trigger_word).map(str::to_owned))),
                vec![("trigger", None)],
                triggers(),
                href,
                None,
            )}
            {chip(
                "Version",
                Signal::derive(move || query.with(|query| query.version.map(|version| format!("v{version}")))),
                vec![("version", None)],
                versions(latest),
                href,
                Some(ViewFn::from(move || version_form(query, href, on_go))),
            )}
            {chip(
                "Time",
                Signal::derive(move || query.with(|query| query.period.as_ref().map(Period::word))),
                vec![("last", None), ("since", None), ("until", None)],
                periods(),
                href,
                Some(ViewFn::from(move || period_form(query, href, on_go))),
            )}
            {part(clear)}
        </div>
    }
    .into_any()
}

fn statuses() -> Vec<Choice> {
    let word = |choice: StatusChoice| {
        (
            choice.word().to_owned(),
            vec![("status", Some(choice.as_str().to_owned()))],
        )
    };
    let each = RunStatus::ALL
        .into_iter()
        .map(|status| word(StatusChoice::Is(status)));
    std::iter::once(word(StatusChoice::Failed)).chain(each).collect()
}

fn triggers() -> Vec<Choice> {
    let choice = |trigger: Trigger| {
        (
            trigger_word(trigger).to_owned(),
            vec![("trigger", Some(trigger.as_str().to_owned()))],
        )
    };
    // An evaluation belongs to no val.
    Trigger::ALL
        .into_iter()
        .filter(|&trigger| trigger != Trigger::Eval)
        .map(choice)
        .collect()
}

fn versions(latest: VersionNumber) -> Vec<Choice> {
    let choice = |version: VersionNumber| {
        let word = if version == latest {
            format!("v{version}, latest")
        } else {
            format!("v{version}")
        };
        (word, vec![("version", Some(version.to_string()))])
    };
    (latest.saturating_sub(OFFERED_VERSIONS - 1)..=latest)
        .rev()
        .map(choice)
        .collect()
}

fn periods() -> Vec<Choice> {
    let choice = |&(word, _): &(&'static str, i64)| {
        (
            format!("Last {word}"),
            vec![("last", Some(word.to_owned())), ("since", None), ("until", None)],
        )
    };
    query::SPANS.iter().map(choice).collect()
}

/// One filter: what is chosen, the choices, and a way back to none.
fn chip(
    name: &'static str,
    value: Signal<Option<String>>,
    none: Changes,
    choices: Vec<Choice>,
    href: Callback<(Changes,), String>,
    form: Option<ViewFn>,
) -> AnyView {
    let items = {
        let none = none.clone();
        move || {
            let now = value.get().map(|word| word.to_lowercase());
            let any = (format!("Any {}", name.to_lowercase()), none.clone());
            let item = |(word, changes): Choice, current: bool| {
                view! {
                    <a
                        class="menu__item run-filters__item"
                        href=href.run((changes,))
                        aria-current=current.then_some("true")
                    >
                        {word}
                    </a>
                }
                .into_any()
            };
            let first = item(any, now.is_none());
            let rest = choices.iter().map(|choice| {
                let word = choice.0.to_lowercase();
                let current = now.as_deref() == Some(word.split(',').next().unwrap_or_default());
                item(choice.clone(), current)
            });
            std::iter::once(first).chain(rest).collect::<Vec<_>>()
        }
    };
    let button = move || match value.get() {
        Some(value) => view! { <span>{name} ": " <b>{value}</b></span> }.into_any(),
        None => view! { <span>{name}</span> }.into_any(),
    };
    let clear = move || {
        let none = none.clone();
        value.get().map(|_| {
            let label = format!("Any {}", name.to_lowercase());
            view! {
                <a class="run-filters__none" href=href.run((none,)) aria-label=label.clone() title=label>
                    <Icon name=IconName::Close />
                </a>
            }
            .into_any()
        })
    };
    let label = move || {
        value
            .get()
            .map_or_else(|| name.to_owned(), |value| format!("{name}: {value}"))
    };
    view! {
        <div class="run-filters__chip" class:run-filters__chip--on=move || value.get().is_some()>
            <Menu
                label=Signal::derive(label)
                button=move || {
                    view! {
                        {part(button)}
                        <Icon name=IconName::ChevronDown />
                    }
                }
            >
                {items.clone()}
                {form
                    .clone()
                    .map(|form| {
                        view! {
                            // What is typed and pressed here is no choice yet.
                            <div
                                class="run-filters__form"
                                on:click=|event| event.stop_propagation()
                                on:keydown=keep_keys
                            >
                                {form.run()}
                            </div>
                        }
                            .into_any()
                    })}
            </Menu>
            {part(clear)}
        </div>
    }
    .into_any()
}
