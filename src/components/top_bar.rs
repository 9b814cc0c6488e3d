//! The bar on top of every page.

use hamlet_models::Me;
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_navigate};

use crate::{
    hooks::{
        session::use_session,
        theme::{Scheme, Theme},
    },
    paths,
    ui::{
        icon::{Icon, IconName},
        menu::Menu,
    },
};

/// Mark and name, search, New val, account.
#[component]
pub fn TopBar(
    /// Opens the palette.
    palette: RwSignal<bool>,
    /// Opens the list of shortcuts.
    shortcuts: RwSignal<bool>,
) -> AnyView {
    let session = use_session();
    let account = move || match session.get() {
        None => view! { <span class="top-bar__waiting"></span> }.into_any(),
        Some(Ok(Some(me))) => signed_in(&me, shortcuts),
        Some(Ok(None) | Err(_)) => signed_out(shortcuts),
    };
    view! {
        <header class="top-bar">
            <a class="top-bar__home" href=paths::home()>
                <svg class="top-bar__mark" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
                    <path d="M3 11.5 12 4l9 7.5V20H3z" />
                    <path d="M9.5 20v-5.5h5V20" />
                </svg>
                <span class="top-bar__name">"Hamlet"</span>
            </a>
            <button
                type="button"
                class="top-bar__search"
                aria-keyshortcuts="/ Control+K"
                on:click=move |_| palette.set(true)
            >
                <Icon name=IconName::Search />
                <span class="top-bar__search-text">"Search"</span>
                <kbd aria-hidden="true">"/"</kbd>
            </button>
            <div class="top-bar__end">{account}</div>
        </header>
    }
    .into_any()
}

fn signed_in(me: &Me, shortcuts: RwSignal<bool>) -> AnyView {
    let session = use_session();
    let username = me
        .user
        .username
        .as_ref()
        .map(|name| name.as_str().to_owned())
        .unwrap_or_default();
    let navigate = use_navigate();
    let leave = Callback::new(move |()| navigate(&paths::home(), Default::default()));
    let own_page = paths::user(&username);
    let shown = username.clone();
    view! {
        <a class="button button--primary top-bar__new" href=paths::new_val(None)>
            <Icon name=IconName::Plus />
            "New val"
        </a>
        <Menu
            label=format!("Account of {username}")
            button=move || view! { <Icon name=IconName::User /> <span class="top-bar__user">{shown}</span> }
        >
            <a class="menu__item" href=own_page.clone()>"Your page"</a>
            <a class="menu__item" href=paths::settings()>"Settings"</a>
            <a class="menu__item" href=paths::outbox()>"Outbox"</a>
            <hr />
            <ThemeItems />
            <hr />
            <button type="button" class="menu__item" on:click=move |_| shortcuts.set(true)>
                "Keyboard shortcuts"
            </button>
            <button type="button" class="menu__item" on:click=move |_| session.sign_out(leave)>"Sign out"</button>
        </Menu>
    }
    .into_any()
}

fn signed_out(shortcuts: RwSignal<bool>) -> AnyView {
    let path = use_location().pathname;
    let sign_in = move || match path.get().as_str() {
        "/" | "/login" => paths::login(None),
        path => paths::login(Some(path)),
    };
    view! {
        <a class="button top-bar__new" href=sign_in>"Sign in"</a>
        <Menu label="More" button=|| view! { <Icon name=IconName::More /> }>
            <ThemeItems />
            <hr />
            <button type="button" class="menu__item" on:click=move |_| shortcuts.set(true)>
                "Keyboard shortcuts"
            </button>
        </Menu>
    }
    .into_any()
}

/// The switch between the colour schemes.
#[component]
fn ThemeItems() -> AnyView {
    let theme = expect_context::<Theme>();
    let item = move |scheme: Scheme| {
        let word = match scheme {
            Scheme::System => "Theme: as the system",
            Scheme::Light => "Theme: light",
            Scheme::Dark => "Theme: dark",
        };
        view! {
            <button
                type="button"
                class="menu__item menu__item--choice"
                aria-pressed=move || (theme.get() == scheme).to_string()
                on:click=move |_| theme.set(scheme)
            >
                {word}
            </button>
        }
        .into_any()
    };
    Scheme::ALL.map(item).into_any()
}
