//! The room that something will take once it has loaded.

use leptos::prelude::*;

/// Grey rows of the final size.
#[component]
pub fn SkeletonRows(
    /// How many rows.
    rows: usize,
    /// A row's height in pixels.
    #[prop(default = 56)]
    height: u32,
) -> AnyView {
    let row = || view! { <div class="skeleton__row" style:height=format!("{height}px")></div> }.into_any();
    let rows: Vec<_> = std::iter::repeat_with(row).take(rows).collect();
    view! {
        <div class="skeleton" aria-busy="true">
            <span class="visually-hidden" role="status">"Loading"</span>
            {rows}
        </div>
    }
    .into_any()
}

/// A grey box of the final size.
#[component]
pub fn SkeletonBox(
    /// Its height in CSS, as `120px` or `60vh`.
    #[prop(into)]
    height: String,
) -> AnyView {
    view! {
        <div class="skeleton" aria-busy="true">
            <span class="visually-hidden" role="status">"Loading"</span>
            <div class="skeleton__box" style:height=height></div>
        </div>
    }
    .into_any()
}
