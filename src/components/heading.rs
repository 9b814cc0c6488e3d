//! A page's heading.

use leptos::{html, prelude::*};

use crate::hooks::document::{use_heading_focus, use_title};

/// A page's one heading: it titles the document and gets focus after a navigation.
#[component]
pub fn PageHeading(
    /// The document's title, without the app's name.
    #[prop(into)]
    title: Signal<String>,
    /// What the heading shows; the title if left out.
    #[prop(optional)]
    children: Option<Children>,
) -> AnyView {
    let heading = NodeRef::<html::H1>::new();
    use_title(title);
    use_heading_focus(heading);
    let content = match children {
        Some(children) => children(),
        None => view! { {title} }.into_any(),
    };
    view! {
        <h1 class="heading" tabindex="-1" node_ref=heading>
            {content}
        </h1>
    }
    .into_any()
}
