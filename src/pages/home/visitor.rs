//! Home for who is not signed in: what this is, a val to read and call, the public vals.

use hamlet_models::{BasicVal, ExtendedVal, Page, Privacy, ValFilter, ValKind};
use leptos::prelude::*;

use crate::{
    api::ApiClient,
    components::{heading::PageHeading, loaded::loaded_part, val_row::ValRow},
    hooks::fetched::Fetched,
    paths,
    ui::{
        copy::CopyButton,
        icon::{Icon, IconName},
        skeleton::{SkeletonBox, SkeletonRows},
        state::EmptyState,
    },
};

/// How many public vals are shown.
const SHOWN: u64 = 20;

/// What Hamlet is, and what is public here.
#[component]
pub fn Visitor() -> AnyView {
    let api = expect_context::<ApiClient>();
    let vals = Fetched::new(move || async move {
        let filter = ValFilter {
            privacy: Some(Privacy::Public),
            ..ValFilter::default()
        };
        api.list_vals(&filter, SHOWN).await
    });
    // The list below says why there is none.
    let example = move || match vals.get() {
        None => view! { <SkeletonBox height="325px" /> }.into_any(),
        Some(vals) => vals.ok().and_then(example_of).into_any(),
    };
    let skeleton = || view! { <SkeletonRows rows=8 height=40 /> }.into_any();
    view! {
        <div class="door">
            <section class="welcome">
                <PageHeading title="Home">
                    "Small TypeScript programs with an address, a schedule or a mailbox, on a server of your own."
                </PageHeading>
                <p class="welcome__words">
                    "Write a val in the browser. It answers at once; each save is a version, and each run is recorded."
                </p>
                <p>
                    <a class="button button--primary" href=paths::login(None)>"Sign in"</a>
                </p>
            </section>
            {example}
        </div>
        {loaded_part(vals, skeleton, public_vals)}
    }
    .into_any()
}

/// With its heading, which would move if it were there before it is known how much of an example stands above it.
fn public_vals(vals: Page<ExtendedVal>) -> AnyView {
    view! {
        <section aria-labelledby="public-vals">
            <header class="section-heading">
                <h2 id="public-vals">"Public vals"</h2>
            </header>
            {val_list(vals)}
        </section>
    }
    .into_any()
}

fn val_list(vals: Page<ExtendedVal>) -> AnyView {
    if vals.data.is_empty() {
        return view! {
            <EmptyState title="No public vals yet">
                "When someone here makes a val public, anyone can read it on this page."
            </EmptyState>
        }
        .into_any();
    }
    let row = |val: ExtendedVal| view! { <ValRow val=val.val with_author=true /> }.into_any();
    let rows: Vec<_> = vals.data.into_iter().map(row).collect();
    view! {
        <ul class="rows" role="list">
            {rows}
        </ul>
    }
    .into_any()
}

/// The newest public HTTP val, if there is one.
fn example_of(vals: Page<ExtendedVal>) -> Option<AnyView> {
    let val = vals
        .data
        .into_iter()
        .find(|val| val.kind == ValKind::Http && val.links.endpoint.is_some())?;
    Some(view! { <Example val=val.val /> }.into_any())
}

/// A public HTTP val: its code to read, and its address to call.
#[component]
fn Example(val: BasicVal) -> AnyView {
    let endpoint = val.links.endpoint.unwrap_or_default();
    let username = val
        .author
        .map(|author| author.username.to_string())
        .unwrap_or_default();
    let page = paths::val(&username, val.name.as_str());
    view! {
        <section class="example" aria-labelledby="example">
            <header class="example__top">
                <h2 id="example">
                    <span class="example__user">{format!("{username} / ")}</span>
                    {val.name.to_string()}
                </h2>
                <a href=page>"Open the val"</a>
            </header>
            <pre class="example__code" tabindex="0" aria-label=format!("Code of {}", val.name)>
                <code>{val.code}</code>
            </pre>
            <footer class="example__call">
                <code class="example__address">{endpoint.clone()}</code>
                <CopyButton text=endpoint.clone() what="address" />
                <a class="button" href=endpoint target="_blank" rel="noopener">
                    <Icon name=IconName::External />
                    "Call it"
                </a>
            </footer>
        </section>
    }
    .into_any()
}
