//! A val's runs.

mod feed;

use std::time::Duration;

use hamlet_models::{BaseRun, ExtendedVal, PageQuery, RunId};
use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
};

use self::feed::Feed;
use crate::{
    api::{ApiClient, error::ClientError},
    components::{
        failure::{LoadFailed, PartFailed},
        heading::PageHeading,
        loaded::loaded,
        run_filters::{Changes, RunFilters, RunsQuery},
        run_list::{NoRuns, RunList},
        run_picture::RunPicture,
        val_heading::{ValHeading, ValTab},
    },
    hooks::{
        clock,
        connection::on_restored,
        fetched::Fetched,
        params::{use_href, use_offset},
        poll::use_poll,
        session::use_session,
        val::use_val,
    },
    paths,
    ui::{
        button::Button,
        number::plural,
        pager::Pager,
        part::part,
        skeleton::{SkeletonBox, SkeletonRows},
        state::EmptyState,
    },
};

/// How many runs a page of the list has.
const LIMIT: u64 = 50;
/// How often to look for new runs.
const PACE: Duration = Duration::from_secs(3);

/// A val's runs, which only its owner sees.
#[component]
pub fn RunsPage() -> AnyView {
    loaded(use_val(), skeleton, |val| {
        view! { <OwnersAlone val /> }.into_any()
    })
}

fn skeleton() -> AnyView {
    view! {
        <SkeletonBox height="79px" />
        <SkeletonBox height="172px" />
        <SkeletonRows rows=10 height=41 />
    }
    .into_any()
}

/// What is known of the one who looks.
#[derive(Clone, PartialEq)]
enum Viewer {
    Unknown,
    Owner,
    Other,
    Nobody,
    Unreachable(ClientError),
}

#[component]
fn OwnersAlone(val: ExtendedVal) -> AnyView {
    let session = use_session();
    let author = val.author.clone();
    let viewer = Memo::new(move |_| match session.get() {
        None => Viewer::Unknown,
        Some(Ok(None)) => Viewer::Nobody,
        Some(Ok(Some(_))) if session.is(author.as_ref()) => Viewer::Owner,
        Some(Ok(Some(_))) => Viewer::Other,
        Some(Err(error)) => Viewer::Unreachable(error),
    });
    let content = move || match viewer.get() {
        Viewer::Unknown => skeleton(),
        Viewer::Owner => view! { <Runs val=val.clone() /> }.into_any(),
        Viewer::Other => not_yours(&val, false),
        Viewer::Nobody => not_yours(&val, true),
        Viewer::Unreachable(error) => {
            view! { <LoadFailed error on_retry=Callback::new(|()| drop(window().location().reload())) /> }
                .into_any()
        }
    };
    content.into_any()
}

fn not_yours(val: &ExtendedVal, nobody: bool) -> AnyView {
    let username = val
        .author
        .as_ref()
        .map(|author| author.username.to_string())
        .unwrap_or_default();
    let name = val.name.to_string();
    let sign_in = nobody.then(|| {
        let next = paths::runs(&username, &name);
        view! { <a class="button button--primary" href=paths::login(Some(&next))>"Sign in"</a> }.into_any()
    });
    view! {
        <section class="failure">
            <PageHeading title="Its runs are its owner’s" />
            <p>{format!("What {username} / {name} was asked, printed and answered is shown to {username} alone.")}</p>
            <div class="failure__actions">
                {sign_in} <a class="button" href=paths::val(&username, &name)>"Go to the val"</a>
            </div>
        </section>
    }
    .into_any()
}

/// What the list shows.
#[derive(Clone, PartialEq)]
enum Shown {
    Loading,
    Failed(ClientError),
    /// The val never ran.
    NoRuns,
    /// No run matches, or none lies this far back.
    NoMatch,
    List,
}

