//! Runs: listing, reading, following, starting and cancelling them.

mod events;
mod start;

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use hamlet_models::{BaseRun, FullRun, LogLine, Page, RunFilter, RunId, Truncated, ValId, ValKind};
use hamlet_store::{KeptInput, RunRecord, RunScope, Slice};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{CurrentUser, RUN_READ, RUN_WRITE},
    error::{ApiError, ApiResult},
    extract::{ApiPage, ApiPath, ApiQuery},
    gateway,
    present::Links,
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list_val_runs, start::create_run))
        .routes(routes!(open_val))
        .routes(routes!(cancel_run))
        .routes(routes!(list_my_runs))
        .routes(routes!(get_run))
        .routes(routes!(events::follow_run))
}

/// The runs of a val, newest first; its owner's alone to see.
#[utoipa::path(get, path = "/v1/vals/{val_id}/runs", tag = "runs",
    params(("val_id" = ValId, Path), hamlet_models::PageQuery, RunFilter),
    responses((status = 200, body = Page<BaseRun>), ApiError))]
async fn list_val_runs(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiPath(val_id): ApiPath<ValId>,
    ApiPage(page): ApiPage,
    ApiQuery(filter): ApiQuery<RunFilter>,
) -> ApiResult<Json<Page<BaseRun>>> {
    user.must_have(RUN_READ)?;
    user.must_own(&*state.store.get_val(val_id).await?)?;
    state.runs.recorder().flush().await;
    let runs = state
        .store
        .list_runs(RunScope::Val(val_id), &filter, page)
        .await?;
    Ok(Json(links.page(
        &format!("/v1/vals/{val_id}/runs"),
        page,
        &filter,
        base_runs(runs),
    )))
}

/// Opens an HTTP val in its owner's browser, also a private one: leads to its address, which then knows the owner for
/// as long as the session or token works that asked, and for half a day at most.
#[utoipa::path(get, path = "/v1/vals/{val_id}/open", tag = "runs", params(("val_id" = ValId, Path)),
    responses((status = 302, description = "Leads to the val"), ApiError))]
async fn open_val(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiPath(val_id): ApiPath<ValId>,
) -> ApiResult<Response> {
    user.must_have(RUN_WRITE)?;
    let val = state.store.get_val(val_id).await?;
    user.must_own(&val)?;
    if val.kind != ValKind::Http {
        return Err(ApiError::invalid(
            "type",
            "only HTTP vals have an address to open",
        ));
    }
    let asked_with = user.lasting.ok_or_else(|| {
        ApiError::invalid(
            "authorization",
            "the token of a run opens no val in a browser: sign in, or send a token of your own",
        )
    })?;
    let location = gateway::visit_address(&state, &links, &val, asked_with);
    Ok((
        StatusCode::FOUND,
        [
            (header::LOCATION, location),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ],
    )
        .into_response())
}

/// Whether there was a run to cancel.
#[derive(Serialize, ToSchema)]
struct Cancelled {
    /// Always true: a run that does not go on is answered with 404.
    found: bool,
}

/// Ends a run that goes on.
#[utoipa::path(post, path = "/v1/vals/{val_id}/evaluations/{run_id}/cancel", tag = "runs",
    params(("val_id" = ValId, Path), ("run_id" = RunId, Path)),
    responses((status = 200, body = Cancelled), (status = 404, description = "No such run goes on", body = String), ApiError))]
async fn cancel_run(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath((val_id, run_id)): ApiPath<(ValId, RunId)>,
) -> ApiResult<Response> {
    user.must_have(RUN_WRITE)?;
    // The contract's answer here is a bare text, not a problem.
    let not_there = |what: &str| (StatusCode::NOT_FOUND, Json(what)).into_response();
    let val = match state.store.get_val(val_id).await.map_err(ApiError::from) {
        Err(ApiError::NotFound(_)) => return Ok(not_there("no such val")),
        val => val?,
    };
    match user.must_own(&val) {
        Err(ApiError::NotFound(_)) => return Ok(not_there("no such val")),
        owned => owned?,
    }
    let run = state
        .runs
        .recorder()
        .find(run_id)
        .filter(|run| run.record().val_id == Some(val_id));
    if run.is_some() && state.runs.cancel(run_id) {
        Ok(Json(Cancelled { found: true }).into_response())
    } else {
        Ok(not_there("no such run goes on"))
    }
}

