//! What is known of a version, and its neighbours.

use hamlet_models::{ExtendedVal, PageQuery, ValId, Version, VersionNumber};
use leptos::prelude::*;

use crate::{
    api::{ApiClient, error::ClientError},
    components::version_list::lines_changed,
    hooks::fetched::Fetched,
    paths,
    ui::{number::bytes, part::part, time::RelativeTime},
};

/// A version as the list has it, and the versions next to it.
#[derive(Clone)]
pub(super) struct Around {
    this: Option<Version>,
    /// The version before it.
    pub(super) previous: Option<VersionNumber>,
    /// The version after it.
    next: Option<VersionNumber>,
    /// Whether it is the only one.
    pub(super) is_only: bool,
}

/// Finds a version in the list, which holds what the version itself doesn't tell: its message and its author.
pub(super) async fn list_around(
    api: ApiClient,
    val: ValId,
    number: VersionNumber,
    latest: VersionNumber,
) -> Result<Around, ClientError> {
    // Numbers are never given again: a version lies no further back than it is from the latest.
    let furthest = u64::from(latest.saturating_sub(number)) + 1;
    let page = PageQuery {
        offset: (furthest + 1).saturating_sub(PageQuery::MAX_LIMIT),
        limit: PageQuery::MAX_LIMIT,
    };
    let versions = api.list_versions(val, page).await?.data;
    let after = versions.iter().rev().find(|version| version.version > number);
    let before = versions.iter().find(|version| version.version < number);
    Ok(Around {
        previous: before.map(|version| version.version),
        next: after.map(|version| version.version),
        is_only: page.offset == 0 && versions.len() == 1,
        this: versions.iter().find(|version| version.version == number).cloned(),
    })
}

/// The version's number, message, author and size, and the way to its neighbours.
pub(super) fn version_facts(
    val: RwSignal<ExtendedVal>,
    number: VersionNumber,
    around: Fetched<Around>,
) -> AnyView {
    let is_latest = move || val.with(|val| val.version) == number;
    let label = move || is_latest().then(|| view! { <span class="label">"latest"</span> }.into_any());
    let known = move || around.value();
    let neighbour = move |rel: &'static str, version: Option<VersionNumber>| {
        version.map(|version| {
            let words = if rel == "prev" {
                format!("← v{version}")
            } else {
                format!("v{version} →")
            };
            let href = val.with(|val| {
                let username = val.author.as_ref().map(|author| author.username.to_string());
                paths::version(&username.unwrap_or_default(), val.name.as_str(), version)
            });
            view! { <a href=href rel=rel>{words}</a> }.into_any()
        })
    };
    let facts = move || {
        known().and_then(|around| around.this).map(|version| {
            let author = version.author.map(|author| author.username.to_string());
            view! {
                <RelativeTime at=version.created_at.as_millis() />
                {author.map(|author| view! { <span>"by " <a href=paths::user(&author)>{author.clone()}</a></span> }.into_any())}
                {lines_changed(version.lines_added, version.lines_removed)}
                <span>{bytes(version.size)}</span>
            }
            .into_any()
        })
    };
    let neighbours = move || {
        known().map(|around| (neighbour("prev", around.previous), neighbour("next", around.next)).into_any())
    };
    let message = move || {
        known()
            .and_then(|around| around.this)
            .and_then(|version| version.message)
            .map(|message| view! { <p class="version__message">{message}</p> }.into_any())
    };
    view! {
        <div class="version__facts">
            <h2 class="version__title">{format!("Version {number}")} " " {part(label)}</h2>
            <p class="version__line">{part(facts)} {part(neighbours)}</p>
            {part(message)}
        </div>
    }
    .into_any()
}
