//! A route's page: in the app's one file, or, with the feature `split`, in a file of its own that is fetched when the page
//! is first opened.

#[cfg(feature = "split")]
pub(super) mod fetched;

/// The view of a component that is a page: `page!(part, Component)`. Pages of one part share a file.
macro_rules! page {
    ($part:ident, $page:path) => {{
        #[cfg(feature = "split")]
        #[wasm_split_helpers::wasm_split($part, fallible)]
        fn fetch() -> $crate::app::page::fetched::Answer {
            Ok(|| $page().into_any())
        }
        #[cfg(feature = "split")]
        let view = || $crate::app::page::fetched::fetched(|| Box::pin(fetch()));
        #[cfg(not(feature = "split"))]
        let view = || $page().into_any();
        view
    }};
}
pub(super) use page;
