//! The frame around every page, and every route.

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::{
    PartialPathMatch, PathSegment, PossibleRouteMatch,
    components::{FlatRoutes, Route, Router},
    path,
};

use crate::{
    api::ApiClient,
    components::frame::Frame,
    hooks::{clock::Clock, connection::Connection, session::Session, steps::Steps, theme::Theme},
    pages::{
        home::HomePage, login::LoginPage, new::NewValPage, not_found::NotFoundPage, outbox::OutboxPage,
        run::RunPage, runs::RunsPage, settings::SettingsPage, user::UserPage, val::ValPage,
        val::settings::ValSettingsPage, version::VersionPage, versions::VersionsPage,
    },
    ui::lazy::lazy,
};

/// The view of a page, whose code is fetched when it is first opened. Pages of one part share a file.
macro_rules! page {
    ($part:ident, $page:path) => {{
        let view: fn() -> AnyView = || lazy!($part, |_none: ()| $page())(());
        view
    }};
}

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

/// Puts in place what every page may ask for: the client, the session, the clock, the theme, and what
/// listens ahead of the router, which comes after.
pub fn provide_app_context(api: ApiClient) {
    provide_context(api);
    provide_context(Steps::watch());
    provide_context(Theme::new());
    provide_context(Clock::start());
    provide_context(Connection::watch(api));
    provide_context(Session::new(api));
}

/// Routes are of one type, so that the router's code exists once.
fn routes() -> AnyView {
    view! {
        <FlatRoutes fallback=|| NotFoundPage().into_any()>
            <Route path=Path::of(path!("/")) view=page!(home, HomePage) />
            <Route path=Path::of(path!("/login")) view=page!(account, LoginPage) />
            <Route path=Path::of(path!("/settings")) view=page!(account, SettingsPage) />
            <Route path=Path::of(path!("/outbox")) view=page!(account, OutboxPage) />
            <Route path=Path::of(path!("/new")) view=page!(account, NewValPage) />
            <Route path=Path::of(path!("/u/:username")) view=page!(home, UserPage) />
            <Route path=Path::of(path!("/v/:username/:val")) view=page!(val, ValPage) />
            <Route path=Path::of(path!("/v/:username/:val/settings")) view=page!(account, ValSettingsPage) />
            <Route path=Path::of(path!("/v/:username/:val/versions")) view=page!(history, VersionsPage) />
            <Route path=Path::of(path!("/v/:username/:val/versions/:version")) view=page!(history, VersionPage) />
            <Route path=Path::of(path!("/v/:username/:val/runs")) view=page!(history, RunsPage) />
            <Route path=Path::of(path!("/runs/:run_id")) view=page!(history, RunPage) />
        </FlatRoutes>
    }
    .into_any()
}

/// A path of whatever parts.
#[derive(Clone)]
struct Path(Arc<dyn PossibleRouteMatch + Send + Sync>);

impl Path {
    fn of(parts: impl PossibleRouteMatch + Send + Sync + 'static) -> Self {
        Self(Arc::new(parts))
    }
}

impl PossibleRouteMatch for Path {
    fn optional(&self) -> bool {
        self.0.optional()
    }

    fn test<'a>(&self, path: &'a str) -> Option<PartialPathMatch<'a>> {
        self.0.test(path)
    }

    fn generate_path(&self, path: &mut Vec<PathSegment>) {
        self.0.generate_path(path);
    }
}
