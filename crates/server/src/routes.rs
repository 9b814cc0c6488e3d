//! Every route of the server: one file a resource, merged here.

mod sessions;

mod me;
mod secrets;
mod tokens;

mod aliases;
mod users;

mod vals;
mod versions;

mod eval;
mod run;
mod runs;

mod modules;

mod blob;
mod email;
mod sqlite;

mod health;
mod instance;
mod markdown;
mod openapi;

use axum::Router;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::{error::ApiError, state::AppState, static_app};

/// The router.
pub fn router(state: &AppState) -> Router {
    Router::from(described())
        .fallback(static_app::answer)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .with_state(state.clone())
}

/// The OpenAPI document of everything that the router answers.
pub fn document() -> OpenApi {
    described().into_openapi()
}

fn described() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(openapi::frame())
        .merge(sessions::router())
        .merge(me::router())
        .merge(tokens::router())
        .merge(secrets::router())
        .merge(users::router())
        .merge(aliases::router())
        .merge(vals::router())
        .merge(versions::router())
        .merge(runs::router())
        .merge(run::router())
        .merge(eval::router())
        .merge(modules::router())
        .merge(blob::router())
        .merge(email::router())
        .merge(sqlite::router())
        .merge(instance::router())
        .merge(markdown::router())
        .merge(health::router())
        .merge(openapi::router())
}
