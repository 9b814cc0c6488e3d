//! What is filled in to start a val, and what of it the server is sent.

use hamlet_models::{HttpRequest, NewRun, TestEmail, ValKind};
use leptos::prelude::*;
use serde_json::Value;

/// How many requests are remembered.
const SENT_KEPT: usize = 20;

/// What is filled in to start a val of any kind.
#[derive(Clone, Copy)]
pub struct RunForm {
    /// A script's arguments: a JSON list, or nothing for an empty one.
    pub args: RwSignal<String>,
    /// A request's method.
    pub method: RwSignal<String>,
    /// A request's path and query.
    pub path: RwSignal<String>,
    /// A request's headers, one a line.
    pub headers: RwSignal<String>,
    /// A request's body.
    pub body: RwSignal<String>,
    /// Whom a test message is from.
    pub from: RwSignal<String>,
    /// What a test message is about.
    pub subject: RwSignal<String>,
    /// A test message's text.
    pub text: RwSignal<String>,
    /// The requests that were sent before, newest first.
    pub sent: RwSignal<Vec<HttpRequest>>,
}

/// What is wrong with what is filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormProblem {
    /// The arguments are no JSON list.
    Args,
    /// The path doesn't begin with `/`.
    Path,
    /// A line of the headers has no name and value.
    Headers,
    /// A request of this method has no body.
    Body,
}

impl FormProblem {
    /// Whether it is the arguments.
    pub fn is_args(self) -> bool {
        self == Self::Args
    }

    /// What to say at the field that this is about.
    pub fn of(problem: RwSignal<Option<Self>>, about: fn(Self) -> bool) -> Signal<Option<String>> {
        Signal::derive(move || {
            problem
                .get()
                .filter(|problem| about(*problem))
                .map(|problem| problem.sentence().to_owned())
        })
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Args => "Arguments are a JSON list, as [1, \"two\"], or nothing.",
            Self::Path => "A path begins with /.",
            Self::Headers => "Each line of the headers is a name and a value, as Accept: text/html.",
            Self::Body => "A GET or HEAD request has no body: choose another method, or empty the body.",
        }
    }
}

impl Default for RunForm {
    fn default() -> Self {
        Self::new()
    }
}

impl RunForm {
    /// An empty form: `GET /`, no arguments.
    pub fn new() -> Self {
        let text = |text: &str| RwSignal::new(text.to_owned());
        Self {
            args: text(""),
            method: text("GET"),
            path: text("/"),
            headers: text(""),
            body: text(""),
            from: text(""),
            subject: text("Test message"),
            text: text(""),
            sent: RwSignal::new(Vec::new()),
        }
    }

    /// Fills in a request.
    pub fn fill(self, request: &HttpRequest) {
        let lines: Vec<_> = request
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        self.method.set(request.method.clone());
        self.path.set(request.path.clone());
        self.headers.set(lines.join("\n"));
        self.body.set(request.body.clone().unwrap_or_default());
    }

    /// Whether the request that is filled in has neither headers nor a body.
    pub fn is_plain(self) -> bool {
        let empty = |text: RwSignal<String>| text.with_untracked(String::is_empty);
        empty(self.headers) && empty(self.body)
    }

    /// Puts a run's request on top of those that were sent before.
    pub fn remember(self, run: &NewRun) {
        if let Some(request) = &run.request {
            self.sent.update(|sent| {
                sent.retain(|before| before != request);
                sent.insert(0, request.clone());
                sent.truncate(SENT_KEPT);
            });
        }
    }

    /// The run to start, or what is wrong.
    pub fn new_run(self, kind: ValKind) -> Result<NewRun, FormProblem> {
        let mut run = NewRun::default();
        match kind {
            ValKind::Script => run.args = Some(read_args(&self.args.get_untracked())?),
            ValKind::Http => run.request = Some(self.request()?),
            ValKind::Email => run.email = Some(self.email()),
            ValKind::Interval => {}
        }
        Ok(run)
    }

    fn email(self) -> TestEmail {
        let filled =
            |text: RwSignal<String>| Some(text.get_untracked()).filter(|text| !text.trim().is_empty());
        TestEmail {
            from: filled(self.from),
            subject: filled(self.subject),
            text: filled(self.text),
            html: None,
        }
    }

    fn request(self) -> Result<HttpRequest, FormProblem> {
        let path = self.path.get_untracked().trim().to_owned();
        if !path.starts_with('/') {
            return Err(FormProblem::Path);
        }
        let method = self.method.get_untracked();
        let body = Some(self.body.get_untracked()).filter(|body| !body.is_empty());
        if body.is_some() && matches!(method.as_str(), "GET" | "HEAD") {
            return Err(FormProblem::Body);
        }
        Ok(HttpRequest {
            method,
            path,
            headers: read_headers(&self.headers.get_untracked())?,
            body,
        })
    }
}

/// Who gives none still wants the function called.
fn read_args(text: &str) -> Result<Vec<Value>, FormProblem> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    serde_json::from_str(text).map_err(|_| FormProblem::Args)
}

fn read_headers(text: &str) -> Result<Vec<(String, String)>, FormProblem> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let name = name.trim();
        (!name.is_empty() && name.chars().all(is_token)).then(|| (name.to_owned(), value.trim().to_owned()))
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(header)
        .collect::<Option<_>>()
        .ok_or(FormProblem::Headers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn arguments_are_a_json_list_or_nothing() {
        assert_eq!(read_args(" "), Ok(vec![]));
        assert_eq!(read_args("[1, \"two\"]"), Ok(vec![json!(1), json!("two")]));
        for wrong in ["1", "{}", "[1", "one"] {
            assert_eq!(read_args(wrong), Err(FormProblem::Args), "{wrong}");
        }
    }

    #[wasm_bindgen_test]
    fn headers_are_a_name_and_a_value_a_line() {
        let headers = read_headers("Accept: text/html\n\nX-Time: 12:30\n");
        let expected = [("Accept", "text/html"), ("X-Time", "12:30")];
        assert_eq!(
            headers,
            Ok(expected
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec())
        );
        for wrong in ["Accept", ": text", "Bad name: x", "é: x"] {
            assert_eq!(read_headers(wrong), Err(FormProblem::Headers), "{wrong}");
        }
    }
}
