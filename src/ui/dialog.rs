//! A dialog over the page.

use leptos::{html, prelude::*};

/// A dialog. The browser keeps focus in it while it is open, gives it back after, and closes it on Escape.
#[component]
pub fn Dialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Its heading.
    #[prop(into)]
    title: Signal<String>,
    /// More classes.
    #[prop(optional)]
    class: &'static str,
    /// What it shows, made anew each time it opens.
    children: ChildrenFn,
) -> AnyView {
    let element = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let Some(element) = element.get() else { return };
        match (open.get(), element.open()) {
            // After the content is there, for the browser to find what to focus.
            (true, false) => queue_microtask(move || _ = element.show_modal()),
            (false, true) => element.close(),
            _ => {}
        }
    });
    let on_close = move |_| {
        // The event comes late: by now the dialog may have been opened again.
        if !element.get_untracked().is_some_and(|element| element.open()) {
            open.set(false);
        }
    };
    let on_backdrop = move |event: leptos::ev::MouseEvent| {
        // Only the backdrop is the dialog itself: what is on it has elements of its own.
        if event.target() == event.current_target() {
            open.set(false);
        }
    };
    let content = move || {
        let children = children.clone();
        open.get().then(move || {
            view! {
                <div class="dialog__box">
                    <h2 class="dialog__title">{title}</h2>
                    {children()}
                </div>
            }
            .into_any()
        })
    };
    view! {
        <dialog
            node_ref=element
            class=format!("dialog {class}")
            aria-label=title
            on:close=on_close
            on:mousedown=on_backdrop
        >
            {content}
        </dialog>
    }
    .into_any()
}
