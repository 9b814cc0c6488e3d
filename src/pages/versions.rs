//! A val's history.

mod compare;

pub(in crate::pages) mod actions;

use hamlet_models::{ExtendedVal, Page, PageQuery, Version};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use web_sys::{HtmlElement, wasm_bindgen::JsCast};

use self::{actions::VersionActions, compare::comparison};
use crate::{
    api::ApiClient,
    components::{
        code_compare::CompareMode,
        compare_picker::{ComparePicker, Compared},
        loaded::{loaded, loaded_part},
        val_heading::{ValHeading, ValTab},
        version_list::VersionList,
    },
    hooks::{
        fetched::Fetched,
        params::{use_href, use_offset, use_query},
        session::use_session,
        val::use_val,
    },
    ui::{
        pager::Pager,
        part::part,
        skeleton::{SkeletonBox, SkeletonRows},
        state::EmptyState,
    },
};

/// How many versions a page of the list has.
const LIMIT: u64 = 30;
/// The narrowest window in which two texts have room side by side, in pixels.
const SPLIT_WIDTH_PX: f64 = 800.0;

/// A val's history: what was saved, and what changed between any two.
#[component]
pub fn VersionsPage() -> AnyView {
    let skeleton = || {
        view! {
            <SkeletonBox height="79px" />
            <SkeletonRows rows=8 height=45 />
        }
        .into_any()
    };
    loaded(use_val(), skeleton, |val| view! { <History val /> }.into_any())
}

#[component]
fn History(val: ExtendedVal) -> AnyView {
    let api = expect_context::<ApiClient>();
    let session = use_session();
    let (id, author) = (val.id, val.author.clone());
    let val = RwSignal::new(val);
    let owner = Memo::new(move |_| session.is(author.as_ref()));
    let offset = use_offset();
    let versions = Fetched::new(move || {
        let page = PageQuery {
            offset: offset.get(),
            limit: LIMIT,
        };
        // A version that was made or deleted changes the list.
        val.track();
        async move { api.list_versions(id, page).await }
    });
    let actions = VersionActions::new(val, Callback::new(|_| ()));
    let latest = Memo::new(move |_| val.with(|val| val.version));

    let compared = use_compared();
    let mode = use_mode();
    let href = use_compare_href();
    let navigate = use_navigate();
    // Whoever ticks the second of two wants to read what changed, above the list.
    let leads_up = StoredValue::new(false);
    let on_pick = Callback::new(move |version| {
        let chosen = compared.get_untracked().toggled(version);
        let is_two = matches!(chosen, Compared::Two(..));
        leads_up.set_value(is_two);
        navigate(
            &untrack(|| href.run((chosen, mode.get()))),
            NavigateOptions {
                scroll: false,
                replace: !is_two,
                ..NavigateOptions::default()
            },
        );
    });
    Effect::new(move |_| {
        if matches!(compared.get(), Compared::Two(..)) && leads_up.get_value() {
            leads_up.set_value(false);
            request_animation_frame(focus_comparison);
        }
    });
    let changes = move || match compared.get() {
        Compared::Two(from, to) => Some(comparison(id, from, to, mode)),
        _ => None,
    };
    let page_href = use_href();
    let page_href = Callback::new(move |(offset,): (u64,)| {
        let offset = (offset > 0).then(|| offset.to_string());
        page_href(&[("offset", offset.as_deref())])
    });
    let list = move |page: Page<Version>| {
        let count = page.data.len();
        let offset = offset.get_untracked();
        let more = page.links.next.is_some();
        if count == 0 {
            return view! {
                <EmptyState title="No version this far back">
                    <a class="button" href=page_href.run((0,))>"Show the newest"</a>
                </EmptyState>
            }
            .into_any();
        }
        let is_only = count == 1 && offset == 0 && !more;
        let (username, name) = val.with_untracked(|val| {
            let username = val.author.as_ref().map(|author| author.username.to_string());
            (username.unwrap_or_default(), val.name.to_string())
        });
        let versions = page.data;
        let rows = move || {
            view! {
                <VersionList
                    username=username.clone()
                    val=name.clone()
                    versions=versions.clone()
                    latest=latest.get()
                    picked=Signal::derive(move || compared.get().picked())
                    on_pick
                    commands=owner.get().then(|| actions.commands(is_only))
                />
            }
        };
        view! {
            {part(rows)}
            <Pager what="versions" offset limit=LIMIT shown=count more href=page_href />
        }
        .into_any()
    };
    view! {
        <ValHeading val tab=ValTab::Versions owner />
        {actions.view()}
        <section class="compare" aria-label="Compare">
            {part(move || view! { <ComparePicker compared latest=latest.get() mode href /> })}
            {part(changes)}
        </section>
        <div class="versions__list">
            {loaded_part(versions, || view! { <SkeletonRows rows=8 height=45 /> }.into_any(), list)}
        </div>
    }
    .into_any()
}

fn focus_comparison() {
    let title = document().query_selector(".compare__title").ok().flatten();
    if let Some(title) = title.and_then(|title| title.dyn_into::<HtmlElement>().ok()) {
        let _ = title.focus();
    }
}

/// What the address says is compared: `?compare=3..7`.
fn use_compared() -> Memo<Compared> {
    let query = use_query("compare");
    Memo::new(move |_| {
        query
            .get()
            .and_then(|query| query.parse().ok())
            .unwrap_or_default()
    })
}

/// How it is laid out: `?view=split` or `?view=unified`; without it as there is room for.
fn use_mode() -> Memo<CompareMode> {
    let view = use_query("view");
    Memo::new(move |_| match view.get().as_deref() {
        Some("split") => CompareMode::Split,
        Some("unified") => CompareMode::Unified,
        _ => {
            let width = window().inner_width().ok().and_then(|width| width.as_f64());
            if width.is_some_and(|width| width < SPLIT_WIDTH_PX) {
                CompareMode::Unified
            } else {
                CompareMode::Split
            }
        }
    })
}

/// The address with another choice or layout. A layout that nobody chose stays out of it.
fn use_compare_href() -> Callback<(Compared, CompareMode), String> {
    let href = use_href();
    let (mode, view) = (use_mode(), use_query("view"));
    Callback::new(move |(compared, wanted): (Compared, CompareMode)| {
        let view = if wanted == mode.get() {
            view.get()
        } else {
            Some(wanted.as_str().to_owned())
        };
        href(&[
            ("compare", compared.query().as_deref()),
            ("view", view.as_deref()),
        ])
    })
}
