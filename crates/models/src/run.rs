//! Runs: every execution of a val, recorded.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Author, RunId, RunInput, Timestamp, ValId, ValName, VersionNumber, both::Both};

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It waits for a place.
    Queued,
    /// It goes on.
    Running,
    /// It ended as its val meant it to.
    Ok,
    /// Its val threw, or broke a rule of its kind.
    Error,
    /// It met the limit of wall or CPU time.
    Timeout,
    /// It met the limit of memory.
    OutOfMemory,
    /// Someone ended it.
    Cancelled,
    /// The machine or the server died under it.
    Lost,
}

impl RunStatus {
    /// Every status, in the order in which a run can meet them.
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Running,
        Self::Ok,
        Self::Error,
        Self::Timeout,
        Self::OutOfMemory,
        Self::Cancelled,
        Self::Lost,
    ];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }

    /// Whether nothing more will come of the run.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// Whether the run ended in another way than its val meant.
    pub fn is_failure(self) -> bool {
        self.is_over() && self != Self::Ok
    }
}

/// What started a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// A request to the val's address.
    Http,
    /// A tick of its schedule.
    Schedule,
    /// A message to its e-mail address.
    Email,
    /// A call of `/v1/run`.
    Run,
    /// A call of `/v1/eval`.
    Eval,
    /// Its owner, from the val's page.
    Editor,
    /// Its owner, with the input of an earlier run.
    Replay,
}

impl Trigger {
    /// Every trigger, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Http,
        Self::Schedule,
        Self::Email,
        Self::Run,
        Self::Eval,
        Self::Editor,
        Self::Replay,
    ];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Schedule => "schedule",
            Self::Email => "email",
            Self::Run => "run",
            Self::Eval => "eval",
            Self::Editor => "editor",
            Self::Replay => "replay",
        }
    }
}

/// What a val threw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunError {
    /// The error's name, as `TypeError`.
    pub name: String,
    /// What it says.
    pub message: String,
    /// Where it was thrown, a frame a line; frames of a val name its module address, line and column.
    pub stack: String,
}

/// The request that started a run of an HTTP val.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunRequest {
    /// The method.
    pub method: String,
    /// The public address.
    pub url: String,
    /// The answer's status; `null` when there was none.
    pub status: Option<u16>,
}

/// Where the time of a run went, in milliseconds; a part that was not reached is `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunPhases {
    /// Waiting for a place.
    pub waited_ms: Option<f64>,
    /// Until a worker was ready.
    pub worker_ms: Option<f64>,
    /// Until the val's module was loaded.
    pub module_ms: Option<f64>,
    /// Running the val's own code.
    pub ran_ms: Option<f64>,
    /// Sending the rest of the answer.
    pub sent_ms: Option<f64>,
}

/// A run as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BaseRun {
    /// Names the run for ever.
    pub id: RunId,
    /// What was thrown, if it failed.
    pub error: Option<RunError>,
    /// The run that started this one, if a run did.
    pub parent_id: Option<RunId>,
    /// When it began.
    pub run_start_at: Timestamp,
    /// When it ended; `null` while it goes on.
    pub run_end_at: Option<Timestamp>,
    /// The val's owner; the caller for an evaluation.
    pub author: Option<Author>,
    /// The val's name; `null` for an evaluation, which belongs to no val.
    pub name: Option<ValName>,
    /// The version that ran; `null` for an evaluation.
    pub version: Option<VersionNumber>,
    /// The val (ours); `null` for an evaluation.
    #[serde(default)]
    pub val_id: Option<ValId>,
    /// How it stands (ours).
    pub status: RunStatus,
    /// What started it (ours).
    pub trigger: Trigger,
    /// How long it took in milliseconds (ours); `null` while it goes on.
    #[serde(default)]
    pub duration_ms: Option<f64>,
    /// CPU time in milliseconds (ours); `null` where the system doesn't tell.
    #[serde(default)]
    pub cpu_ms: Option<f64>,
    /// The most memory that its worker held, in bytes (ours); `null` where the system doesn't tell.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    /// The request, for a run of an HTTP val (ours).
    #[serde(default)]
    pub request: Option<RunRequest>,
    /// The run whose input it was started with again (ours).
    #[serde(default)]
    pub replay_of: Option<RunId>,
}

/// A run with everything that was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", from = "Both<BaseRun, OfFullRun>")]
pub struct FullRun {
    /// What lists show too.
    #[serde(flatten)]
    pub run: BaseRun,
    /// What it printed, in order.
    pub logs: Vec<LogLine>,
    /// What it returned; `null` when nothing or not yet.
    pub return_value: Option<serde_json::Value>,
    /// The arguments it was called with.
    pub args: Option<serde_json::Value>,
    /// The mails it sent, and those that it was to send and that are in the outbox.
    pub emails: Vec<serde_json::Value>,
    /// Which parts were cut because they were larger than what is kept.
    pub truncated: Truncated,
    /// Where its time went (ours).
    #[serde(default)]
    pub phases: RunPhases,
    /// What an HTTP val answered to a request from its page (ours); `null` for other runs.
    #[serde(default)]
    pub response: Option<HttpResponse>,
    /// What it was given beside `args` (ours); `null` for scripts and where nothing was kept.
    #[serde(default)]
    pub input: Option<RunInput>,
}

