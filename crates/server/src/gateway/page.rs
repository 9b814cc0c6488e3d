//! What the gateway answers in a val's place: a page for a person, or a problem for a program.

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use hamlet_models::ValKind;
use hamlet_runtime::{End, Outcome};
use hamlet_store::ValRecord;
use sha2::{Digest, Sha256};

use super::Shown;
use crate::{error::ApiError, failure::Failure, state::AppState};

const STYLE: &str = include_str!("page.css");

/// The page runs no script, loads nothing, and has no style but its own.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let policy =
        format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'");
    HeaderValue::try_from(policy).expect("base64 fits a header")
});

/// In which form the client wants to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Html,
    Json,
}

impl Asked {
    /// A page, unless JSON was asked for and a page was not.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let accept = headers
            .get(header::ACCEPT)
            .and_then(|accept| accept.to_str().ok())
            .unwrap_or_default();
        if accept.contains("json") && !accept.contains("text/html") {
            Self::Json
        } else {
            Self::Html
        }
    }
}

/// An answer in a val's place.
pub(super) struct Page {
    title: &'static str,
    said: Said,
}

enum Said {
    /// The val failed; its stack is for its owner.
    Failed(Box<Failure>),
    /// The gateway refused.
    Refused(ApiError),
}

impl Page {
    /// There is no such val, or the caller may not know of it.
    pub(super) fn no_val() -> Self {
        Self {
            title: "No val here",
            said: Said::Refused(ApiError::NotFound("val at this address")),
        }
    }

    /// There is a val, but it answers no requests.
    pub(super) fn not_http(kind: ValKind) -> Self {
        let what = match kind {
            ValKind::Http | ValKind::Script => "HTTP val at this address: the val of this name is a script",
            ValKind::Interval => "HTTP val at this address: the val of this name is a scheduled one",
            ValKind::Email => "HTTP val at this address: the val of this name answers e-mail",
        };
        Self {
            title: "Not an HTTP val",
            said: Said::Refused(ApiError::NotFound(what)),
        }
    }

    /// The request was refused, or our side failed.
    pub(super) fn of_error(error: ApiError) -> Self {
        Self {
            title: "This request was not answered",
            said: Said::Refused(error),
        }
    }

    /// The val gave no answer.
    pub(super) fn of_failure(outcome: &Outcome) -> Self {
        let title = match outcome.end {
            End::TimedOut => "This val took too long",
            End::OutOfMemory => "This val ran out of memory",
            End::Ok | End::Threw | End::Cancelled | End::Lost => "This val failed",
        };
        Self {
            title,
            said: Said::Failed(Box::new(Failure::of(outcome))),
        }
    }

    /// A val that failed is a bad gateway, however it failed: its title and its code say that.
    pub(super) fn status(&self) -> StatusCode {
        match &self.said {
            Said::Failed(_) => StatusCode::BAD_GATEWAY,
            Said::Refused(error) => error.status(),
        }
    }

    /// Leaves the stack in if it is the val's owner who asks.
    pub(super) async fn with_stack_for_owner(
        mut self,
        state: &AppState,
        val: &ValRecord,
        shown: Option<&Shown>,
    ) -> Self {
        if let Said::Failed(failure) = &mut self.said {
            let caller = match shown {
                Some(shown) => shown.caller(state, val).await.ok().flatten(),
                None => None,
            };
            if caller.is_none_or(|caller| caller.id() != val.owner.id) {
                failure.hide_stack();
            }
        }
        self
    }

    /// The answer in the form that was asked for; both forms have the same status and headers.
    pub(super) fn response(self, asked: Asked) -> Response {
        let status = self.status();
        let (html, mut json) = match self.said {
            Said::Failed(failure) => (
                html(self.title, &failure.message(), failure.stack()),
                failure.response(),
            ),
            Said::Refused(error) => (html(self.title, &error.to_string(), None), error.into_response()),
        };
        *json.status_mut() = status;
        if asked == Asked::Json {
            return json;
        }
        let (mut head, _) = json.into_parts();
        head.headers.remove(header::CONTENT_LENGTH);
        head.headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        );
        head.headers
            .insert(header::CONTENT_SECURITY_POLICY, POLICY.clone());
        Response::from_parts(head, html.into())
    }
}

fn html(title: &str, message: &str, stack: Option<&str>) -> String {
    let (title, message) = (escape(title), escape(&as_sentence(message)));
    let stack = stack
        .map(|stack| format!("<pre>{}</pre>\n", escape(stack)))
        .unwrap_or_default();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <main>\n<h1>{title}</h1>\n<p>{message}</p>\n{stack}</main>\n</html>\n"
    )
}

fn as_sentence(message: &str) -> String {
    let mut letters = message.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_the_answer_unless_json_was_asked_for() {
        let asked = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            Asked::of(&headers)
        };
        assert_eq!(Asked::of(&HeaderMap::new()), Asked::Html);
        assert_eq!(asked("*/*"), Asked::Html);
        assert_eq!(asked("application/json"), Asked::Json);
        assert_eq!(asked("application/problem+json, */*"), Asked::Json);
        assert_eq!(asked("text/html, application/json;q=0.5"), Asked::Html);
    }

    #[test]
    fn what_a_val_says_is_text_and_never_markup() {
        let page = html("Failed", "<script>alert(1)</script> & more", Some("at <b>"));
        assert!(
            page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"),
            "{page}"
        );
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    }
}
