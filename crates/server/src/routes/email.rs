//! Sending mail, and the outbox.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use hamlet_models::{EmailId, NewEmail, OutboxEmail, Page, PageQuery, SentEmail};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{CurrentUser, EMAIL_READ, EMAIL_WRITE},
    error::{ApiError, ApiResult},
    extract::{ApiJson, ApiPage, ApiPath},
    present::Links,
    state::AppState,
};

/// The most bytes of a message with its attachments, which are in base64.
pub(super) const MESSAGE_MAX_BYTES: usize = 40 << 20;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(send_email))
        .routes(routes!(list_outbox))
        .routes(routes!(get_email, delete_email))
}

/// Sends a message, by default to the caller; where no relay is set, keeps it in the outbox.
#[utoipa::path(post, path = "/v1/email", tag = "email", request_body = NewEmail,
    responses((status = 200, description = "Sent, or kept", body = SentEmail), ApiError))]
async fn send_email(
    State(state): State<AppState>,
    user: CurrentUser,
    new: Option<ApiJson<NewEmail, MESSAGE_MAX_BYTES>>,
) -> ApiResult<Json<SentEmail>> {
    user.must_have(EMAIL_WRITE)?;
    let new = new.map(|ApiJson(new)| new).unwrap_or_default();
    Ok(Json(state.mailer.send(&user, &new).await?))
}

/// The caller's messages that could not be sent, for want of a relay or because it did not take them, newest first.
#[utoipa::path(get, path = "/v1/me/outbox", tag = "me", params(PageQuery),
    responses((status = 200, description = "A page of messages", body = Page<OutboxEmail>), ApiError))]
async fn list_outbox(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiPage(page): ApiPage,
) -> ApiResult<Json<Page<OutboxEmail>>> {
    user.must_have(EMAIL_READ)?;
    let messages = state.store.list_outbox(user.id(), page).await?;
    Ok(Json(links.page("/v1/me/outbox", page, &(), messages)))
}

/// A message of the outbox as it would be sent, with its attachments.
#[utoipa::path(get, path = "/v1/me/outbox/{email_id}", tag = "me",
    params(("email_id" = EmailId, Path, description = "The message")),
    responses((status = 200, description = "The message", content_type = "message/rfc822", body = String), ApiError))]
async fn get_email(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(id): ApiPath<EmailId>,
) -> ApiResult<Response> {
    user.must_have(EMAIL_READ)?;
    let message = state.store.get_email(user.id(), id).await?;
    let fixed = [
        (header::CONTENT_TYPE, "message/rfc822"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"message.eml\"",
        ),
    ];
    Ok((fixed, message).into_response())
}

/// Deletes a message of the outbox.
#[utoipa::path(delete, path = "/v1/me/outbox/{email_id}", tag = "me",
    params(("email_id" = EmailId, Path, description = "The message")),
    responses((status = 204, description = "Deleted"), ApiError))]
async fn delete_email(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(id): ApiPath<EmailId>,
) -> ApiResult<StatusCode> {
    user.must_have(EMAIL_WRITE)?;
    state.store.delete_email(user.id(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}