/// What a full run has of its own.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfFullRun {
    logs: Vec<LogLine>,
    return_value: Option<serde_json::Value>,
    args: Option<serde_json::Value>,
    emails: Vec<serde_json::Value>,
    truncated: Truncated,
    #[serde(default)]
    phases: RunPhases,
    #[serde(default)]
    response: Option<HttpResponse>,
    #[serde(default)]
    input: Option<RunInput>,
}

impl From<Both<BaseRun, OfFullRun>> for FullRun {
    fn from(Both(run, own): Both<BaseRun, OfFullRun>) -> Self {
        Self {
            run,
            logs: own.logs,
            return_value: own.return_value,
            args: own.args,
            emails: own.emails,
            truncated: own.truncated,
            phases: own.phases,
            response: own.response,
            input: own.input,
        }
    }
}

impl std::ops::Deref for FullRun {
    type Target = BaseRun;

    fn deref(&self) -> &BaseRun {
        &self.run
    }
}

/// Which parts of a run were cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Truncated {
    /// Log lines are missing at the end.
    pub logs: bool,
    /// The return value was too large and is kept as the beginning of its JSON text.
    pub return_value: bool,
    /// The arguments were too large and are kept as the beginning of their JSON text.
    pub args: bool,
    /// The error's message or stack was cut.
    pub error: bool,
    /// The response's body was cut.
    pub response: bool,
    /// The request or the message is not kept as it was: it was too large, did not come to its end, or held a token
    /// of this instance.
    pub input: bool,
}

/// How much a line matters, as `console` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// `console.debug`.
    Debug,
    /// `console.log`, `console.info`, and what was written to standard output.
    Info,
    /// `console.warn`.
    Warn,
    /// `console.error`, and what was written to standard error.
    Error,
}

impl LogLevel {
    /// Every level, from quiet to loud.
    pub const ALL: [Self; 4] = [Self::Debug, Self::Info, Self::Warn, Self::Error];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogStream {
    /// The val's `console`.
    Console,
    /// Standard output, written to directly.
    Stdout,
    /// Standard error, written to directly.
    Stderr,
    /// Hamlet itself: what was cut, which limit was met.
    Hamlet,
}

/// Something that a run printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogLine {
    /// When.
    pub time: Timestamp,
    /// How much it matters.
    pub level: LogLevel,
    /// What it says; may have line breaks of its own.
    pub message: String,
    /// Where it came from.
    pub stream: LogStream,
}

/// Which runs of a list are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct RunFilter {
    /// Only runs that stand so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<RunStatus>,
    /// Only runs that this started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// Only runs of this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<VersionNumber>,
    /// Only runs that began at this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Only runs that began before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Only runs that failed (`true`) or did not (`false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<bool>,
}

impl RunFilter {
    /// Whether a run is one of those that are asked for.
    pub fn matches(&self, run: &BaseRun) -> bool {
        self.status.is_none_or(|status| run.status == status)
            && self.trigger.is_none_or(|trigger| run.trigger == trigger)
            && self.version.is_none_or(|version| run.version == Some(version))
            && self.since.is_none_or(|since| run.run_start_at >= since)
            && self.until.is_none_or(|until| run.run_start_at < until)
            && self.error.is_none_or(|error| run.status.is_failure() == error)
    }
}

/// A run to start from the val's page (ours).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewRun {
    /// The version to run; the latest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<VersionNumber>,
    /// The arguments for a script whose default export is a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<serde_json::Value>>,
    /// The request for an HTTP val; `GET /` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<HttpRequest>,
    /// The message for an e-mail val; an empty one from the caller if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<TestEmail>,
    /// An earlier run of this val, to be given again what that was given; goes with no other input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<RunId>,
}

/// A message to try an e-mail val with (ours).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TestEmail {
    /// From whom; the caller, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The text as HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

/// A request to send to an HTTP val.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HttpRequest {
    /// The method.
    pub method: String,
    /// Path and query, beginning with `/`.
    pub path: String,
    /// Names and values, in order.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body as text; none if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// What an HTTP val answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body: as it is if it is UTF-8, else in base64.
    pub body: String,
    /// Whether `body` is base64.
    pub base64: bool,
    /// The whole body's length in bytes, also where what is kept of it was cut.
    pub size: u64,
}

/// Code to evaluate without keeping it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Eval {
    /// An expression, a function expression, or a module: 1 to 256,000 characters.
    #[schema(min_length = 1, max_length = 256000)]
    pub code: String,
    /// The arguments for a function; left out, it is called with none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<serde_json::Value>>,
}

