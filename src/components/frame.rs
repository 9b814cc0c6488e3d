//! The frame around every page.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::{
    components::{
        palette::{Palette, PaletteProps},
        shortcuts::ShortcutsDialog,
        top_bar::TopBar,
    },
    hooks::{
        connection::Connection,
        document::FocusHeading,
        shortcuts::{is_mod, is_typing, on_key, on_mod_key},
    },
    ui::{button::Button, lazy::lazy},
};

/// The skip link, the top bar, a word when the server is gone, the page, and what opens over it.
#[component]
pub fn Frame(
    /// The page.
    children: Children,
) -> AnyView {
    let palette = RwSignal::new(false);
    let shortcuts = RwSignal::new(false);
    on_mod_key("k", move || palette.set(true));
    on_key(move |event| {
        if is_mod(&event) || event.alt_key() || is_typing(&event) || event.default_prevented() {
            return;
        }
        match event.key().as_str() {
            "/" => palette.set(true),
            "?" => shortcuts.set(true),
            _ => return,
        }
        event.prevent_default();
    });

    let navigated = RwSignal::new(false);
    provide_context(FocusHeading(navigated));
    let path = use_location().pathname;
    Effect::new(move |before: Option<String>| {
        let path = path.get();
        if before.is_some_and(|before| before != path) {
            navigated.set(true);
        }
        path
    });

    // Once it was opened it stays: it shows and hides by itself.
    let wanted = Memo::new(move |before: Option<&bool>| palette.get() || before == Some(&true));
    let palette_box = move || {
        wanted.get().then(|| {
            let view = lazy!(account, |props: PaletteProps| Palette(props));
            view(PaletteProps::builder().open(palette).shortcuts(shortcuts).build())
        })
    };

    view! {
        <a class="skip-link" href="#main">"Skip to the content"</a>
        <TopBar palette shortcuts />
        <ConnectionBanner />
        <main id="main" class="page" tabindex="-1">
            {children()}
        </main>
        {palette_box}
        <ShortcutsDialog open=shortcuts />
    }
    .into_any()
}

/// Says that the server can't be reached, as long as that is so.
#[component]
pub fn ConnectionBanner() -> AnyView {
    let connection = expect_context::<Connection>();
    let banner = move || {
        (!connection.is_up()).then(|| {
            view! {
                <div class="banner">
                    <p>"Can’t reach the server. Trying again by itself; what you type stays here."</p>
                    <Button on_click=move |()| connection.retry()>"Try now"</Button>
                </div>
            }
            .into_any()
        })
    };
    view! { <div role="status">{banner}</div> }.into_any()
}
