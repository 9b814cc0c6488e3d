//! Views whose code lies in a file of its own, fetched when they are first shown: in builds with the feature `split`, that
//! is; in others they are in the app's one file.

#[cfg(feature = "split")]
pub mod fetched;

/// A function that makes a view from its argument: `lazy!(part, |argument: Type| view)`. What is of one part shares a file.
macro_rules! lazy {
    ($part:ident, |$argument:ident: $type:ty| $view:expr) => {{
        #[cfg(feature = "split")]
        #[wasm_split_helpers::wasm_split($part, fallible)]
        fn fetch() -> $crate::ui::lazy::fetched::Answer<$type> {
            Ok(|$argument: $type| leptos::prelude::IntoAny::into_any($view))
        }
        #[cfg(feature = "split")]
        let view = |argument: $type| $crate::ui::lazy::fetched::fetched(|| Box::pin(fetch()), argument);
        #[cfg(not(feature = "split"))]
        let view = |$argument: $type| leptos::prelude::IntoAny::into_any($view);
        view
    }};
}
pub(crate) use lazy;
