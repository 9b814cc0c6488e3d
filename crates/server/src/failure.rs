//! Why a run gave no answer, as whoever asked for it may know.

use axum::{
    Json,
    http::{HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use hamlet_models::{Problem, ProblemCode, RunError};
use hamlet_runtime::{End, Outcome};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{error::SHOULD_RETRY, server::ANSWER_KB};

/// A run that gave no answer.
#[derive(Clone, Debug)]
pub struct Failure {
    end: End,
    error: RunError,
}

/// A failed run on the wire: the problem, and for the val's author what was thrown and where.
#[derive(Serialize, ToSchema)]
pub struct RunProblem {
    #[serde(flatten)]
    problem: Problem,
    /// The error's name.
    name: String,
    /// Where it was thrown; for the val's author alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<String>,
}

/// A failed evaluation on the wire.
#[derive(Serialize, ToSchema)]
pub struct EvalProblem {
    /// Always `error`.
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    problem: Problem,
    /// The error's name.
    name: String,
    /// Where it was thrown.
    stack: String,
}

impl Failure {
    /// Why a run with this outcome gave no answer.
    pub fn of(outcome: &Outcome) -> Self {
        let nothing_said = || RunError {
            name: "Error".to_owned(),
            message: "the val ended without an answer".to_owned(),
            stack: String::new(),
        };
        Self {
            end: outcome.end,
            error: outcome.error.clone().unwrap_or_else(nothing_said),
        }
    }

    /// A run that did answer, but with a value that is too large to send.
    pub fn too_large_a_value() -> Self {
        let error = RunError {
            name: "RangeError".to_owned(),
            message: format!(
                "the value is larger than the {ANSWER_KB} kB that a call answers: return less, or serve it from an HTTP val"
            ),
            stack: String::new(),
        };
        Self {
            end: End::Threw,
            error,
        }
    }

    /// Leaves out where it was thrown.
    pub fn hide_stack(&mut self) {
        self.error.stack.clear();
    }

    /// Where it was thrown, if the caller may know.
    pub fn stack(&self) -> Option<&str> {
        (!self.error.stack.is_empty()).then_some(&self.error.stack)
    }

    /// What happened, for a person.
    pub fn message(&self) -> String {
        match self.end {
            End::Ok | End::Threw => format!("{}: {}", self.error.name, self.error.message),
            End::TimedOut | End::OutOfMemory | End::Cancelled | End::Lost => self.error.message.clone(),
        }
    }

    /// The status of the answer.
    fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code().status()).unwrap_or(StatusCode::BAD_GATEWAY)
    }

    fn code(&self) -> ProblemCode {
        match self.end {
            End::TimedOut => ProblemCode::RunTimedOut,
            End::Ok | End::Threw | End::OutOfMemory | End::Cancelled | End::Lost => ProblemCode::RunFailed,
        }
    }

    /// The answer of a call or a request. What the run did before it failed is done: it isn't to be sent again.
    pub fn response(self) -> Response {
        let problem = Problem::new(self.code(), self.message());
        let stack = self.stack().map(str::to_owned);
        let body = RunProblem {
            problem,
            name: self.error.name.clone(),
            stack,
        };
        (
            self.status(),
            [(SHOULD_RETRY, HeaderValue::from_static("false"))],
            Json(body),
        )
            .into_response()
    }

    /// The answer of an evaluation: code that throws or can't be parsed is the caller's own fault.
    pub fn eval_response(self) -> Response {
        if !matches!(self.end, End::Ok | End::Threw) {
            return self.response();
        }
        let RunError { name, message, stack } = self.error;
        let problem = Problem::new(ProblemCode::EvaluationFailed, message);
        (
            StatusCode::BAD_REQUEST,
            Json(EvalProblem {
                kind: "error",
                problem,
                name,
                stack,
            }),
        )
            .into_response()
    }
}
