//! Home for who is signed in: their vals, and the latest runs of them all.

use std::time::Duration;

use hamlet_models::{BaseRun, BasicVal, Me, Page, PageQuery, RunFilter, ValFilter};
use leptos::prelude::*;

use crate::{
    api::ApiClient,
    components::{heading::PageHeading, loaded::loaded_live, run_row::RunRow, val_row::ValRow},
    hooks::{fetched::Fetched, poll::use_poll},
    paths,
    ui::{
        icon::{Icon, IconName},
        skeleton::SkeletonRows,
        state::EmptyState,
    },
};

/// How many vals and how many runs are shown.
const SHOWN: PageQuery = PageQuery { offset: 0, limit: 20 };
/// How often to look for new runs.
const PACE: Duration = Duration::from_secs(3);

/// My vals and latest runs.
#[component]
pub fn Desk(
    /// Who is signed in.
    me: Me,
) -> AnyView {
    let api = expect_context::<ApiClient>();
    let id = me.user.id;
    let vals =
        Fetched::new(move || async move { api.list_user_vals(id, &ValFilter::default(), SHOWN).await });
    let runs = Fetched::new(move || async move { api.list_my_runs(&RunFilter::default(), SHOWN).await });
    use_poll(PACE, move || runs.refetch());
    // A run that began or ended changes how its val stands.
    let states = Memo::new(move |_| {
        let runs = runs.value()?;
        Some(
            runs.data
                .iter()
                .map(|run| (run.id, run.status))
                .collect::<Vec<_>>(),
        )
    });
    Effect::new(move |before: Option<bool>| {
        let known = states.with(Option::is_some);
        if before == Some(true) {
            vals.refetch();
        }
        known
    });

    let username = me.user.username.map(String::from).unwrap_or_default();
    let own_page = paths::user(&username);
    view! {
        {(!me.has_password).then(no_password)}
        <div class="desk">
            <section class="desk__vals">
                <header class="section-heading">
                    <PageHeading title="Home">"Your vals"</PageHeading>
                    <a href=own_page.clone()>"All by kind"</a>
                </header>
                {loaded_live(vals, skeleton, move |vals| val_list(vals, own_page.clone()))}
            </section>
            <section class="desk__runs" aria-labelledby="latest-runs">
                <header class="section-heading">
                    <h2 id="latest-runs" class="heading">"Latest runs"</h2>
                </header>
                {loaded_live(runs, skeleton, run_list)}
            </section>
        </div>
    }
    .into_any()
}

fn skeleton() -> AnyView {
    view! { <SkeletonRows rows=8 height=44 /> }.into_any()
}

fn no_password() -> AnyView {
    view! {
        <p class="notice desk__notice">
            "You have no password yet: the link that brought you here works once. "
            <a href=paths::settings()>"Choose a password"</a>
        </p>
    }
    .into_any()
}

/// The vals, each row replaced only when it changes, so that focus stays where it is.
fn val_list(vals: Signal<Page<BasicVal>>, own_page: String) -> AnyView {
    let key = |val: &BasicVal| {
        let last = val.last_run.as_ref().map(|run| (run.id, run.status));
        (val.id, val.updated_at, last)
    };
    let empty = Memo::new(move |_| vals.with(|vals| vals.data.is_empty()));
    let more = Memo::new(move |_| vals.with(|vals| vals.links.next.is_some()));
    (move || {
        if empty.get() {
            return view! { <Starters /> }.into_any();
        }
        let own_page = own_page.clone();
        view! {
            <ul class="rows" role="list">
                <For each=move || vals.get().data key=key let:val>
                    <ValRow val />
                </For>
            </ul>
            {move || more.get().then(|| view! { <p class="desk__more"><a href=own_page.clone()>"All your vals"</a></p> })}
        }
        .into_any()
    })
    .into_any()
}

fn run_list(runs: Signal<Page<BaseRun>>) -> AnyView {
    let empty = Memo::new(move |_| runs.with(|runs| runs.data.is_empty()));
    (move || {
        if empty.get() {
            return view! {
                <EmptyState title="No runs yet">
                    "Each time one of your vals runs, it is recorded here: how it ended, what it printed, how long it took."
                </EmptyState>
            }
            .into_any();
        }
        view! {
            <ul class="rows" role="list">
                <For each=move || runs.get().data key=|run| (run.id, run.status) let:run>
                    <RunRow run />
                </For>
            </ul>
        }
        .into_any()
    })
    .into_any()
}

/// Three ways to begin, each opening a new val that is filled in.
#[component]
fn Starters() -> AnyView {
    let starter = |name: &'static str, title: &'static str, words: &'static str| {
        view! {
            <li class="desk-starter">
                <a class="desk-starter__link" href=paths::new_val(Some(name))>
                    <Icon name=IconName::Plus />
                    {title}
                </a>
                <p>{words}</p>
            </li>
        }
        .into_any()
    };
    view! {
        <p class="desk__lead">"You have no vals yet. Begin with one of these:"</p>
        <ul class="desk-starters" role="list">
            {starter("page", "A page", "Answers requests at an address of its own.")}
            {starter("cron", "A cron", "Runs by itself, as often as you say.")}
            {starter("mail", "A mail robot", "Reads what is sent to its e-mail address.")}
        </ul>
        <p>
            <a href=paths::new_val(None)>"Or start from nothing"</a>
        </p>
    }
    .into_any()
}
