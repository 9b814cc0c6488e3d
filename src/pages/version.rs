//! One version of a val.

mod facts;

use hamlet_models::{ExtendedVal, NewRun, VersionNumber};
use leptos::{prelude::*, task::spawn_local};
use leptos_router::hooks::use_navigate;

use self::facts::{list_around, version_facts};
use super::versions::actions::VersionActions;
use crate::{
    api::ApiClient,
    components::{
        code_editor::use_selected_lines,
        code_reader::CodeReader,
        loaded::{loaded, loaded_part},
        val_heading::{ValHeading, ValTab},
    },
    hooks::{fetched::Fetched, params::use_param, session::use_session, val::use_val},
    paths,
    ui::{
        button::{Button, ButtonKind},
        icon::{Icon, IconName},
        part::part,
        skeleton::SkeletonBox,
        state::EmptyState,
    },
};

/// One version of a val: its code as it was, what is known of it, and what can be done with it.
#[component]
pub fn VersionPage() -> AnyView {
    let number = use_param("version");
    loaded(use_val(), skeleton, move |val| {
        let val = RwSignal::new(val);
        let content = move || match number.get().parse::<VersionNumber>() {
            Ok(number) => view! { <OneVersion val number /> }.into_any(),
            Err(_) => no_version(val, number.get()),
        };
        let session = use_session();
        let owner = Memo::new(move |_| val.with(|val| session.is(val.author.as_ref())));
        view! {
            <ValHeading val tab=ValTab::Versions owner />
            {part(content)}
        }
        .into_any()
    })
}

fn skeleton() -> AnyView {
    view! {
        <SkeletonBox height="79px" />
        <SkeletonBox height="64px" />
        <SkeletonBox height="60vh" />
    }
    .into_any()
}

fn names(val: RwSignal<ExtendedVal>) -> (String, String) {
    val.with(|val| {
        let username = val.author.as_ref().map(|author| author.username.to_string());
        (username.unwrap_or_default(), val.name.to_string())
    })
}

fn no_version(val: RwSignal<ExtendedVal>, number: String) -> AnyView {
    let (username, name) = names(val);
    view! {
        <EmptyState title=format!("There is no version {number}")>
            <p>"It was deleted, or never was."</p>
            <a class="button" href=paths::versions(&username, &name)>"Show all versions"</a>
        </EmptyState>
    }
    .into_any()
}

#[component]
fn OneVersion(val: RwSignal<ExtendedVal>, number: VersionNumber) -> AnyView {
    let api = expect_context::<ApiClient>();
    let session = use_session();
    let owner = Memo::new(move |_| val.with(|val| session.is(val.author.as_ref())));
    let id = val.with_untracked(|val| val.id);
    let version = Fetched::new(move || async move {
        match api.get_version(id, number).await {
            Err(error) if error.is_not_found() => Ok(None),
            answer => answer.map(Some),
        }
    });
    let around = Fetched::new(move || {
        let latest = val.with(|val| val.version);
        async move { list_around(api, id, number, latest).await }
    });
    let navigate = use_navigate();
    let deleted = Callback::new(move |_| {
        let (username, name) = untrack(|| names(val));
        navigate(&paths::versions(&username, &name), Default::default());
    });
    let actions = VersionActions::new(val, deleted);
    let code = move |version: Option<ExtendedVal>| match version {
        None => no_version(val, number.to_string()),
        Some(version) => view! {
            <VersionCode code=version.code.clone().unwrap_or_default() number />
        }
        .into_any(),
    };
    view! {
        {actions.view()}
        <div class="version__bar">
            {version_facts(val, number, around)}
            <div class="version__actions">
                {part(move || {
                    let (username, name) = names(val);
                    let latest = val.with(|val| val.version);
                    let previous = around.value().and_then(|around| around.previous);
                    compare_links(&username, &name, number, previous, latest)
                })}
                {part(move || {
                    owner
                        .get()
                        .then(|| {
                            view! { <OwnerButtons val number actions only=Signal::derive(move || is_only(around)) /> }
                        })
                })}
            </div>
        </div>
        {loaded_part(version, || view! { <SkeletonBox height="60vh" /> }.into_any(), code)}
    }
    .into_any()
}

/// Whether there is no other version, as far as is known.
fn is_only(around: Fetched<facts::Around>) -> bool {
    around.value().is_some_and(|around| around.is_only)
}

fn compare_links(
    username: &str,
    name: &str,
    number: VersionNumber,
    previous: Option<VersionNumber>,
    latest: VersionNumber,
) -> AnyView {
    let versions = paths::versions(username, name);
    let link = |words: &'static str, from: VersionNumber, to: VersionNumber| {
        view! { <a class="button" href=format!("{versions}?compare={from}..{to}")>{words}</a> }.into_any()
    };
    let previous = previous.map(|previous| link("Compare with previous", previous, number));
    let latest = (number < latest).then(|| link("Compare with latest", number, latest));
    (previous, latest).into_any()
}

#[component]
fn OwnerButtons(
    val: RwSignal<ExtendedVal>,
    number: VersionNumber,
    actions: VersionActions,
    only: Signal<bool>,
) -> AnyView {
    let api = expect_context::<ApiClient>();
    let navigate = use_navigate();
    let starting = RwSignal::new(false);
    let failed = RwSignal::new(None::<String>);
    let run = move |()| {
        let navigate = navigate.clone();
        starting.set(true);
        failed.set(None);
        spawn_local(async move {
            let id = val.with_untracked(|val| val.id);
            let run = NewRun {
                version: Some(number),
                ..NewRun::default()
            };
            let started = api.create_run(id, &run).await;
            if starting.try_set(false).is_some() {
                return;
            }
            match started {
                Ok(run) => navigate(&paths::run(run.id), Default::default()),
                Err(error) => failed.set(Some(error.sentence())),
            }
        });
    };
    let is_latest = move || val.with(|val| val.version) == number;
    let restore = move || {
        (!is_latest()).then(|| {
            let commands = actions.commands(false);
            view! {
                <Button busy=commands.busy on_click=move |()| commands.on_restore.run(number)>
                    <Icon name=IconName::History />
                    "Restore"
                </Button>
            }
        })
    };
    let delete = move |()| actions.commands(only.get_untracked()).on_delete.run(number);
    view! {
        <Button busy=starting on_click=run>
            <Icon name=IconName::Play />
            "Run this version"
        </Button>
        {part(restore)}
        <Button kind=ButtonKind::Danger busy=actions.commands(false).busy on_click=delete>
            <Icon name=IconName::Trash />
            "Delete"
        </Button>
        {part(move || failed.get().map(|failed| view! { <p class="version__failed" role="alert">{failed}</p> }.into_any()))}
    }
    .into_any()
}

#[component]
fn VersionCode(code: String, number: VersionNumber) -> AnyView {
    let lines = use_selected_lines();
    view! {
        <div class="version__code">
            <CodeReader code label=format!("Code of version {number}") lines />
        </div>
    }
    .into_any()
}