/// The runs of the caller's vals and the caller's evaluations, newest first.
#[utoipa::path(get, path = "/v1/me/runs", tag = "me", params(hamlet_models::PageQuery, RunFilter),
    responses((status = 200, body = Page<BaseRun>), ApiError))]
async fn list_my_runs(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiPage(page): ApiPage,
    ApiQuery(filter): ApiQuery<RunFilter>,
) -> ApiResult<Json<Page<BaseRun>>> {
    user.must_have(RUN_READ)?;
    state.runs.recorder().flush().await;
    let runs = state
        .store
        .list_runs(RunScope::User(user.id()), &filter, page)
        .await?;
    Ok(Json(links.page("/v1/me/runs", page, &filter, base_runs(runs))))
}

/// A run with everything recorded of it, also while it goes on.
#[utoipa::path(get, path = "/v1/runs/{run_id}", tag = "runs", params(("run_id" = RunId, Path)),
    responses((status = 200, body = FullRun), ApiError))]
async fn get_run(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(run_id): ApiPath<RunId>,
) -> ApiResult<Json<FullRun>> {
    let (record, logs) = find_run(&state, &user, run_id).await?;
    let emails = state.store.list_emails_of_run(user.id(), run_id).await?;
    let input = match state.runs.recorder().find(run_id) {
        Some(run) => run.input(),
        None => state.store.get_run_input(run_id).await?,
    };
    Ok(Json(FullRun {
        emails: emails.iter().map(|email| json!(email)).collect(),
        ..full_run(&record, logs, input)
    }))
}

/// A run of the caller's with its lines so far, wherever it is.
async fn find_run(
    state: &AppState,
    user: &CurrentUser,
    id: RunId,
) -> ApiResult<(Arc<RunRecord>, Vec<LogLine>)> {
    user.must_have(RUN_READ)?;
    let (record, logs) = match state.runs.recorder().find(id) {
        Some(run) => {
            let progress = run.progress(0);
            (progress.record, progress.lines)
        }
        None => (
            Arc::new(state.store.get_run(id).await?),
            state.store.get_run_logs(id).await?,
        ),
    };
    if record.owner.id != user.id() {
        return Err(ApiError::NotFound("run"));
    }
    Ok((record, logs))
}

fn base_runs(runs: Slice<RunRecord>) -> Slice<BaseRun> {
    Slice {
        items: runs.items.iter().map(base_run).collect(),
        more: runs.more,
    }
}

fn base_run(record: &RunRecord) -> BaseRun {
    BaseRun {
        id: record.id,
        error: record.error.clone(),
        parent_id: record.parent_id,
        run_start_at: record.started_at,
        run_end_at: record.ended_at,
        author: Some(record.owner.clone()),
        name: record.val_name.clone(),
        version: record.version,
        val_id: record.val_id,
        status: record.status,
        trigger: record.trigger,
        duration_ms: record.duration_ms,
        cpu_ms: record.cpu_ms,
        memory_bytes: record.memory_bytes,
        request: record.request.clone(),
        replay_of: record.replay_of,
    }
}

fn full_run(record: &RunRecord, logs: Vec<LogLine>, kept: Option<KeptInput>) -> FullRun {
    let cut = kept.as_ref().is_some_and(|kept| kept.cut);
    FullRun {
        run: base_run(record),
        logs,
        return_value: record.return_value.as_deref().map(json_or_text),
        args: record.args.as_deref().map(json_or_text),
        emails: Vec::new(),
        truncated: Truncated {
            input: cut,
            ..record.truncated
        },
        phases: record.phases,
        response: record.response.clone(),
        input: kept.map(|kept| kept.input),
    }
}

/// A value that was kept as JSON; what was cut is no JSON any more, and is shown as the text that is left of it.
fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