impl Eval {
    /// Each part that breaks a rule: the field's name and a sentence.
    pub fn problems(&self) -> Vec<(&'static str, &'static str)> {
        crate::val::text_problems(Some(&self.code), None)
    }
}

/// The arguments of a call of `/v1/run`: an object that names them, or the bare list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum EvalArgs {
    /// `[1, 2]`
    Bare(Vec<serde_json::Value>),
    /// `{"args": [1, 2]}`
    Named {
        /// The arguments, in order; left out, there are none.
        #[serde(default)]
        args: Vec<serde_json::Value>,
    },
}

impl From<EvalArgs> for Vec<serde_json::Value> {
    fn from(args: EvalArgs) -> Self {
        match args {
            EvalArgs::Bare(args) | EvalArgs::Named { args } => args,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_and_trigger_is_one_word_on_the_wire() {
        for status in RunStatus::ALL {
            assert_eq!(serde_json::to_value(status).expect("JSON"), status.as_str());
        }
        for trigger in Trigger::ALL {
            assert_eq!(serde_json::to_value(trigger).expect("JSON"), trigger.as_str());
        }
        for level in LogLevel::ALL {
            assert_eq!(serde_json::to_value(level).expect("JSON"), level.as_str());
        }
    }

    #[test]
    fn a_run_is_over_once_and_fails_in_every_way_but_ok() {
        for status in RunStatus::ALL {
            let goes_on = matches!(status, RunStatus::Queued | RunStatus::Running);
            assert_eq!(status.is_over(), !goes_on);
            assert_eq!(status.is_failure(), !goes_on && status != RunStatus::Ok);
        }
    }

    #[test]
    fn arguments_come_bare_or_named() {
        let args = |json: &str| serde_json::from_str::<EvalArgs>(json).map(Vec::<serde_json::Value>::from);
        assert_eq!(args("[1]").expect("arguments"), [1]);
        assert_eq!(args(r#"{"args":[1]}"#).expect("arguments"), [1]);
        assert!(args("{}").expect("arguments").is_empty());
        assert!(args("7").is_err());
    }

    #[test]
    fn a_filter_matches_what_it_asks_for_and_nothing_else() {
        let json = r#"{"id":"018f3c7e-0000-7000-8000-000000000001","error":null,"parentId":null,
            "runStartAt":"2026-01-31T12:00:00.000Z","runEndAt":null,"author":null,"name":null,"version":3,
            "status":"timeout","trigger":"http"}"#;
        let run: BaseRun = serde_json::from_str(json).expect("a run");
        let at = |text: &str| Some(text.parse::<Timestamp>().expect("a time"));
        let all = RunFilter::default();
        assert!(all.matches(&run));
        for (filter, matches) in [
            (
                RunFilter {
                    status: Some(RunStatus::Timeout),
                    ..all.clone()
                },
                true,
            ),
            (
                RunFilter {
                    status: Some(RunStatus::Ok),
                    ..all.clone()
                },
                false,
            ),
            (
                RunFilter {
                    trigger: Some(Trigger::Http),
                    ..all.clone()
                },
                true,
            ),
            (
                RunFilter {
                    trigger: Some(Trigger::Run),
                    ..all.clone()
                },
                false,
            ),
            (
                RunFilter {
                    version: Some(3),
                    ..all.clone()
                },
                true,
            ),
            (
                RunFilter {
                    version: Some(2),
                    ..all.clone()
                },
                false,
            ),
            (
                RunFilter {
                    since: at("2026-01-31T12:00:00.000Z"),
                    ..all.clone()
                },
                true,
            ),
            (
                RunFilter {
                    since: at("2026-01-31T12:00:00.001Z"),
                    ..all.clone()
                },
                false,
            ),
            (
                RunFilter {
                    until: at("2026-01-31T12:00:00.001Z"),
                    ..all.clone()
                },
                true,
            ),
            (
                RunFilter {
                    until: at("2026-01-31T12:00:00.000Z"),
                    ..all.clone()
                },
                false,
            ),
            (
                RunFilter {
                    error: Some(true),
                    ..all.clone()
                },
                true,
            ),
            (
                RunFilter {
                    error: Some(false),
                    ..all.clone()
                },
                false,
            ),
        ] {
            assert_eq!(filter.matches(&run), matches, "{filter:?}");
        }
    }

    #[test]
    fn a_run_of_an_older_server_can_be_read() {
        let json = r#"{"id":"018f3c7e-0000-7000-8000-000000000001","error":null,"parentId":null,
            "runStartAt":"2026-01-31T12:00:00.000Z","runEndAt":null,"author":null,"name":null,"version":null,
            "status":"running","trigger":"run","logs":[],"returnValue":null,"args":[1],"emails":[],"truncated":{}}"#;
        let run: FullRun = serde_json::from_str(json).expect("a run");
        assert_eq!(run.status, RunStatus::Running);
        assert_eq!(run.truncated, Truncated::default());
        assert_eq!(run.duration_ms, None);
    }
}
