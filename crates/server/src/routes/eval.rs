//! Evaluating code without keeping it.

use axum::{extract::State, response::Response};
use hamlet_models::{Author, Eval};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::run::{ArgsQuery, value_of};
use crate::{
    auth::{CurrentUser, MaybeUser, RUN_WRITE},
    error::{ApiError, ApiResult},
    extract::{ApiJson, ApiPath, ApiQuery, CODE_BODY_MAX_BYTES},
    failure::{EvalProblem, Failure},
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(eval))
        .routes(routes!(eval_expression))
}

/// Evaluates code: an expression gives its value, a function is called with `args`, a module gives its default export.
///
/// It is kept as a run of the caller's, never as a val. It needs a token unless this instance lets anyone evaluate.
#[utoipa::path(post, path = "/v1/eval", tag = "eval", request_body = Eval,
    responses((status = 200, description = "The value, as JSON", body = Value),
        (status = 400, description = "The code throws or can't be parsed", body = EvalProblem), ApiError))]
async fn eval(
    State(state): State<AppState>,
    user: MaybeUser,
    ApiJson(eval): ApiJson<Eval, CODE_BODY_MAX_BYTES>,
) -> ApiResult<Response> {
    evaluate(&state, &user, eval).await
}

/// Evaluates the expression that is the rest of the address.
#[utoipa::path(get, path = "/v1/eval/{*expression}", tag = "eval",
    params(("expression" = String, Path, description = "May hold `/` and `+` as they are"), ArgsQuery),
    responses((status = 200, description = "The value, as JSON", body = Value),
        (status = 400, description = "The code throws or can't be parsed", body = EvalProblem), ApiError))]
async fn eval_expression(
    State(state): State<AppState>,
    user: MaybeUser,
    ApiPath(expression): ApiPath<String>,
    ApiQuery(query): ApiQuery<ArgsQuery>,
) -> ApiResult<Response> {
    let eval = Eval {
        code: expression,
        args: Some(query.parse()?),
    };
    ApiError::check(eval.problems())?;
    evaluate(&state, &user, eval).await
}

async fn evaluate(state: &AppState, user: &MaybeUser, eval: Eval) -> ApiResult<Response> {
    let author = match &user.0 {
        Some(user) => {
            user.must_have(RUN_WRITE)?;
            Some(Author {
                id: user.id(),
                username: user.user.username.clone(),
            })
        }
        None if state.config.anonymous_eval => None,
        None => return Err(ApiError::SignedOut),
    };
    let args = eval.args.unwrap_or_default();
    let parent_id = user.0.as_ref().and_then(CurrentUser::run_id);
    let started = state.runs.start_eval(author, eval.code, args, parent_id).await?;
    Ok(value_of(started.outcome().await?).unwrap_or_else(Failure::eval_response))
}
