//! What a client may want to know of this instance.

use axum::{Json, extract::State};
use hamlet_models::Instance;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{error::ApiError, state::AppState};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(get_instance))
}

/// Versions, the vals' host and the limits in force.
#[utoipa::path(get, path = "/v1/instance", tag = "instance",
    responses((status = 200, description = "The instance", body = Instance), ApiError))]
async fn get_instance(State(state): State<AppState>) -> Json<Instance> {
    Json(Instance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        deno_version: state.runs.deno_version().unwrap_or_default().to_owned(),
        vals_domain: state.config.vals_domain.clone(),
        limits: state.config.limits,
    })
}
