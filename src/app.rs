//! The frame around every page, and every route.

mod page;

use leptos::prelude::*;
use leptos_router::{
    components::{FlatRoutes, Route, Router},
    path,
};

use self::page::page;
use crate::{
    api::ApiClient,
    components::frame::Frame,
    hooks::{clock::Clock, connection::Connection, session::Session, theme::Theme},
    pages::{
        home::HomePage, login::LoginPage, new::NewValPage, not_found::NotFoundPage, run::RunPage,
        runs::RunsPage, settings::SettingsPage, user::UserPage, val::ValPage, val::settings::ValSettingsPage,
        version::VersionPage, versions::VersionsPage,
    },
};

/// The whole app.
#[component]
pub fn App() -> impl IntoView {
    provide_app_context(ApiClient::from_page());
    view! {
        <Router>
            <Frame>{routes()}</Frame>
        </Router>
    }
}

/// Puts in place what every page may ask for: the client, the session, the clock, the theme.
pub fn provide_app_context(api: ApiClient) {
    provide_context(api);
    provide_context(Theme::new());
    provide_context(Clock::start());
    provide_context(Connection::watch(api));
    provide_context(Session::new(api));
}

/// Each page is a view of one type, so that the router's code exists once.
fn routes() -> AnyView {
    view! {
        <FlatRoutes fallback=|| NotFoundPage().into_any()>
            <Route path=path!("/") view=page!(account, HomePage) />
            <Route path=path!("/login") view=page!(account, LoginPage) />
            <Route path=path!("/settings") view=page!(account, SettingsPage) />
            <Route path=path!("/new") view=page!(account, NewValPage) />
            <Route path=path!("/u/:username") view=page!(account, UserPage) />
            <Route path=path!("/v/:username/:val") view=page!(val, ValPage) />
            <Route path=path!("/v/:username/:val/settings") view=page!(account, ValSettingsPage) />
            <Route path=path!("/v/:username/:val/versions") view=page!(history, VersionsPage) />
            <Route path=path!("/v/:username/:val/versions/:version") view=page!(history, VersionPage) />
            <Route path=path!("/v/:username/:val/runs") view=page!(history, RunsPage) />
            <Route path=path!("/runs/:run_id") view=page!(history, RunPage) />
        </FlatRoutes>
    }
    .into_any()
}
