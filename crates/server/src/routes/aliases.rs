//! Users and vals by their names.

use axum::{Json, extract::State};
use hamlet_models::{ExtendedVal, User};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{MaybeUser, USER_READ, VAL_READ},
    error::{ApiError, ApiResult},
    extract::ApiPath,
    present::{Links, ValAnswer},
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(get_user_by_name))
        .routes(routes!(get_val_by_name))
}

/// The user of this name; case and a leading `@` don't matter.
#[utoipa::path(get, path = "/v1/alias/{username}", tag = "aliases",
    params(("username" = String, Path, description = "The user's name")),
    responses((status = 200, description = "The user", body = User), ApiError))]
async fn get_user_by_name(
    State(state): State<AppState>,
    viewer: MaybeUser,
    links: Links,
    ApiPath(username): ApiPath<String>,
) -> ApiResult<Json<User>> {
    viewer.must_have(USER_READ)?;
    let user = state.store.find_user(without_at(&username)).await?;
    Ok(Json(links.user(&user)))
}

/// The val of these names; case and a leading `@` don't matter.
#[utoipa::path(get, path = "/v1/alias/{username}/{val_name}", tag = "aliases",
    params(
        ("username" = String, Path, description = "The owner's name"),
        ("val_name" = String, Path, description = "The val's name"),
    ),
    responses((status = 200, description = "The val", body = ExtendedVal), ApiError))]
async fn get_val_by_name(
    State(state): State<AppState>,
    viewer: MaybeUser,
    links: Links,
    ApiPath((username, val_name)): ApiPath<(String, String)>,
) -> ApiResult<ValAnswer> {
    viewer.must_have(VAL_READ)?;
    let val = state.store.find_val(without_at(&username), &val_name).await?;
    viewer.must_see(&val)?;
    Ok(ValAnswer(links.extended_val(&val)))
}

fn without_at(username: &str) -> &str {
    username.strip_prefix('@').unwrap_or(username)
}
