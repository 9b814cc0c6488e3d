//! A user and their vals.

use hamlet_models::{BasicVal, Page, PageQuery, Privacy, User, UserId, ValFilter, ValKind};
use leptos::prelude::*;

use crate::{
    api::ApiClient,
    components::{
        heading::PageHeading,
        labels::kind_word,
        loaded::{loaded, loaded_part},
        val_row::ValRow,
    },
    hooks::{
        fetched::Fetched,
        params::{use_href, use_offset, use_param, use_query},
        session::use_session,
    },
    paths,
    ui::{chip::FilterChips, pager::Pager, skeleton::SkeletonRows, state::EmptyState},
};

/// How many vals a page has.
const PER_PAGE: u64 = 30;

/// A user and their vals.
#[component]
pub fn UserPage() -> AnyView {
    let api = expect_context::<ApiClient>();
    let username = use_param("username");
    let user = Fetched::new(move || {
        let username = username.get();
        async move { api.find_user(&username).await }
    });
    loaded(user, skeleton, |user| view! { <UserDetail user /> }.into_any())
}

fn skeleton() -> AnyView {
    view! { <SkeletonRows rows=10 height=44 /> }.into_any()
}

/// Name, picture, bio, and the vals with their filters.
#[component]
fn UserDetail(user: User) -> AnyView {
    let session = use_session();
    let id = user.id;
    let own = Memo::new(move |_| session.me().is_some_and(|me| me.user.id == id));
    let username = user.username.map(String::from).unwrap_or_default();
    let picture = user.profile_image_url.map(|url| {
        view! { <img class="user__picture" src=url width="48" height="48" alt="" referrerpolicy="no-referrer" /> }
            .into_any()
    });
    let edit = move || {
        own.get()
            .then(|| view! { <a class="button" href=paths::settings()>"Edit profile"</a> })
    };
    view! {
        <header class="user">
            {picture}
            <div class="user__words">
                <PageHeading title=username />
                {user.bio.map(|bio| view! { <p class="user__bio">{bio}</p> }.into_any())}
            </div>
            <div class="user__actions">{edit}</div>
        </header>
        <UserVals id own />
    }
    .into_any()
}

/// A user's vals, a page at a time; the filters are in the address.
#[component]
fn UserVals(id: UserId, own: Memo<bool>) -> AnyView {
    let api = expect_context::<ApiClient>();
    let (kind, privacy, offset) = (use_query("type"), use_query("privacy"), use_offset());
    let vals = Fetched::new(move || {
        let filter = ValFilter {
            kind: kind.get().and_then(|kind| kind.parse().ok()),
            privacy: privacy
                .get()
                .and_then(|word| Privacy::ALL.into_iter().find(|each| each.as_str() == word)),
            ..ValFilter::default()
        };
        let page = PageQuery {
            offset: offset.get(),
            limit: PER_PAGE,
        };
        async move { api.list_user_vals(id, &filter, page).await }
    });
    let href = use_href();
    let filtered = Memo::new(move |_| kind.get().is_some() || privacy.get().is_some());
    let kinds = ValKind::ALL.map(|kind| (kind.as_str(), kind_word(kind))).to_vec();
    let privacies = move || {
        let choices = Privacy::ALL
            .map(|privacy| (privacy.as_str(), privacy.as_str()))
            .to_vec();
        let to = move |(choice,): (Option<&'static str>,)| href(&[("privacy", choice), ("offset", None)]);
        own.get().then(|| {
            view! { <FilterChips label="Privacy" all="any privacy" choices value=privacy href=to /> }
                .into_any()
        })
    };
    let to_kind = move |(choice,): (Option<&'static str>,)| href(&[("type", choice), ("offset", None)]);
    let show = move |vals: Page<BasicVal>| {
        if vals.data.is_empty() {
            return no_vals(filtered.get_untracked(), own.get_untracked());
        }
        let (shown, more) = (vals.data.len(), vals.links.next.is_some());
        let rows: Vec<_> = vals
            .data
            .into_iter()
            .map(|val| view! { <ValRow val /> }.into_any())
            .collect();
        let to_page = move |(offset,): (u64,)| {
            let offset = (offset > 0).then(|| offset.to_string());
            href(&[("offset", offset.as_deref())])
        };
        view! {
            <ul class="rows" role="list">
                {rows}
            </ul>
            <Pager what="vals" offset=offset.get_untracked() limit=PER_PAGE shown more href=to_page />
        }
        .into_any()
    };
    view! {
        <section aria-label="Vals">
            <div class="user__filters">
                <FilterChips label="Kind" all="any kind" choices=kinds value=kind href=to_kind />
                {privacies}
            </div>
            {loaded_part(vals, skeleton, show)}
        </section>
    }
    .into_any()
}

fn no_vals(filtered: bool, own: bool) -> AnyView {
    let title = if filtered {
        "No vals of this kind"
    } else {
        "No vals yet"
    };
    let way_on = match (filtered, own) {
        (false, true) => view! { <a class="button" href=paths::new_val(None)>"New val"</a> }.into_any(),
        (false, false) => view! { "Vals that are made public appear here." }.into_any(),
        (true, _) => view! { "Choose another filter to see more." }.into_any(),
    };
    view! { <EmptyState title>{way_on}</EmptyState> }.into_any()
}
