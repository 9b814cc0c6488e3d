//! What the address says.

use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_location, use_matched, use_navigate, use_params_map},
    location::Location,
    params::ParamsMap,
};

/// A part of the path, as `:username`; empty if the route has none of that name.
pub fn use_param(name: &'static str) -> Memo<String> {
    let params = use_params_map();
    Memo::new(move |_| params.with(|params| params.get(name).unwrap_or_default()))
}

/// A value of the query. It stays as it is while the address already leads away to another page.
pub fn use_query(name: &'static str) -> Memo<Option<String>> {
    let Location { pathname, query, .. } = use_location();
    // The route's own query isn't told of a step to another page of the same route, but its path is.
    let route = use_context::<ArcMemo<ParamsMap>>().map(|_| use_matched());
    Memo::new(move |before: Option<&Option<String>>| {
        let here =
            |route: Memo<String>| route.get().trim_end_matches('/') == pathname.get().trim_end_matches('/');
        match (before, route) {
            (Some(before), Some(route)) if !here(route) => before.clone(),
            _ => query.with(|query| query.get(name).filter(|value| !value.is_empty())),
        }
    })
}

/// How many items of a list to pass over, from `?offset=`.
pub fn use_offset() -> Memo<u64> {
    let offset = use_query("offset");
    Memo::new(move |_| offset.get().and_then(|offset| offset.parse().ok()).unwrap_or(0))
}

/// The address of this page with some values of its query changed; `None` takes one away.
pub fn use_href() -> impl Fn(&[(&str, Option<&str>)]) -> String + Copy + Send + Sync + 'static {
    let location = use_location();
    let (path, query) = (location.pathname, location.query);
    move |changes| {
        let mut params = query.get();
        for (name, value) in changes {
            match value {
                Some(value) => params.replace((*name).to_owned(), (*value).to_owned()),
                None => drop(params.remove(name)),
            }
        }
        format!("{}{}", path.get(), params.to_query_string())
    }
}

/// Changes a value of the query in place: no new entry in the history, no scrolling.
pub fn use_set_query() -> impl Fn(&str, Option<&str>) + Clone + 'static {
    let navigate = use_navigate();
    let href = use_href();
    move |name, value| {
        let address = untrack(|| href(&[(name, value)]));
        navigate(
            &address,
            NavigateOptions {
                replace: true,
                scroll: false,
                ..NavigateOptions::default()
            },
        );
    }
}
