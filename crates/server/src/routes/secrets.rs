//! The caller's secrets: environment variables of their vals. Values go in, and never come out here.

use axum::{Json, extract::State, http::StatusCode};
use hamlet_models::{Page, PageQuery, Secret, SecretName, SecretUpdate, ValId};
use hamlet_store::{Slice, StoreError};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{CurrentUser, USER_READ, USER_WRITE},
    error::{ApiError, ApiResult},
    extract::{ApiJson, ApiPage, ApiPath},
    present::Links,
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_secrets))
        .routes(routes!(set_secret, delete_secret))
}

/// The caller's secrets, by name, without their values: those are never answered.
#[utoipa::path(get, path = "/v1/me/secrets", tag = "me", params(PageQuery),
    responses((status = 200, description = "A page of secrets", body = Page<Secret>), ApiError))]
async fn list_secrets(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiPage(page): ApiPage,
) -> ApiResult<Json<Page<Secret>>> {
    user.must_have(USER_READ)?;
    let secrets = state.store.list_secrets(user.id()).await?;
    let from = usize::try_from(page.offset)
        .unwrap_or(usize::MAX)
        .min(secrets.len());
    let until = from
        .saturating_add(usize::try_from(page.limit).unwrap_or(usize::MAX))
        .min(secrets.len());
    let slice = Slice {
        items: secrets[from..until]
            .iter()
            .map(|record| record.secret.clone())
            .collect(),
        more: until < secrets.len(),
    };
    Ok(Json(links.page("/v1/me/secrets", page, &(), slice)))
}

/// Sets a secret: its value, which vals get it, or both. The next run has it.
#[utoipa::path(put, path = "/v1/me/secrets/{name}", tag = "me", request_body = SecretUpdate,
    params(("name" = SecretName, Path, description = "The environment variable")),
    responses((status = 200, description = "The secret, without its value", body = Secret), ApiError))]
async fn set_secret(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(name): ApiPath<SecretName>,
    ApiJson(update): ApiJson<SecretUpdate>,
) -> ApiResult<Json<Secret>> {
    user.must_have(USER_WRITE)?;
    ApiError::check(
        name.problem()
            .map(|problem| ("name", problem))
            .into_iter()
            .collect(),
    )?;
    if let Some(Some(vals)) = &update.val_ids {
        must_own_all(&state, &user, vals).await?;
    }
    let sealed = match &update.value {
        Some(value) => Some(
            state
                .runs
                .seal_secret(user.id(), &name, value)
                .map_err(ApiError::Internal)?,
        ),
        None => None,
    };
    let secret = state
        .store
        .set_secret(user.id(), &name, sealed, update.val_ids)
        .await?;
    Ok(Json(secret))
}

/// Deletes a secret. The next run is without it.
#[utoipa::path(delete, path = "/v1/me/secrets/{name}", tag = "me",
    params(("name" = SecretName, Path, description = "The environment variable")),
    responses((status = 204, description = "Deleted"), ApiError))]
async fn delete_secret(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(name): ApiPath<SecretName>,
) -> ApiResult<StatusCode> {
    user.must_have(USER_WRITE)?;
    state.store.delete_secret(user.id(), &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn must_own_all(state: &AppState, user: &CurrentUser, vals: &[ValId]) -> ApiResult<()> {
    for &id in vals {
        let owned = match state.store.get_val(id).await {
            Ok(val) => val.owner.id == user.id(),
            Err(StoreError::NotFound(_)) => false,
            Err(error) => return Err(error.into()),
        };
        if !owned {
            return Err(ApiError::invalid("valIds", format!("{id} is no val of yours")));
        }
    }
    Ok(())
}
