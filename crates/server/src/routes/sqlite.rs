//! The caller's own SQLite database.

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use hamlet_models::{NewSqlBatch, NewSqlExecution, SqlResult};
use hamlet_store::SqlError;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    account_databases::{Ask, CALL_MAX_BYTES, Refusal},
    auth::{CurrentUser, SQLITE_READ, SQLITE_WRITE},
    error::{ApiError, ApiResult},
    extract::ApiBytes,
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(execute_sql))
        .routes(routes!(execute_sql_batch))
}

/// JSON as a database's process wrote it.
struct Answer(Bytes);

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

/// Runs one statement in the caller's database.
///
/// Parameters are given by position or by name. A token without `sqlite:write` can run what only reads.
#[utoipa::path(post, path = "/v1/sqlite/execute", tag = "sqlite", request_body = NewSqlExecution,
    responses((status = 200, description = "Columns and rows", body = SqlResult), ApiError))]
async fn execute_sql(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiBytes(body): ApiBytes<CALL_MAX_BYTES>,
) -> ApiResult<Answer> {
    user.must_have(SQLITE_READ)?;
    let ask = if user.scopes.has(SQLITE_WRITE) {
        Ask::Execute
    } else {
        Ask::ExecuteReading
    };
    call(&state, &user, ask, body).await
}

/// Runs statements in one transaction of the caller's database: all of them, or none.
#[utoipa::path(post, path = "/v1/sqlite/batch", tag = "sqlite", request_body = NewSqlBatch,
    responses((status = 200, description = "Columns and rows of each statement", body = Vec<SqlResult>), ApiError))]
async fn execute_sql_batch(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiBytes(body): ApiBytes<CALL_MAX_BYTES>,
) -> ApiResult<Answer> {
    user.must_have(SQLITE_READ)?;
    let ask = if user.scopes.has(SQLITE_WRITE) {
        Ask::Batch
    } else {
        Ask::BatchReading
    };
    call(&state, &user, ask, body).await
}

/// Statements that write are refused to a token that may not, because of that.
async fn call(state: &AppState, user: &CurrentUser, ask: Ask, body: Bytes) -> ApiResult<Answer> {
    match state.databases.call(user.id(), ask, body).await {
        Ok(json) => Ok(Answer(json)),
        Err(Refusal::Sql(SqlError::ReadOnly)) if !user.scopes.has(SQLITE_WRITE) => {
            Err(ApiError::MissingScope(SQLITE_WRITE))
        }
        Err(refusal) => Err(refusal.into()),
    }
}
