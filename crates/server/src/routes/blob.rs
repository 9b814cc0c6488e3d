//! The caller's blobs.

use axum::{
    Json,
    body::Body,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::StreamExt;
use hamlet_models::{Blob, BlobFilter, BlobKey};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{BLOB_READ, BLOB_WRITE, CurrentUser},
    error::{ApiError, ApiResult},
    extract::{ApiPath, ApiQuery},
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_blobs))
        .routes(routes!(get_blob, put_blob, delete_blob))
}

/// The caller's blobs, by key.
#[utoipa::path(get, path = "/v1/blob", tag = "blob", params(BlobFilter),
    responses((status = 200, description = "All of them", body = Vec<Blob>), ApiError))]
async fn list_blobs(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiQuery(filter): ApiQuery<BlobFilter>,
) -> ApiResult<Json<Vec<Blob>>> {
    user.must_have(BLOB_READ)?;
    Ok(Json(state.store.list_blobs(user.id(), &filter.prefix).await?))
}

/// The bytes of a blob.
#[utoipa::path(get, path = "/v1/blob/{*key}", tag = "blob",
    params(("key" = String, Path, description = "May hold `/`, as it is or encoded")),
    responses((status = 200, description = "The bytes", content_type = "application/octet-stream", body = Vec<u8>), ApiError))]
async fn get_blob(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(key): ApiPath<BlobKey>,
) -> ApiResult<Response> {
    user.must_have(BLOB_READ)?;
    let content = state.store.get_blob(user.id(), &key).await?;
    let length = content.blob.size.to_string();
    // Whatever is in it, it is no page of this site.
    let fixed = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::CONTENT_SECURITY_POLICY, "sandbox"),
    ];
    Ok((
        fixed,
        [(header::CONTENT_LENGTH, length)],
        Body::from_stream(content.bytes),
    )
        .into_response())
}

/// Keeps the bytes of the body, whatever its content type, in place of what was there.
#[utoipa::path(post, path = "/v1/blob/{*key}", tag = "blob",
    params(("key" = String, Path, description = "May hold `/`, as it is or encoded")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 201, description = "Kept"), ApiError))]
async fn put_blob(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(key): ApiPath<BlobKey>,
    request: Request,
) -> ApiResult<StatusCode> {
    user.must_have(BLOB_WRITE)?;
    let max_bytes =
        usize::try_from(state.config.limits.request_body_mb.saturating_mul(1_000_000)).unwrap_or(usize::MAX);
    let too_large = |size: u64| size > max_bytes as u64;
    let announced = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(too_large) {
        return Err(ApiError::TooLarge { max_bytes });
    }
    let mut upload = state.store.begin_blob(user.id());
    let mut body = request.into_body().into_data_stream();
    while let Some(bytes) = body.next().await {
        let bytes = bytes.map_err(|_| ApiError::Malformed("the body broke off before its end".to_owned()))?;
        upload.write(bytes).await?;
        if too_large(upload.size()) {
            return Err(ApiError::TooLarge { max_bytes });
        }
    }
    upload.keep(&key, state.config.blob_bytes).await?;
    Ok(StatusCode::CREATED)
}

/// Deletes a blob.
#[utoipa::path(delete, path = "/v1/blob/{*key}", tag = "blob",
    params(("key" = String, Path, description = "May hold `/`, as it is or encoded")),
    responses((status = 204, description = "Deleted"), ApiError))]
async fn delete_blob(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(key): ApiPath<BlobKey>,
) -> ApiResult<StatusCode> {
    user.must_have(BLOB_WRITE)?;
    state.store.delete_blob(user.id(), &key).await?;
    Ok(StatusCode::NO_CONTENT)
}
