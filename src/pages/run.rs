//! One run.

use std::time::Duration;

use hamlet_models::{FullRun, LogLevel, NewRun, PageQuery, RunId};
use leptos::{prelude::*, task::spawn_local};
use leptos_router::hooks::use_navigate;

use crate::{
    api::{ApiClient, error::ClientError, run_events::RunNews},
    components::{
        loaded::loaded,
        log_view::LogFilter,
        run_actions::{RunActions, RunVal},
        run_detail::RunDetail,
    },
    hooks::{
        clock,
        debounce::debounced,
        fetched::Fetched,
        params::{use_param, use_query, use_set_query},
        poll::use_poll,
        session::use_session,
    },
    paths,
    ui::{
        part::part,
        skeleton::{SkeletonBox, SkeletonRows},
    },
};

/// How often a run that goes on is looked at where it isn't told how it does.
const PACE: Duration = Duration::from_millis(700);
/// A look that took long is followed by a rest of so many times as long.
const REST: i64 = 4;
/// How long to wait for the end of a word before it is written into the address.
const TYPING: Duration = Duration::from_millis(300);

/// How many versions are offered to run it on.
const OFFERED: PageQuery = PageQuery {
    offset: 0,
    limit: PageQuery::MAX_LIMIT,
};

/// One run with everything recorded, followed until it ends.
#[component]
pub fn RunPage() -> AnyView {
    let api = expect_context::<ApiClient>();
    let session = use_session();
    let id = use_param("run_id");
    let run = Fetched::new(move || {
        let id = id.get().parse::<RunId>();
        async move {
            let run = api.get_run(id.map_err(|_| ClientError::not_found())?).await;
            // To someone who isn't signed in every run is hidden: say that they may be someone who sees it.
            match run {
                Err(error) if error.is_not_found() => {
                    session.must_be_signed_in().await?;
                    Err(error)
                }
                run => run,
            }
        }
    });
    loaded(run, skeleton, |run| view! { <LiveRun run /> }.into_any())
}

fn skeleton() -> AnyView {
    view! {
        <SkeletonBox height="72px" />
        <SkeletonBox height="148px" />
        <SkeletonRows rows=6 height=45 />
    }
    .into_any()
}

#[component]
fn LiveRun(run: FullRun) -> AnyView {
    let api = expect_context::<ApiClient>();
    let navigate = use_navigate();
    let (id, val_id) = (run.id, run.val_id);
    let run = RwSignal::new(run);
    follow(api, run);

    let val = Fetched::new(move || async move {
        match val_id {
            Some(val) => api.get_val(val).await,
            None => Err(ClientError::not_found()),
        }
    });
    let val = Signal::derive(move || match val.get() {
        None => RunVal::Asking,
        Some(Ok(val)) => RunVal::Latest(val.version),
        Some(Err(error)) if error.is_not_found() => RunVal::Gone,
        // Whether it is still there shows when it is run.
        Some(Err(_)) => RunVal::Asking,
    });

    let versions = Fetched::new(move || async move {
        match val_id {
            Some(val) => api.list_versions(val, OFFERED).await,
            None => Err(ClientError::not_found()),
        }
    });
    let versions = Signal::derive(move || {
        let page = versions.value();
        let versions = page.map(|page| page.data).unwrap_or_default();
        versions.into_iter().map(|version| version.version).collect()
    });
    let earlier = use_earlier(api, id);

    let gone = move || {
        let failed = earlier.get()?.err()?;
        let words = format!("The run to compare it with can’t be shown. {}", failed.sentence());
        Some(view! { <p class="notice" role="alert">{words}</p> }.into_any())
    };

    let (busy, error) = (RwSignal::new(false), RwSignal::new(None::<String>));
    let on_again = Callback::new(move |new: NewRun| {
        let Some(val) = val_id else { return };
        let navigate = navigate.clone();
        busy.set(true);
        error.set(None);
        spawn_local(async move {
            let started = api.create_run(val, &new).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match started {
                Ok(started) => navigate(&paths::run_beside(started.id, id), Default::default()),
                Err(failed) => error.set(Some(failed.sentence())),
            }
        });
    });
    let on_cancel = Callback::new(move |()| {
        let Some(val) = val_id else { return };
        busy.set(true);
        error.set(None);
        spawn_local(async move {
            let cancelled = api.cancel_run(val, id).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match cancelled {
                // It is over already: the next look shows how it ended.
                Err(failed) if !failed.is_not_found() => error.set(Some(failed.sentence())),
                _ => look(api, run, StoredValue::new(0)),
            }
        });
    });
    view! {
        <RunDetail run log_filter=use_log_filter() earlier=Signal::derive(move || earlier.value().flatten())>
            <RunActions run val versions busy error on_again on_cancel />
        </RunDetail>
        {part(gone)}
    }
    .into_any()
}

