//! Versions: saving, looking back, deleting.

use axum::{
    Json,
    extract::{FromRequestParts, State},
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use hamlet_models::{ExtendedVal, NewVersion, Page, PageQuery, ValId, Version, VersionNumber};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{CurrentUser, MaybeUser, VAL_READ, VAL_WRITE},
    error::{ApiError, ApiResult},
    extract::{ApiCode, ApiPage, ApiPath, VersionInPath},
    present::{Links, ValAnswer},
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_versions, create_version))
        .routes(routes!(get_version, delete_version))
}

/// A val's versions, newest first.
#[utoipa::path(get, path = "/v1/vals/{val_id}/versions", tag = "versions",
    params(("val_id" = ValId, Path, description = "The val"), PageQuery),
    responses((status = 200, description = "A page of versions", body = Page<Version>), ApiError))]
async fn list_versions(
    State(state): State<AppState>,
    viewer: MaybeUser,
    links: Links,
    ApiPath(val_id): ApiPath<ValId>,
    ApiPage(page): ApiPage,
) -> ApiResult<Json<Page<Version>>> {
    viewer.must_have(VAL_READ)?;
    let val = state.store.get_val(val_id).await?;
    viewer.must_see(&val)?;
    let versions = state.store.list_versions(val_id, page).await?;
    Ok(Json(links.page(
        &format!("/v1/vals/{val_id}/versions"),
        page,
        &(),
        versions,
    )))
}

/// Saves a version; the owner's alone to do. With `If-Match`, only if that is the latest version.
///
/// The body may also be the bare code, as `text/plain`, `text/javascript`, `application/javascript`,
/// `text/typescript` or `application/typescript`.
#[utoipa::path(post, path = "/v1/vals/{val_id}/versions", tag = "versions", request_body = NewVersion,
    params(
        ("val_id" = ValId, Path, description = "The val"),
        ("If-Match" = Option<String>, Header, description = "The latest version's number that the save follows, in quotes"),
    ),
    responses(
        (status = 201, description = "The val at its new version", body = ExtendedVal),
        (status = 200, description = "Nothing differs from the latest version: no new one was made", body = ExtendedVal),
        ApiError,
    ))]
async fn create_version(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiPath(val_id): ApiPath<ValId>,
    IfMatch(expected): IfMatch,
    ApiCode(new): ApiCode<NewVersion>,
) -> ApiResult<Response> {
    user.must_have(VAL_WRITE)?;
    let val = state.store.get_val(val_id).await?;
    user.must_own(&val)?;
    let saved = state
        .store
        .create_version(val_id, user.id(), &new, expected)
        .await?;
    let status = if saved.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let mut val = links.extended_val(&saved.val);
    if saved.created {
        val.warnings = state.runs.lock_imports(&saved.val).await;
    }
    Ok((status, ValAnswer(val)).into_response())
}

/// A val as of one version.
#[utoipa::path(get, path = "/v1/vals/{val_id}/versions/{version}", tag = "versions",
    params(
        ("val_id" = ValId, Path, description = "The val"),
        ("version" = VersionNumber, Path, description = "The version's number"),
    ),
    responses((status = 200, description = "The val with that version's code", body = ExtendedVal), ApiError))]
async fn get_version(
    State(state): State<AppState>,
    viewer: MaybeUser,
    links: Links,
    ApiPath((val_id, VersionInPath(version))): ApiPath<(ValId, VersionInPath)>,
) -> ApiResult<ValAnswer> {
    viewer.must_have(VAL_READ)?;
    let val = state.store.get_val(val_id).await?;
    viewer.must_see(&val)?;
    let val = state.store.get_version(val_id, version).await?;
    Ok(ValAnswer(links.extended_val(&val)))
}

/// Deletes a version; the owner's alone to do. The highest that remains becomes the latest; the only one stays.
#[utoipa::path(delete, path = "/v1/vals/{val_id}/versions/{version}", tag = "versions",
    params(
        ("val_id" = ValId, Path, description = "The val"),
        ("version" = VersionNumber, Path, description = "The version's number"),
    ),
    responses((status = 204, description = "Deleted"), ApiError))]
async fn delete_version(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath((val_id, VersionInPath(version))): ApiPath<(ValId, VersionInPath)>,
) -> ApiResult<StatusCode> {
    user.must_have(VAL_WRITE)?;
    let val = state.store.get_val(val_id).await?;
    user.must_own(&val)?;
    state.store.delete_version(val_id, version).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The version that the caller has seen: what `ETag` said. `None` if it doesn't care.
struct IfMatch(Option<VersionNumber>);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> ApiResult<Self> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else {
            return Ok(Self(None));
        };
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Ok(Self(None));
        }
        let text = text.strip_prefix("W/").unwrap_or(text).trim_matches('"');
        let version = text.parse().map_err(|_| {
            ApiError::Malformed("If-Match is the number of a version in quotes, like \"3\"".to_owned())
        })?;
        Ok(Self(Some(version)))
    }
}
