//! From one page of a list to the next.

use leptos::prelude::*;

/// Links to the pages before and after this one; nothing where the list fits one page.
#[component]
pub fn Pager(
    /// The items' name, as `vals`.
    what: &'static str,
    /// How many items come before this page.
    offset: u64,
    /// How many items a page has.
    limit: u64,
    /// How many items this page has.
    shown: usize,
    /// Whether a page follows.
    more: bool,
    /// Where the page lies that begins at this offset.
    #[prop(into)]
    href: Callback<(u64,), String>,
) -> AnyView {
    if offset == 0 && !more {
        return ().into_any();
    }
    let link = move |word: &'static str, rel: &'static str, to: Option<u64>| match to {
        Some(offset) => {
            view! { <a class="button" rel=rel href=move || href.run((offset,))>{word}</a> }.into_any()
        }
        None => view! { <span class="button" aria-disabled="true">{word}</span> }.into_any(),
    };
    let last = offset + shown as u64;
    let range = if shown == 0 {
        "Nothing here".to_owned()
    } else {
        format!("{} to {last}", offset + 1)
    };
    view! {
        <nav class="pager" aria-label=format!("Pages of {what}")>
            {link("Newer", "prev", (offset > 0).then(|| offset.saturating_sub(limit)))}
            <span class="pager__range">{range}</span>
            {link("Older", "next", more.then_some(offset + limit))}
        </nav>
    }
    .into_any()
}