/// The run that the address names to be shown beside this one: `?beside=`.
fn use_earlier(api: ApiClient, id: RunId) -> Fetched<Option<FullRun>> {
    let beside = use_query("beside");
    Fetched::new(move || {
        let earlier = beside.get().and_then(|earlier| earlier.parse::<RunId>().ok());
        async move {
            match earlier.filter(|earlier| *earlier != id) {
                Some(earlier) => api.get_run(earlier).await.map(Some),
                None => Ok(None),
            }
        }
    })
}

/// Follows the run until it is over: is told how it goes on, and where it can't be told, looks again and again.
fn follow(api: ApiClient, run: RwSignal<FullRun>) {
    let next = StoredValue::new(0_i64);
    if run.with_untracked(|run| run.status.is_over()) {
        return;
    }
    let told = StoredValue::new(true);
    let tell = move |news| match news {
        RunNews::Progress(progress) => {
            // The page may be gone by now.
            run.try_update(|run| progress.add_to(run));
        }
        // The browser takes it up again.
        RunNews::Interrupted => {}
        RunNews::Over | RunNews::Unavailable => {
            if told.try_update_value(|told| *told = false).is_some() {
                look(api, run, next);
            }
        }
    };
    let id = run.with_untracked(|run| run.id);
    let events = api.follow_run(id, Box::new(tell));
    if events.is_none() {
        told.set_value(false);
    }
    StoredValue::new_local(events);
    use_poll(PACE, move || {
        let wanted = !told.get_value() && clock::now() >= next.get_value();
        if wanted && run.with_untracked(|run| !run.status.is_over()) {
            look(api, run, next);
        }
    });
}

/// Looks how the run stands; a failure is left to the next look. `next` is when that may be.
fn look(api: ApiClient, run: RwSignal<FullRun>, next: StoredValue<i64>) {
    let id = run.with_untracked(|run| run.id);
    let began = clock::now();
    next.set_value(i64::MAX);
    spawn_local(async move {
        let answer = api.get_run(id).await;
        let now = clock::now();
        next.try_set_value(now + REST * (now - began));
        if let Ok(answer) = answer
            && run.try_with_untracked(|run| *run != answer) == Some(true)
        {
            run.set(answer);
        }
    });
}

/// Which log lines are shown, kept in the address: `?level=warn&q=words`.
fn use_log_filter() -> RwSignal<LogFilter> {
    let (level, search) = (use_query("level"), use_query("q"));
    let level_of = |word: &str| LogLevel::ALL.into_iter().find(|level| level.as_str() == word);
    let filter = RwSignal::new(LogFilter {
        level: level
            .get_untracked()
            .and_then(|word| level_of(&word))
            .unwrap_or(LogLevel::Debug),
        search: search.get_untracked().unwrap_or_default(),
    });
    let set_query = use_set_query();
    let set_level = set_query.clone();
    let chosen = Memo::new(move |_| filter.with(|filter| filter.level));
    Effect::new(move |before: Option<LogLevel>| {
        let level = chosen.get();
        if before.is_some_and(|before| before != level) {
            set_level("level", (level != LogLevel::Debug).then(|| level.as_str()));
        }
        level
    });
    let typed = debounced(
        Signal::derive(move || filter.with(|filter| filter.search.clone())),
        TYPING,
    );
    Effect::new(move |before: Option<String>| {
        let search = typed.get();
        if before.is_some_and(|before| before != search) {
            set_query("q", (!search.is_empty()).then_some(search.as_str()));
        }
        search
    });
    filter
}
