//! Signing in and out.

use std::{net::IpAddr, time::Duration};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use hamlet_models::{Me, NewSession, UserId};
use hamlet_store::{StoreError, UserRecord, hash_secret};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{
        Credential, MaybeUser, SESSION_SECONDS, USER_READ, by_secret, must_be_same_origin, new_secret,
        session_cookie, session_cookie_gone, session_of,
    },
    clock,
    error::{ApiError, ApiResult},
    extract::{ApiJson, ClientAddress},
    present::Links,
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(get_session, create_session, delete_session))
}

/// Who is signed in; `null` if nobody is, which is no failure here, unlike at `/v1/me`.
#[utoipa::path(get, path = "/v1/session", tag = "session",
    responses((status = 200, description = "Who is signed in, or null", body = Option<Me>), ApiError))]
async fn get_session(viewer: MaybeUser, links: Links) -> ApiResult<Json<Option<Me>>> {
    viewer.must_have(USER_READ)?;
    Ok(Json(viewer.0.map(|user| links.me(&user.user))))
}

/// Signs in by name and password, by token, or by the one-time link; the answer sets a cookie.
#[utoipa::path(post, path = "/v1/session", tag = "session", request_body = NewSession,
    responses((status = 200, description = "Who is signed in now", body = Me), ApiError))]
async fn create_session(
    State(state): State<AppState>,
    headers: HeaderMap,
    links: Links,
    ClientAddress(address): ClientAddress,
    ApiJson(new): ApiJson<NewSession>,
) -> ApiResult<Response> {
    // Another site could sign its visitor in as someone else, and read what they then write.
    must_be_same_origin(&state, &headers)?;
    let (me, cookie) =
        match new {
            NewSession::Password { username, password } => {
                let user = check_password(&state, &username, password, address).await?;
                (links.me(&user), start_session(&state, user.id).await?)
            }
            NewSession::Token { token } => {
                let user = by_secret(&state, token.trim()).await?;
                let user = user.filter(|user| user.credential == Credential::Token).ok_or(
                    ApiError::BadCredentials("this token is unknown, expired or revoked"),
                )?;
                // The cookie is the token itself: it can do no more than the token, and ends with it.
                (
                    links.me(&user.user),
                    session_cookie(token.trim(), state.config.is_https()),
                )
            }
            NewSession::Link { link } => {
                let user_id = state.store.take_sign_in_link(hash_secret(&link)).await?.ok_or(
                    ApiError::BadCredentials(
                        "this link was used before or is too old: start the server again for a new one",
                    ),
                )?;
                let user = state.store.get_user(user_id).await?;
                (links.me(&user), start_session(&state, user_id).await?)
            }
        };
    Ok(([(header::SET_COOKIE, cookie)], Json(me)).into_response())
}

/// Signs out; who is not signed in stays so.
#[utoipa::path(delete, path = "/v1/session", tag = "session",
    responses((status = 204, description = "Signed out"), ApiError))]
async fn delete_session(
    State(state): State<AppState>,
    // Also refuses other sites that would sign their visitor out.
    _viewer: MaybeUser,
    headers: HeaderMap,
) -> ApiResult<Response> {
    if let Some(secret) = session_of(&headers, state.config.is_https()) {
        state.store.delete_session(hash_secret(secret)).await?;
    }
    let cookie = session_cookie_gone(state.config.is_https());
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// Whose name and password these are. Every refusal is the same and takes as long, whether there is such a user or not.
async fn check_password(
    state: &AppState,
    username: &str,
    password: String,
    address: IpAddr,
) -> ApiResult<std::sync::Arc<UserRecord>> {
    state.sign_ins.attempt(username, address)?;
    let user = match state.store.find_user(username).await {
        Ok(user) => Some(user),
        Err(StoreError::NotFound(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let hash = user.as_ref().and_then(|user| user.password_hash.as_deref());
    let known = state
        .passwords
        .verify(password, hash)
        .await
        .map_err(ApiError::Internal)?;
    match user {
        Some(user) if known => {
            state.sign_ins.succeeded(username, address);
            Ok(user)
        }
        _ => Err(ApiError::BadCredentials(
            "this name and password don't belong together",
        )),
    }
}

/// Starts a session and answers its cookie.
pub(super) async fn start_session(state: &AppState, user_id: UserId) -> ApiResult<HeaderValue> {
    let secret = new_secret();
    let expires_at = clock::after(Duration::from_secs(SESSION_SECONDS));
    state
        .store
        .create_session(user_id, hash_secret(&secret), expires_at)
        .await?;
    Ok(session_cookie(&secret, state.config.is_https()))
}
