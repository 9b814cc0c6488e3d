//! The one error that handlers answer with.

use std::{collections::BTreeMap, time::Duration};

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use hamlet_models::{Problem, ProblemCode, ProblemDetail, Scope};
use hamlet_runtime::RuntimeError;
use hamlet_store::{InvalidSchedule, SqlError, StoreError};
use utoipa::{
    IntoResponses, ToSchema,
    openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder},
};

use crate::{account_databases::Refusal, recorder::TooManyRuns};

/// What a handler answers.
pub type ApiResult<T> = Result<T, ApiError>;

/// Tells the SDK whether sending the same request again may help.
pub const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Why a request was not answered as asked; a kind each, and its sentence for a person.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The request can't be read.
    #[error("{0}")]
    Malformed(String),
    /// Values in the request break rules.
    #[error("{}", sentence(.0))]
    Invalid(Vec<ProblemDetail>),
    /// Neither token nor session came.
    #[error("sign in first, or send a token as \"Authorization: Bearer …\"")]
    SignedOut,
    /// The token is none that works.
    #[error("this token is unknown, expired or revoked: make a new one in the settings")]
    BadToken,
    /// Name and password, or what else was sent to sign in, aren't right.
    #[error("{0}")]
    BadCredentials(&'static str),
    /// Seen, but someone else's.
    #[error("this {0} belongs to someone else: only its owner may do that")]
    NotOwner(&'static str),
    /// The token may not do this.
    #[error("this token lacks the scope {0}: use one that has it")]
    MissingScope(Scope),
    /// A change by session that this instance's own pages did not ask for.
    #[error("this change was asked for by another site: do it on this instance's own pages, or with a token")]
    CrossSite,
    /// Not there, or not for the caller to know of.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// The address is there, the method is not; the router adds `Allow`.
    #[error("this address has no such method: the Allow header names those that it has")]
    MethodNotAllowed,
    /// A name that is in use.
    #[error("the name {0} is in use: choose another")]
    NameTaken(String),
    /// A val's only version.
    #[error("this is the val's only version: delete the val instead")]
    LastVersion,
    /// Saved over a version that the caller has not seen.
    #[error("version {latest} was saved in the meantime: look at it before saving over it")]
    VersionMismatch {
        /// The latest version there is.
        latest: u32,
    },
    /// More bytes than are read here.
    #[error("the body is larger than the {max_bytes} bytes that this address reads")]
    TooLarge {
        /// The most bytes that are read.
        max_bytes: usize,
    },
    /// Another content type than is read here.
    #[error("this address doesn't read that content type: send {0}")]
    UnsupportedMediaType(&'static str),
    /// Too many attempts.
    #[error("too many attempts: try again in {} s", .retry_after.as_secs())]
    TooManyRequests {
        /// When to come back.
        retry_after: Duration,
    },
    /// An account has sent as much mail as it may for now.
    #[error("an account's mail goes to at most {most} addresses an hour: try again in {} s", .retry_after.as_secs().max(1))]
    TooMuchMail {
        /// To how many it goes.
        most: u32,
        /// When to come back.
        retry_after: Duration,
    },
    /// A message that the relay did not take for now, and that is tried again: who sends it once more sends it twice.
    #[error("the mail server did not take this message, which is in the outbox and tried again: {0}")]
    MailNotSent(String),
    /// Our own fault: the cause goes to the log, never to the client.
    #[error("something went wrong on our side; the server's log has the cause")]
    Internal(#[source] anyhow::Error),
    /// A val did not answer as its kind must.
    #[error("{0}")]
    RunFailed(String),
    /// A val met its time limit.
    #[error("{0}")]
    RunTimedOut(String),
    /// What ran an account's statements is gone: nobody knows whether they were done.
    #[error("{0}")]
    StatementsLost(String),
    /// A limit on runs was met that passes by itself.
    #[error("{message}")]
    OverCapacity {
        /// Which limit.
        message: String,
        /// When to come back.
        retry_after: Duration,
    },
    /// A part of the server isn't there (yet, or any more).
    #[error("{0}")]
    Unavailable(&'static str),
}

impl ApiError {
    /// A value of this name that breaks a rule.
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![ProblemDetail {
            path: path.into(),
            message: message.into(),
        }])
    }

    /// What the models found wrong, if anything.
    pub fn check(problems: Vec<(&'static str, &'static str)>) -> ApiResult<()> {
        if problems.is_empty() {
            return Ok(());
        }
        Err(Self::Invalid(
            problems
                .into_iter()
                .map(|(path, message)| ProblemDetail {
                    path: path.into(),
                    message: message.into(),
                })
                .collect(),
        ))
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn code(&self) -> ProblemCode {
        match self {
            Self::Malformed(_) => ProblemCode::Malformed,
            Self::Invalid(_) => ProblemCode::Invalid,
            Self::SignedOut => ProblemCode::SignedOut,
            Self::BadToken => ProblemCode::BadToken,
            Self::BadCredentials(_) => ProblemCode::BadCredentials,
            Self::NotOwner(_) => ProblemCode::NotOwner,
            Self::MissingScope(_) => ProblemCode::MissingScope,
            Self::CrossSite => ProblemCode::CrossSite,
            Self::NotFound(_) => ProblemCode::NotFound,
            Self::MethodNotAllowed => ProblemCode::MethodNotAllowed,
            Self::NameTaken(_) => ProblemCode::NameTaken,
            Self::LastVersion => ProblemCode::LastVersion,
            Self::VersionMismatch { .. } => ProblemCode::VersionMismatch,
            Self::TooLarge { .. } => ProblemCode::TooLarge,
            Self::UnsupportedMediaType(_) => ProblemCode::UnsupportedMediaType,
            Self::TooManyRequests { .. } | Self::TooMuchMail { .. } => ProblemCode::TooManyRequests,
            Self::MailNotSent(_) | Self::StatementsLost(_) => ProblemCode::Unavailable,
            Self::Internal(_) => ProblemCode::Internal,
            Self::RunFailed(_) => ProblemCode::RunFailed,
            Self::RunTimedOut(_) => ProblemCode::RunTimedOut,
            Self::OverCapacity { .. } => ProblemCode::OverCapacity,
            Self::Unavailable(_) => ProblemCode::Unavailable,
        }
    }

    /// When to come back, for those kinds that pass by themselves.
    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TooManyRequests { retry_after }
            | Self::TooMuchMail { retry_after, .. }
            | Self::OverCapacity { retry_after, .. } => Some(*retry_after),
            Self::Unavailable(_) => Some(Duration::from_secs(5)),
            _ => None,
        }
    }

    /// Whether the SDK must not send the request again by itself: a conflict stays one, and a run has had its
    /// effects, a message is kept, and statements may have been done.
    fn is_final(&self) -> bool {
        self.code().status() == 409
            || matches!(
                self,
                Self::RunFailed(_) | Self::RunTimedOut(_) | Self::MailNotSent(_) | Self::StatementsLost(_)
            )
    }
}

/// One sentence for all that is wrong.
fn sentence(details: &[ProblemDetail]) -> String {
    let texts: Vec<&str> = details.iter().map(|detail| detail.message.as_str()).collect();
    texts.join("; ")
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Self::Internal(cause) = &self {
            tracing::error!(?cause, "request failed");
        }
        let (status, code) = (self.status(), self.code());
        let (retry_after, is_final) = (self.retry_after(), self.is_final());
        let mut problem = Problem::new(code, self.to_string());
        if let Self::Invalid(details) = self {
            problem.details = details;
        }
        let mut response = (status, Json(problem)).into_response();
        if let Some(retry_after) = retry_after {
            let seconds = HeaderValue::from(retry_after.as_secs().max(1));
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        if is_final {
            response
                .headers_mut()
                .insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(what) => Self::NotFound(what),
            StoreError::NameTaken(name) => Self::NameTaken(name),
            StoreError::LastVersion => Self::LastVersion,
            StoreError::Full { .. } | StoreError::TooMuchMail => Self::invalid("", error.to_string()),
            StoreError::TooMany { what, .. } => Self::invalid(what, error.to_string()),
            StoreError::VersionMismatch { latest } => Self::VersionMismatch { latest },
            other => Self::Internal(other.into()),
        }
    }
}

impl From<SqlError> for ApiError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Refused(_) | SqlError::ReadOnly => Self::invalid("statement", error.to_string()),
            SqlError::Lost => Self::StatementsLost(error.to_string()),
            SqlError::Unusable(_) => Self::Internal(error.into()),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Malformed(sentence) => Self::Malformed(sentence),
            Refusal::Invalid(details) => Self::Invalid(details),
            Refusal::Sql(error) => error.into(),
        }
    }
}

impl From<InvalidSchedule> for ApiError {
    fn from(error: InvalidSchedule) -> Self {
        Self::invalid(error.path, error.sentence)
    }
}

impl From<RuntimeError> for ApiError {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::OverCapacity { retry_after, .. } => Self::OverCapacity {
                message: error.to_string(),
                retry_after,
            },
            RuntimeError::ShuttingDown => Self::Unavailable("this instance is ending: try again in a moment"),
            other => Self::Internal(other.into()),
        }
    }
}

/// How the OpenAPI document tells of failures: every one has the same shape.
impl IntoResponses for ApiError {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name(Problem::name())))
            .build();
        let failed = |description: &str| {
            let response = ResponseBuilder::new().description(description);
            RefOr::T(response.content("application/json", content.clone()).build())
        };
        BTreeMap::from([
            (
                "4XX".to_owned(),
                failed("Refused: the code and the message say why"),
            ),
            ("5XX".to_owned(), failed("Failed on the server's side")),
        ])
    }
}

impl From<TooManyRuns> for ApiError {
    fn from(error: TooManyRuns) -> Self {
        Self::OverCapacity {
            message: error.to_string(),
            retry_after: Duration::from_secs(5),
        }
    }
}
