//! The one place that fetches.

use std::fmt::{Display, Write};

use gloo_net::http::{Method, RequestBuilder};
use hamlet_models::{PageQuery, Problem, ProblemCode, VersionNumber};
use serde::Serialize;
use web_sys::AbortSignal;

use super::error::ClientError;

/// How long to wait for an answer, in milliseconds. No request waits for a run to end, so this is long enough.
const PATIENCE_MS: u32 = 30_000;

/// A request on its way to be sent.
pub(super) struct Call {
    method: Method,
    /// Path and query below `/v1`.
    path: String,
    body: Option<String>,
    if_match: Option<VersionNumber>,
}

/// An answer that is no failure.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

impl Call {
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path.into())
    }

    pub(super) fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path.into())
    }

    pub(super) fn put(path: impl Into<String>) -> Self {
        Self::new(Method::PUT, path.into())
    }

    pub(super) fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path.into())
    }

    fn new(method: Method, path: String) -> Self {
        Self {
            method,
            path,
            body: None,
            if_match: None,
        }
    }

    pub(super) fn json(mut self, body: &impl Serialize) -> Self {
        self.body = Some(serde_json::to_string(body).expect("the models' types always serialise"));
        self
    }

    /// Only if this is the latest version.
    pub(super) fn if_match(mut self, version: Option<VersionNumber>) -> Self {
        self.if_match = version;
        self
    }

    /// Adds `name=value` to the query.
    pub(super) fn query(mut self, name: &str, value: &dyn Display) -> Self {
        self.path.push(if self.path.contains('?') { '&' } else { '?' });
        let value = String::from(js_sys::encode_uri_component(&value.to_string()));
        write!(self.path, "{name}={value}").expect("a String takes every text");
        self
    }

    /// Adds `name=value` to the query where there is a value.
    pub(super) fn maybe<T: Display>(self, name: &str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.query(name, &value),
            None => self,
        }
    }

    pub(super) fn page(self, page: PageQuery) -> Self {
        self.query("offset", &page.offset).query("limit", &page.limit)
    }

    pub(super) async fn send(self, base: &str, token: Option<&str>) -> Result<Answer, ClientError> {
        let url = format!("{base}/v1{}", self.path);
        let patience = AbortSignal::timeout_with_u32(PATIENCE_MS);
        let mut request = RequestBuilder::new(&url)
            .method(self.method)
            .abort_signal(Some(&patience));
        if let Some(token) = token {
            request = request.header("authorization", &format!("Bearer {token}"));
        }
        if let Some(version) = self.if_match {
            request = request.header("if-match", &format!("\"{version}\""));
        }
        let request = match self.body {
            Some(body) => request.header("content-type", "application/json").body(body),
            None => request.build(),
        };
        let response = match request {
            Ok(request) => request.send().await,
            Err(error) => Err(error),
        };
        // A fetch fails only when no answer comes.
        let response = response.map_err(|_| ClientError::Offline)?;
        let status = response.status();
        let body = response.text().await.map_err(|_| ClientError::Offline)?;
        if (200..300).contains(&status) {
            Ok(Answer { status, body })
        } else {
            Err(failure(status, &body))
        }
    }
}

/// What a failed answer says. Something between here and the server may have answered in other words than ours.
fn failure(status: u16, body: &str) -> ClientError {
    let problem = serde_json::from_str(body).unwrap_or_else(|_| {
        let message = match status {
            502..=504 => "The server is not there at the moment. Try again in a minute.".to_owned(),
            _ => format!("The server answered with status {status} and no reason."),
        };
        Problem::new(ProblemCode::Unknown, message)
    });
    ClientError::Refused { status, problem }
}
