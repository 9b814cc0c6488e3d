//! Home for who is not signed in: what this is, a val to read and call, the public vals.

use hamlet_models::{ExtendedVal, Page, Privacy, ValFilter, ValKind};
use leptos::prelude::*;

use crate::{
    api::ApiClient,
    components::{heading::PageHeading, loaded::loaded_part, val_row::ValRow},
    paths,
    ui::{
        copy::CopyButton,
        icon::{Icon, IconName},
        skeleton::SkeletonRows,
        state::EmptyState,
    },
};

/// How many public vals are shown.
const SHOWN: u64 = 20;
/// The longest example, in lines.
const EXAMPLE_LINES: usize = 24;

/// What Hamlet is, and what is public here.
#[component]
pub fn Visitor() -> AnyView {
    let api = expect_context::<ApiClient>();
    let vals = LocalResource::new(move || async move {
        let filter = ValFilter {
            privacy: Some(Privacy::Public),
            ..ValFilter::default()
        };
        api.list_vals(&filter, SHOWN).await
    });
    let skeleton = || view! { <SkeletonRows rows=8 height=44 /> }.into_any();
    view! {
        <section class="welcome">
            <PageHeading title="Home">
                "Small TypeScript programs with an address, a schedule or a mailbox, on a server of your own."
            </PageHeading>
            <p class="welcome__words">
                "Write a val in the browser. Each save is a version, each run is recorded, and it answers at once."
            </p>
            <p>
                <a class="button button--primary" href=paths::login(None)>"Sign in"</a>
            </p>
        </section>
        {loaded_part(vals, skeleton, public_vals)}
    }
    .into_any()
}

fn public_vals(vals: Page<ExtendedVal>) -> AnyView {
    if vals.data.is_empty() {
        return view! {
            <EmptyState title="No public vals yet">
                "When someone here makes a val public, anyone can read it on this page."
            </EmptyState>
        }
        .into_any();
    }
    let example = vals
        .data
        .iter()
        .find(|val| val.kind == ValKind::Http && val.links.endpoint.is_some());
    let example = example.map(|val| view! { <Example val=val.clone() /> }.into_any());
    let rows: Vec<_> = vals
        .data
        .into_iter()
        .map(|val| view! { <ValRow val=val.val with_author=true /> }.into_any())
        .collect();
    view! {
        {example}
        <section aria-labelledby="public-vals">
            <header class="section-heading">
                <h2 id="public-vals" class="heading">"Public vals"</h2>
            </header>
            <ul class="rows" role="list">
                {rows}
            </ul>
        </section>
    }
    .into_any()
}

/// A public HTTP val: its code to read, and its address to call.
#[component]
fn Example(val: ExtendedVal) -> AnyView {
    let endpoint = val.links.endpoint.clone().unwrap_or_default();
    let username = val
        .author
        .as_ref()
        .map(|author| author.username.to_string())
        .unwrap_or_default();
    let code = val.code.as_deref().unwrap_or_default();
    let lines: Vec<_> = code.lines().take(EXAMPLE_LINES).collect();
    let cut = code.lines().nth(EXAMPLE_LINES).is_some();
    let page = paths::val(&username, val.name.as_str());
    view! {
        <section class="example" aria-labelledby="example">
            <header class="example__top">
                <h2 id="example">
                    <span class="example__user">{format!("{username} / ")}</span>
                    {val.name.to_string()}
                </h2>
                <a href=page.clone()>"Open the val"</a>
            </header>
            <pre class="example__code" tabindex="0" aria-label=format!("Code of {}", val.name)>
                <code>{lines.join("\n")}</code>
            </pre>
            {cut.then(|| view! { <p class="example__cut"><a href=page>"Read the rest"</a></p> }.into_any())}
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
