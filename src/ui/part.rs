//! Parts of a view that change.

use leptos::prelude::*;

/// A part of a view that is made anew when what it reads changes. All such parts are of one type: the code that keeps
/// them up to date is in the app once, not once a part.
pub fn part<V: IntoView + 'static>(show: impl Fn() -> V + Send + 'static) -> AnyView {
    let show: Box<dyn Fn() -> AnyView + Send> = Box::new(move || show().into_any());
    show.into_any()
}
