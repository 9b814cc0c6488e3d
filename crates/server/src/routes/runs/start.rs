//! Starting a run from a val's page: with an input of its own, or with that of an earlier run.

use std::sync::Arc;

use axum::{Json, extract::State, http};
use hamlet_models::{BaseRun, HttpRequest, NewRun, RunId, RunInput, Trigger, ValId, ValKind};
use hamlet_runtime::{Body, Input};
use hamlet_store::{StoreError, ValRecord};

use super::base_run;
use crate::{
    auth::{CurrentUser, RUN_WRITE},
    error::{ApiError, ApiResult},
    extract::{ApiJson, ApiPath, CODE_BODY_MAX_BYTES},
    present::Links,
    run_service::{Call, kept_request},
    state::AppState,
};

/// Starts a run of a val in the background, as from its page: `GET /v1/runs/{id}` tells how it goes.
///
/// An HTTP val gets the request that `request` describes, a scheduled one is told when it last ran and runs at once,
/// also beside the run of a tick, while its next tick waits for both; an e-mail val gets the message that `email` describes. With `replayOf` it gets what that run of the val was given, without
/// the headers whose values were not kept.
#[utoipa::path(post, path = "/v1/vals/{val_id}/runs", tag = "runs", params(("val_id" = ValId, Path)),
    request_body = NewRun, responses((status = 202, description = "The run, as it begins", body = BaseRun), ApiError))]
pub(super) async fn create_run(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiPath(val_id): ApiPath<ValId>,
    new: Option<ApiJson<NewRun, CODE_BODY_MAX_BYTES>>,
) -> ApiResult<(http::StatusCode, Json<BaseRun>)> {
    user.must_have(RUN_WRITE)?;
    let latest = state.store.get_val(val_id).await?;
    user.must_own(&latest)?;
    let new = new.map(|ApiJson(new)| new).unwrap_or_default();
    let val = match new.version {
        Some(version) if version != latest.version => state.store.get_version(val_id, version).await?,
        Some(_) | None => latest,
    };
    let replay_of = new.replay_of;
    let given = match replay_of {
        Some(earlier) => again(&state, &val, earlier, &new).await?,
        None => described(&state, &links, &user, &val, new)?,
    };
    let run = match given {
        Start::Request(request) => state.runs.start_request(&val, *request, replay_of).await?,
        Start::Input(input) => {
            let call = Call {
                trigger: replay_of.map_or(Trigger::Editor, |_| Trigger::Replay),
                parent_id: user.run_id(),
                replay_of,
                input,
            };
            state.runs.start(&val, call).await?.run
        }
    };
    // What is repeated is no run of the schedule.
    if val.kind == ValKind::Interval && replay_of.is_none() {
        state
            .store
            .set_schedule_ran(val_id, run.record().started_at)
            .await?;
    }
    Ok((http::StatusCode::ACCEPTED, Json(base_run(&run.record()))))
}

/// What a run is started with.
enum Start {
    Request(Box<http::Request<Body>>),
    Input(Input),
}

/// What the page describes.
fn described(
    state: &AppState,
    links: &Links,
    user: &CurrentUser,
    val: &ValRecord,
    new: NewRun,
) -> ApiResult<Start> {
    Ok(match val.kind {
        ValKind::Http => {
            let request = new.request.unwrap_or_else(|| HttpRequest {
                method: "GET".to_owned(),
                path: "/".to_owned(),
                headers: Vec::new(),
                body: None,
            });
            Start::Request(Box::new(state.runs.page_request(val, &request)?))
        }
        ValKind::Script => Start::Input(Input::Script { args: new.args }),
        ValKind::Interval => Start::Input(Input::Interval {
            last_run_at: val.schedule.as_ref().and_then(|schedule| schedule.last_run_at),
        }),
        ValKind::Email => {
            let email = new.email.unwrap_or_default();
            Start::Input(Input::Email(links.test_email(val, &user.user, email)))
        }
    })
}

/// What an earlier run of the same val was given.
async fn again(state: &AppState, val: &ValRecord, earlier: RunId, new: &NewRun) -> ApiResult<Start> {
    let refused = |why: &str| Err(ApiError::invalid("replayOf", why));
    if new.args.is_some() || new.request.is_some() || new.email.is_some() {
        return refused("brings the input of that run: leave out args, request and email");
    }
    let found = match state.runs.recorder().find(earlier) {
        Some(run) => Some((run.record(), run.input())),
        None => match state.store.get_run(earlier).await {
            Ok(record) => Some((Arc::new(record), state.store.get_run_input(earlier).await?)),
            Err(StoreError::NotFound(_)) => None,
            Err(error) => return Err(error.into()),
        },
    };
    let Some((record, kept)) = found.filter(|(record, _)| record.val_id == Some(val.id)) else {
        return refused("names no run of this val");
    };
    if record.truncated.args || kept.as_ref().is_some_and(|kept| kept.cut) {
        return refused("what that run was given is not kept as it was: it can't be given again");
    }
    let args = record.args.as_deref().map(serde_json::from_str);
    match (val.kind, kept.map(|kept| kept.input), args) {
        (ValKind::Script, None, None) if record.request.is_none() => {
            Ok(Start::Input(Input::Script { args: None }))
        }
        (ValKind::Script, None, Some(Ok(args))) => Ok(Start::Input(Input::Script { args: Some(args) })),
        (ValKind::Interval, Some(RunInput::LastRunAt(last_run_at)), _) => {
            Ok(Start::Input(Input::Interval { last_run_at }))
        }
        (ValKind::Email, Some(RunInput::Email(message)), _) => Ok(Start::Input(Input::Email(message))),
        (ValKind::Http, Some(RunInput::Request(request)), _) => match kept_request(request) {
            Some(request) => Ok(Start::Request(Box::new(request))),
            None => refused("what that run was given can't be read any more"),
        },
        (_, None, _) => refused("what that run was given was not kept"),
        (_, Some(_), _) => refused("that run was of another kind of val"),
    }
}
