//! HTML of someone else's making.

use leptos::{html, prelude::*};

/// A page of someone else's, in a frame of no origin where nothing of it runs: `public/paper.html` shows what is posted to
/// it, under a policy of its own.
#[component]
pub fn HtmlFrame(
    /// The page.
    html: String,
    /// What a screen reader calls it.
    title: &'static str,
) -> AnyView {
    let frame = NodeRef::<html::Iframe>::new();
    let post = move |_| {
        let window = frame.get_untracked().and_then(|frame| frame.content_window());
        // A sandbox has no origin that could be named.
        let posted = window.map(|window| window.post_message(&html.as_str().into(), "*"));
        if let Some(Err(error)) = posted {
            leptos::logging::error!("a page could not be shown: {error:?}");
        }
    };
    view! {
        <iframe
            node_ref=frame
            class="html-frame"
            sandbox="allow-scripts"
            src="/paper.html"
            title=title
            on:load=post
        ></iframe>
    }
    .into_any()
}
