//! The caller's tokens.

use axum::{Json, extract::State, http::StatusCode};
use hamlet_models::{CreatedToken, NewToken, Page, PageQuery, Token, TokenId};
use hamlet_store::hash_secret;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{CurrentUser, USER_READ, USER_WRITE, new_token_secret},
    clock,
    error::{ApiError, ApiResult},
    extract::{ApiJson, ApiPage, ApiPath},
    present::Links,
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_tokens, create_token))
        .routes(routes!(delete_token))
}

/// The caller's tokens, newest first; their secrets are not kept, and so never shown again.
#[utoipa::path(get, path = "/v1/me/tokens", tag = "me", params(PageQuery),
    responses((status = 200, description = "A page of tokens", body = Page<Token>), ApiError))]
async fn list_tokens(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiPage(page): ApiPage,
) -> ApiResult<Json<Page<Token>>> {
    user.must_have(USER_READ)?;
    let tokens = state.store.list_tokens(user.id(), page).await?;
    Ok(Json(links.page("/v1/me/tokens", page, &(), tokens)))
}

/// Makes a token. A token can make no other that may do more than itself.
#[utoipa::path(post, path = "/v1/me/tokens", tag = "me", request_body = NewToken,
    responses((status = 201, description = "The token with its secret, which is shown this once", body = CreatedToken), ApiError))]
async fn create_token(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiJson(new): ApiJson<NewToken>,
) -> ApiResult<(StatusCode, Json<CreatedToken>)> {
    user.must_have(USER_WRITE)?;
    if let Some(scope) = new.scopes.iter().find(|&scope| !user.scopes.has(scope)) {
        return Err(ApiError::MissingScope(scope));
    }
    if new
        .expires_at
        .is_some_and(|expires_at| expires_at <= clock::now())
    {
        return Err(ApiError::invalid(
            "expiresAt",
            "a token expires in the future, or never",
        ));
    }
    let secret = new_token_secret();
    let token = state
        .store
        .create_token(user.id(), &new, hash_secret(&secret))
        .await?;
    Ok((StatusCode::CREATED, Json(CreatedToken { token, secret })))
}

/// Revokes a token of the caller's; it stops working at once.
#[utoipa::path(delete, path = "/v1/me/tokens/{token_id}", tag = "me",
    params(("token_id" = TokenId, Path, description = "The token")),
    responses((status = 204, description = "Revoked"), ApiError))]
async fn delete_token(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(token_id): ApiPath<TokenId>,
) -> ApiResult<StatusCode> {
    user.must_have(USER_WRITE)?;
    state.store.delete_token(user.id(), token_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
