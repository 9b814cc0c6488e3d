//! What host and worker say to each other. What a worker says is untrusted: a val shares its process.

use hamlet_models::{LogLevel, RunError, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The one job of a worker.
#[derive(Serialize)]
pub(crate) struct Job<'a> {
    /// Marks what the worker itself sends.
    pub(crate) key: &'a str,
    /// `script`, `eval`, `interval`, `email` or `http`.
    pub(crate) kind: &'static str,
    /// The address of the module to import.
    pub(crate) entry: &'a str,
    /// The arguments of a call, if there is one.
    pub(crate) args: Option<&'a [Value]>,
    /// What an interval's or an e-mail's handler is given.
    pub(crate) input: Value,
    /// The environment.
    pub(crate) env: Vec<(&'a str, &'a str)>,
    /// The run that lines belong to which belong to no request.
    pub(crate) run: RunId,
    /// Characters of lines that a run may send.
    pub(crate) logs: u64,
    /// Characters of a value that are sent.
    pub(crate) value: u64,
    /// Characters of an error's message, and of its stack, that are sent.
    pub(crate) error: u64,
    /// The instance's own origin, and the socket through which it is reached.
    pub(crate) api: Option<ApiAddress<'a>>,
    /// The header that marks an answer as a failure of the handler.
    pub(crate) failure_header: &'a str,
}

/// How a worker reaches the instance itself.
#[derive(Serialize)]
pub(crate) struct ApiAddress<'a> {
    pub(crate) origins: &'a [String],
    pub(crate) socket: &'a str,
    /// Whether it has to be reached by node's own modules too, which takes a while to make so.
    pub(crate) by_node: bool,
}

/// What the host says beside the job.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Message {
    /// The answer to an import at run time.
    Import {
        id: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// There is no job yet, and time to load what a job may need.
    Warm,
    /// Take no more requests, and end when nothing is left to do.
    Retire,
}

/// What a worker says.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Frame {
    /// A line of a run's console; not JSON, see [`read_line`].
    #[serde(skip)]
    Log {
        run: RunId,
        level: LogLevel,
        message: String,
    },
    /// How much of a run's lines was not sent.
    Cut { run: RunId, lines: u64, characters: u64 },
    /// The module is loaded and its handler serves.
    Ready,
    /// The evaluation is over.
    End(Report),
    /// An import that showed at run time.
    Import {
        id: u64,
        importer: String,
        specifier: String,
    },
}

/// How an evaluation went.
#[derive(Deserialize)]
pub(crate) struct Report {
    /// The value as JSON text.
    #[serde(default)]
    pub(crate) value: Option<String>,
    /// Whether the value was cut.
    #[serde(default)]
    pub(crate) cut: bool,
    #[serde(default)]
    pub(crate) error: Option<Thrown>,
    pub(crate) module_ms: Option<f64>,
}

/// What was thrown.
#[derive(Deserialize)]
pub(crate) struct Thrown {
    name: String,
    message: String,
    stack: String,
    #[serde(default)]
    pub(crate) cut: bool,
}

impl Thrown {
    pub(crate) fn into_error(self) -> RunError {
        RunError {
            name: self.name,
            message: self.message,
            stack: self.stack,
        }
    }
}

/// A message with its length before it, as the worker reads it.
pub(crate) fn with_length(message: &impl Serialize) -> Result<Vec<u8>, std::io::Error> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4)
        .map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidInput, "a job of more than 4 GB"))?;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    Ok(bytes)
}

/// A frame, if the line is one that the worker itself sent.
pub(crate) fn read_frame(key: &str, line: &[u8]) -> Option<Frame> {
    match line.strip_prefix(key.as_bytes())? {
        [level, line @ ..] if level.is_ascii_digit() => read_line(*level, line),
        json => serde_json::from_slice(json).ok(),
    }
}

/// A line of a console: its level, as Deno's console numbers them, the run's id, and the text in JSON.
fn read_line(level: u8, line: &[u8]) -> Option<Frame> {
    let (run, text) = line.split_at_checked(line.iter().position(|byte| *byte == b'"')?)?;
    let level = match level {
        b'0' => LogLevel::Debug,
        b'2' => LogLevel::Warn,
        b'3' => LogLevel::Error,
        _ => LogLevel::Info,
    };
    Some(Frame::Log {
        run: std::str::from_utf8(run).ok()?.parse().ok()?,
        level,
        message: serde_json::from_slice(text).ok()?,
    })
}
