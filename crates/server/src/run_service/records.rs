//! Runs as they are recorded: what is known of one that begins, and why another did not come to be.

use axum::http;
use hamlet_models::{Author, RunError, RunId, RunStatus, Trigger, UserId};
use hamlet_runtime::{Input, RuntimeError};
use hamlet_store::{RunRecord, ValRecord};
use serde_json::Value;
use uuid::Uuid;

use super::Call;
use crate::{
    clock,
    error::ApiError,
    recorder::{RecordedRun, cut, without_tokens},
};

/// No account has this id.
pub(super) const NOBODY: UserId = UserId(Uuid::nil());

/// Notes that a run did not come to be, and answers why.
pub(super) fn refused(run: &RecordedRun, error: RuntimeError) -> ApiError {
    let said = match &error {
        RuntimeError::OverCapacity { .. } => run_error("OverCapacityError", &error.to_string()),
        RuntimeError::ShuttingDown => run_error("UnavailableError", "the server was ending"),
        RuntimeError::Deno(_) | RuntimeError::Sandbox(_) | RuntimeError::Modules(_) | RuntimeError::Io(_) => {
            run_error(
                "InternalError",
                "something went wrong on the server's side; its log has the cause",
            )
        }
    };
    run.give_up(RunStatus::Error, said);
    error.into()
}

pub(super) fn run_error(name: &str, message: &str) -> RunError {
    RunError {
        name: name.to_owned(),
        message: message.to_owned(),
        stack: String::new(),
    }
}

pub(super) fn val_record(val: &ValRecord, call: &Call) -> RunRecord {
    RunRecord {
        val_id: Some(val.id),
        val_name: Some(val.name.clone()),
        version: Some(val.version),
        ..new_record(val.owner.clone(), call)
    }
}

pub(super) fn request_record<B>(val: &ValRecord, trigger: Trigger, request: &http::Request<B>) -> RunRecord {
    // An HTTP val takes no other input than the request.
    let call = Call {
        trigger,
        parent_id: None,
        replay_of: None,
        input: Input::Script { args: None },
    };
    let request = hamlet_models::RunRequest {
        method: request.method().as_str().to_owned(),
        url: without_tokens(request.uri().to_string()),
        status: None,
    };
    RunRecord {
        request: Some(request),
        ..val_record(val, &call)
    }
}

/// In whose place an evaluation stands that is nobody's.
pub(super) fn nobody() -> Author {
    Author {
        id: NOBODY,
        username: "nobody".parse().expect("a username"),
    }
}

/// Names a run that begins.
pub(crate) fn new_run_id() -> RunId {
    RunId(Uuid::now_v7())
}

pub(super) fn new_record(owner: Author, call: &Call) -> RunRecord {
    RunRecord {
        parent_id: call.parent_id,
        replay_of: call.replay_of,
        ..RunRecord::queued(new_run_id(), owner, call.trigger, clock::now())
    }
}

/// Notes the arguments that a run is given, as far as `most` bytes.
pub(super) fn keep_args(record: &mut RunRecord, input: &Input, most: usize) {
    let args = match input {
        Input::Script { args: Some(args) } => args,
        Input::Eval { args } if !args.is_empty() => args,
        Input::Script { args: None } | Input::Eval { .. } | Input::Interval { .. } | Input::Email(_) => {
            return;
        }
    };
    let mut text = Value::Array(args.clone()).to_string();
    if text.len() > most {
        text.truncate(cut(&text, most).len());
        record.truncated.args = true;
    }
    record.args = Some(text);
}
