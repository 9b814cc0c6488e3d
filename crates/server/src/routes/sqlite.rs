//! The caller's own SQLite database.

use axum::{Json, extract::State};
use hamlet_models::{NewSqlBatch, NewSqlExecution, SqlMode, SqlResult};
use hamlet_store::SqlError;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{CurrentUser, SQLITE_READ, SQLITE_WRITE},
    error::{ApiError, ApiResult},
    extract::ApiAnyJson,
    state::AppState,
};

/// The most bytes of statements and their parameters.
const SQL_BODY_MAX_BYTES: usize = 32 << 20;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(execute_sql))
        .routes(routes!(execute_sql_batch))
}

/// Runs one statement in the caller's database.
///
/// Parameters are given by position or by name. A token without `sqlite:write` can run what only reads.
#[utoipa::path(post, path = "/v1/sqlite/execute", tag = "sqlite", request_body = NewSqlExecution,
    responses((status = 200, description = "Columns and rows", body = SqlResult), ApiError))]
async fn execute_sql(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiAnyJson(new): ApiAnyJson<NewSqlExecution, SQL_BODY_MAX_BYTES>,
) -> ApiResult<Json<SqlResult>> {
    let mode = mode_for(&user, SqlMode::Deferred)?;
    let result = state.databases.execute(user.id(), new.statement, mode).await;
    Ok(Json(result.map_err(|error| refused(&user, error))?))
}

/// Runs statements in one transaction of the caller's database: all of them, or none.
#[utoipa::path(post, path = "/v1/sqlite/batch", tag = "sqlite", request_body = NewSqlBatch,
    responses((status = 200, description = "Columns and rows of each statement", body = Vec<SqlResult>), ApiError))]
async fn execute_sql_batch(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiAnyJson(new): ApiAnyJson<NewSqlBatch, SQL_BODY_MAX_BYTES>,
) -> ApiResult<Json<Vec<SqlResult>>> {
    let mode = mode_for(&user, new.mode)?;
    let results = state.databases.batch(user.id(), new.statements, mode).await;
    Ok(Json(results.map_err(|error| refused(&user, error))?))
}

/// What the caller may do of what is asked for. Whatever writes can read too, so that reading is always needed.
fn mode_for(user: &CurrentUser, asked: SqlMode) -> ApiResult<SqlMode> {
    user.must_have(SQLITE_READ)?;
    match asked {
        SqlMode::Write => user.must_have(SQLITE_WRITE).map(|()| asked),
        SqlMode::Deferred if !user.scopes.has(SQLITE_WRITE) => Ok(SqlMode::Read),
        SqlMode::Deferred | SqlMode::Read => Ok(asked),
    }
}

/// Why a statement was refused: to a token that may not write, because of that.
fn refused(user: &CurrentUser, error: SqlError) -> ApiError {
    match error {
        SqlError::ReadOnly if !user.scopes.has(SQLITE_WRITE) => ApiError::MissingScope(SQLITE_WRITE),
        error => error.into(),
    }
}
