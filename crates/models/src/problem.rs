//! How every failure looks on the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of every answer that is a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// What happened and what to do next, a sentence for a person.
    pub message: String,
    /// The short reason, in words.
    pub error: String,
    /// The stable word that a program may act on.
    pub code: ProblemCode,
    /// For invalid input: each part that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<ProblemDetail>,
}

/// One part of the input that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProblemDetail {
    /// Where it is: a field's name, or names joined by dots.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl Problem {
    /// A failure of this kind, told in this sentence.
    pub fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            error: code.reason().to_owned(),
            code,
            details: Vec::new(),
        }
    }
}

/// Declares the codes once: name, status, reason.
macro_rules! problem_codes {
    ($($(#[$doc:meta])* $code:ident = $status:literal, $reason:literal;)*) => {
        /// The stable code of each kind of failure.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum ProblemCode {
            $($(#[$doc])* $code,)*
            /// A code that this build doesn't know: a newer server's.
            #[serde(other)]
            Unknown,
        }

        impl ProblemCode {
            /// Every code that a server of this version can answer.
            pub const ALL: &'static [Self] = &[$(Self::$code),*];

            /// The HTTP status that goes with this code.
            pub fn status(self) -> u16 {
                match self {
                    $(Self::$code => $status,)*
                    Self::Unknown => 500,
                }
            }

            /// The short reason in words.
            pub fn reason(self) -> &'static str {
                match self {
                    $(Self::$code => $reason,)*
                    Self::Unknown => "Unknown problem",
                }
            }
        }
    };
}

problem_codes! {
    /// The request can't be read at all: broken JSON, a path part that is no id.
    Malformed = 400, "Malformed request";
    /// The request can be read, but a value in it breaks a rule; `details` names each.
    Invalid = 400, "Invalid input";
    /// Code sent to be evaluated threw or can't be parsed.
    EvaluationFailed = 400, "Evaluation failed";
    /// No token or session came with a request that needs one.
    SignedOut = 401, "Not signed in";
    /// The token or session is unknown, expired or revoked.
    BadToken = 401, "Bad token";
    /// The name and password don't belong together.
    BadCredentials = 401, "Wrong name or password";
    /// The caller sees the thing but may not change it.
    NotOwner = 403, "Not yours";
    /// The token lacks the scope that this needs.
    MissingScope = 403, "Missing scope";
    /// Only an administrator may do this.
    NotAdmin = 403, "Not an administrator";
    /// A change by session came from another site.
    CrossSite = 403, "Request from another site";
    /// There is no such thing, or the caller may not know of it.
    NotFound = 404, "Not found";
    /// The address exists, but not with this method; `Allow` names those that do.
    MethodNotAllowed = 405, "Method not allowed";
    /// The name is in use.
    NameTaken = 409, "Name taken";
    /// A val keeps at least one version.
    LastVersion = 409, "The only version";
    /// `If-Match` named another version than the latest.
    VersionMismatch = 412, "A newer version exists";
    /// The body is larger than the limit.
    TooLarge = 413, "Too large";
    /// The body's content type isn't one that this address reads.
    UnsupportedMediaType = 415, "Unsupported content type";
    /// Too many requests; `Retry-After` says when to come back.
    TooManyRequests = 429, "Too many requests";
    /// The server's own fault; the cause is in its log.
    Internal = 500, "Internal error";
    /// The val threw or broke a rule of its kind.
    RunFailed = 502, "Run failed";
    /// Every place for runs is taken; `Retry-After` says when to come back.
    OverCapacity = 503, "Over capacity";
    /// The server is ending, or its database can't be reached.
    Unavailable = 503, "Unavailable";
    /// The val met its time limit.
    RunTimedOut = 504, "Run timed out";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_message_error_and_code() {
        let json = serde_json::to_value(Problem::new(ProblemCode::NotFound, "no such val")).expect("JSON");
        assert_eq!(
            json,
            serde_json::json!({"message": "no such val", "error": "Not found", "code": "not_found"})
        );
    }

    #[test]
    fn every_code_is_a_failure_with_a_reason_and_survives_the_wire() {
        for &code in ProblemCode::ALL {
            assert!((400..600).contains(&code.status()), "{code:?}");
            assert!(!code.reason().is_empty(), "{code:?}");
            let text = serde_json::to_string(&code).expect("JSON");
            assert_eq!(serde_json::from_str::<ProblemCode>(&text).expect("a code"), code);
        }
    }

    #[test]
    fn a_code_from_a_newer_server_can_be_read() {
        let problem: Problem =
            serde_json::from_str(r#"{"message":"m","error":"e","code":"from_the_future"}"#)
                .expect("a problem");
        assert_eq!(problem.code, ProblemCode::Unknown);
    }
}
