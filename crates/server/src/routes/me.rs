//! The caller's own account.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use hamlet_models::{Me, MeUpdate, PasswordChange, Scope};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::sessions::start_session;
use crate::{
    auth::{Credential, CurrentUser, USER_READ, USER_WRITE},
    error::{ApiError, ApiResult},
    extract::{ApiJson, ClientAddress},
    present::Links,
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(get_me, update_me))
        .routes(routes!(change_password))
}

/// The caller.
#[utoipa::path(get, path = "/v1/me", tag = "me",
    responses((status = 200, description = "The caller", body = Me), ApiError))]
async fn get_me(user: CurrentUser, links: Links) -> ApiResult<Json<Me>> {
    user.must_have(USER_READ)?;
    Ok(Json(links.me(&user.user)))
}

/// Changes the caller's profile.
#[utoipa::path(put, path = "/v1/me", tag = "me", request_body = MeUpdate,
    responses((status = 200, description = "The caller as it is now", body = Me), ApiError))]
async fn update_me(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiJson(update): ApiJson<MeUpdate>,
) -> ApiResult<Json<Me>> {
    user.must_have(USER_WRITE)?;
    let user = state.store.update_user(user.id(), &update).await?;
    Ok(Json(links.me(&user)))
}

/// Sets or changes the caller's password, and ends every other session of theirs.
#[utoipa::path(post, path = "/v1/me/password", tag = "me", request_body = PasswordChange,
    responses((status = 204, description = "Changed"), ApiError))]
async fn change_password(
    State(state): State<AppState>,
    user: CurrentUser,
    ClientAddress(address): ClientAddress,
    ApiJson(change): ApiJson<PasswordChange>,
) -> ApiResult<Response> {
    user.must_have(USER_WRITE)?;
    if let Some(hash) = &user.user.password_hash {
        let name = user.user.username.as_str();
        state.sign_ins.attempt(name, address)?;
        let current = change.current.unwrap_or_default();
        if !state
            .passwords
            .verify(current, Some(hash))
            .await
            .map_err(ApiError::Internal)?
        {
            return Err(ApiError::invalid("current", "this is not the password in force"));
        }
        state.sign_ins.succeeded(name, address);
    } else if let Some(scope) = Scope::all().find(|&scope| !user.scopes.has(scope)) {
        // A password opens everything: a token that can't must not set the first one.
        return Err(ApiError::MissingScope(scope));
    }
    let hash = state
        .passwords
        .hash(change.new)
        .await
        .map_err(ApiError::Internal)?;
    state.store.set_password_hash(user.id(), hash).await?;
    state.store.delete_sessions(user.id()).await?;
    let mut headers = HeaderMap::new();
    if user.credential == Credential::Session {
        headers.insert(header::SET_COOKIE, start_session(&state, user.id()).await?);
    }
    Ok((StatusCode::NO_CONTENT, headers).into_response())
}