#[component]
fn Runs(val: ExtendedVal) -> AnyView {
    let api = expect_context::<ApiClient>();
    let (id, latest) = (val.id, val.version);
    let address = use_query_map();
    let query = Memo::new(move |_| address.with(|address| RunsQuery::read(|name| address.get(name))));
    let offset = use_offset();
    let feed = Feed::new(api, id);
    let filter = Memo::new(move |_| query.with(|query| query.filter(clock::now())));
    let list = Fetched::new(move || {
        let (filter, page) = (
            filter.get(),
            PageQuery {
                offset: offset.get(),
                limit: LIMIT,
            },
        );
        async move { api.list_val_runs(id, &filter, page).await }
    });
    Effect::new(move |_| {
        if let Some(Ok(page)) = list.get() {
            feed.show(page);
        }
    });
    on_restored(move || {
        list.refetch();
        feed.look(filter, offset, list);
    });
    feed.fill();
    use_poll(PACE, move || feed.look(filter, offset, list));

    let is_plain = move || query.with(|query| *query == RunsQuery::default()) && offset.get() == 0;
    let shown = Memo::new(move |_| match list.get() {
        None => Shown::Loading,
        Some(Err(error)) => Shown::Failed(error),
        Some(Ok(_)) if !feed.rows.with(|rows| rows.is_empty()) => Shown::List,
        // What has just come is put into the list by the effect above.
        Some(Ok(page)) if !page.data.is_empty() => Shown::List,
        Some(Ok(_)) if is_plain() => Shown::NoRuns,
        Some(Ok(_)) => Shown::NoMatch,
    });

    let href = use_href();
    let filter_href = Callback::new(move |(changes,): (Changes,)| {
        let mut changes: Vec<(&str, Option<&str>)> = changes
            .iter()
            .map(|(name, value)| (*name, value.as_deref()))
            .collect();
        changes.push(("offset", None));
        href(&changes)
    });
    let page_href = Callback::new(move |(offset,): (u64,)| {
        let offset = (offset > 0).then(|| offset.to_string());
        href(&[("offset", offset.as_deref())])
    });
    let navigate = use_navigate();
    let go = navigate.clone();
    let on_go = Callback::new(move |address: String| {
        go(
            &address,
            NavigateOptions {
                scroll: false,
                ..Default::default()
            },
        )
    });
    let on_open = Callback::new(move |run: RunId| navigate(&paths::run(run), Default::default()));

    let rows = move || match shown.get() {
        Shown::Loading | Shown::NoRuns => view! { <SkeletonRows rows=10 height=41 /> }.into_any(),
        Shown::Failed(error) => {
            view! { <PartFailed error on_retry=Callback::new(move |()| list.refetch()) /> }.into_any()
        }
        Shown::NoMatch => no_match(query, filter_href),
        Shown::List => view! {
            <NewRuns feed offset page_href />
            <RunList runs=feed.rows />
            {part(move || {
                view! {
                    <Pager
                        what="runs"
                        offset=offset.get()
                        limit=LIMIT
                        shown=feed.rows.with(|rows| rows.len())
                        more=feed.more.get()
                        href=page_href
                    />
                }
            })}
        }
        .into_any(),
    };
    let picture = move || match feed.has_picture() {
        true => view! { <RunPicture runs=feed.recent filter on_open /> }.into_any(),
        false => view! { <SkeletonBox height="var(--picture-height)" /> }.into_any(),
    };
    // What takes the place of the list that was waited for is new: it does not move there from below the picture.
    let none = Memo::new(move |_| shown.get() == Shown::NoRuns);
    let for_none = val.clone();
    let no_runs = move || none.get().then(|| view! { <NoRuns val=for_none.clone() /> });
    let runs = move || {
        (!none.get()).then(|| {
            view! {
                {part(picture)}
                <RunFilters query latest href=filter_href on_go />
                <div class="runs__list">{part(rows)}</div>
            }
        })
    };
    let heading = RwSignal::new(val);
    view! {
        <ValHeading val=heading tab=ValTab::Runs owner=true />
        <div class="runs">{part(no_runs)} {part(runs)}</div>
    }
    .into_any()
}

fn no_match(query: Memo<RunsQuery>, href: Callback<(Changes,), String>) -> AnyView {
    let filtered = query.with_untracked(|query| *query != RunsQuery::default());
    let all: Changes = ["status", "trigger", "version", "last", "since", "until"]
        .map(|name| (name, None))
        .into();
    let (title, way_on) = if filtered {
        ("No run matches", "Clear filters")
    } else {
        ("No run this far back", "Show the newest")
    };
    view! {
        <EmptyState title=title>
            <a class="button" href=move || href.run((all.clone(),))>{way_on}</a>
        </EmptyState>
    }
    .into_any()
}

/// Says how many runs have come while the reader was not at the top, and brings them.
#[component]
fn NewRuns(feed: Feed, offset: Memo<u64>, page_href: Callback<(u64,), String>) -> AnyView {
    let navigate = use_navigate();
    let bring = move |()| {
        if offset.get_untracked() == 0 {
            feed.bring();
        } else {
            navigate(&untrack(|| page_href.run((0,))), Default::default());
        }
        window().scroll_to_with_x_and_y(0.0, 0.0);
    };
    let button = move || {
        let count = feed.waiting.with(|waiting: &Vec<BaseRun>| waiting.len());
        let bring = bring.clone();
        (count > 0).then(|| {
            view! { <Button on_click=bring>{plural(count as u64, "new run", "new runs")}</Button> }
        })
    };
    view! {
        <div class="runs__new" role="status">
            {part(button)}
        </div>
    }
    .into_any()
}
