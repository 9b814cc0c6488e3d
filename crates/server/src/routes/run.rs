//! Calling a val as a function: `/v1/run/{username}.{val_name}`.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use hamlet_models::{EvalArgs, Trigger, ValKind};
use hamlet_runtime::{End, Input, Outcome};
use hamlet_store::ValRecord;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{MaybeUser, RUN_WRITE},
    error::{ApiError, ApiResult},
    extract::{ApiJson, ApiPath, ApiQuery, CODE_BODY_MAX_BYTES},
    failure::{Failure, RunProblem},
    run_service::Call,
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(run_val_with_query, run_val))
}

/// The arguments of a call in its address.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ArgsQuery {
    /// A JSON list; none is the empty one.
    #[serde(default)]
    args: Option<String>,
}

impl ArgsQuery {
    /// The arguments.
    pub(super) fn parse(self) -> ApiResult<Vec<Value>> {
        let Some(text) = self.args.filter(|text| !text.is_empty()) else {
            return Ok(Vec::new());
        };
        serde_json::from_str(&text)
            .map_err(|_| ApiError::invalid("args", "args is a JSON list of arguments, as [1, \"two\"]"))
    }
}

/// Calls a script val: its default export, with the arguments of the query.
///
/// An address without `args` calls it with none. An export that is no function is the value itself.
#[utoipa::path(get, path = "/v1/run/{handle}", tag = "run",
    params(("handle" = String, Path, description = "`{username}.{val_name}`"), ArgsQuery),
    responses((status = 200, description = "The value, as JSON", body = Value),
        (status = 502, description = "The val failed", body = RunProblem),
        (status = 504, description = "The val met its time limit", body = RunProblem), ApiError))]
async fn run_val_with_query(
    State(state): State<AppState>,
    user: MaybeUser,
    ApiPath(handle): ApiPath<String>,
    ApiQuery(query): ApiQuery<ArgsQuery>,
) -> ApiResult<Response> {
    call(&state, &user, &handle, query.parse()?).await
}

/// Calls a script val: its default export, with the arguments of the body.
///
/// A request without a body, or without `args`, calls it with none. An export that is no function is the value itself.
#[utoipa::path(post, path = "/v1/run/{handle}", tag = "run", request_body = EvalArgs,
    params(("handle" = String, Path, description = "`{username}.{val_name}`")),
    responses((status = 200, description = "The value, as JSON", body = Value),
        (status = 502, description = "The val failed", body = RunProblem),
        (status = 504, description = "The val met its time limit", body = RunProblem), ApiError))]
async fn run_val(
    State(state): State<AppState>,
    user: MaybeUser,
    ApiPath(handle): ApiPath<String>,
    args: Option<ApiJson<EvalArgs, CODE_BODY_MAX_BYTES>>,
) -> ApiResult<Response> {
    call(
        &state,
        &user,
        &handle,
        args.map(|ApiJson(args)| args.into()).unwrap_or_default(),
    )
    .await
}

async fn call(state: &AppState, user: &MaybeUser, handle: &str, args: Vec<Value>) -> ApiResult<Response> {
    let (username, name) = handle
        .rsplit_once('.')
        .ok_or_else(|| ApiError::Malformed("this address ends with {username}.{val_name}".to_owned()))?;
    let val = state
        .store
        .find_val(username.strip_prefix('@').unwrap_or(username), name)
        .await?;
    may_call(user, &val)?;
    if val.kind != ValKind::Script {
        let message = "only scripts can be called: this val runs by its address, its schedule or its mail";
        return Err(ApiError::invalid("type", message));
    }
    let parent_id = user.0.as_ref().and_then(|user| user.run_id());
    let call = Call {
        trigger: Trigger::Run,
        parent_id,
        replay_of: None,
        input: Input::Script { args: Some(args) },
    };
    let outcome = state.runs.start(&val, call).await?.outcome().await?;
    Ok(value_of(outcome).unwrap_or_else(|mut failure| {
        if user.id() != Some(val.owner.id) {
            failure.hide_stack();
        }
        failure.response()
    }))
}

/// A val runs as its author, who alone may call it unless they made it callable.
fn may_call(user: &MaybeUser, val: &ValRecord) -> ApiResult<()> {
    user.must_see(val)?;
    match &user.0 {
        Some(user) if user.id() == val.owner.id || val.callable => user.must_have(RUN_WRITE),
        Some(_) => Err(ApiError::NotOwner("val")),
        None if val.callable => Ok(()),
        None => Err(ApiError::SignedOut),
    }
}

/// The answer of a call that came to a value: its JSON as the val's worker wrote it.
pub(super) fn value_of(outcome: Outcome) -> Result<Response, Failure> {
    if outcome.end != End::Ok {
        return Err(Failure::of(&outcome));
    }
    if outcome.truncated.return_value {
        return Err(Failure::too_large_a_value());
    }
    let value = outcome.return_value.unwrap_or_else(|| "null".to_owned());
    Ok((
        StatusCode::OK,
        [(header::CONTENT_TYPE, "application/json")],
        value,
    )
        .into_response())
}
