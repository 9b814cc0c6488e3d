//! Whether the server works.

use axum::{Json, extract::State};
use serde_json::{Value, json};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    error::{ApiError, ApiResult},
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(get_health))
}

/// Answers 200 while the server can reach its database.
#[utoipa::path(get, path = "/healthz", tag = "instance",
    responses((status = 200, description = "All is well", body = Object, example = json!({"status": "ok"})), ApiError))]
async fn get_health(State(state): State<AppState>) -> ApiResult<Json<Value>> {
    if let Err(error) = state.store.ping().await {
        tracing::error!(%error, "the database does not answer");
        return Err(ApiError::Unavailable(
            "the database does not answer: the server's log has the cause",
        ));
    }
    Ok(Json(json!({"status": "ok"})))
}
