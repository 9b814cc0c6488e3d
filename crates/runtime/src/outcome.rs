//! How a run ended.

use std::time::Duration;

use hamlet_models::{RunError, RunPhases, Truncated};

/// How a run ended, with what it left behind; its logs went to [`RunEvents`](crate::RunEvents).
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// In which way.
    pub end: End,
    /// What was thrown, or which limit was met; `None` only for [`End::Ok`].
    pub error: Option<RunError>,
    /// The value as JSON text, for scripts and evaluations that ended well. If it was too large, its beginning.
    pub return_value: Option<String>,
    /// What was cut.
    pub truncated: Truncated,
    /// CPU time in milliseconds. `None` where the system doesn't tell, and for requests to an HTTP val that shared
    /// their worker with others at the same time.
    pub cpu_ms: Option<f64>,
    /// The most memory that the worker held, in bytes.
    pub memory_bytes: Option<u64>,
    /// From the moment it was asked for until it ended, in milliseconds.
    pub duration_ms: f64,
    /// Where that time went.
    pub phases: RunPhases,
}

/// The ways in which a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// As its val meant it to.
    Ok,
    /// It threw, or broke a rule of its kind.
    Threw,
    /// It met the limit of wall or CPU time.
    TimedOut,
    /// It met the limit of memory.
    OutOfMemory,
    /// Someone ended it, or whoever waited for its answer left.
    Cancelled,
    /// Its worker was ended for another's sake, or died of a fault of ours.
    Lost,
}

impl Outcome {
    /// An outcome that has nothing yet but its end.
    pub(crate) fn new(end: End, error: Option<RunError>) -> Self {
        Self {
            end,
            error,
            return_value: None,
            truncated: Truncated::default(),
            cpu_ms: None,
            memory_bytes: None,
            duration_ms: 0.0,
            phases: RunPhases::default(),
        }
    }
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Cuts a text to so many kilobytes; says whether it was longer.
pub(crate) fn cut_text(text: &mut String, kilobytes: u64) -> bool {
    let most = usize::try_from(kilobytes * 1000).unwrap_or(usize::MAX);
    let longer = text.len() > most;
    if longer {
        text.truncate(text.floor_char_boundary(most));
    }
    longer
}

/// Where a message ends with the place of an import, as ` at https://example.com/v/ada/hello:3:14`.
fn place_in(message: &str) -> Option<usize> {
    let at = message
        .rfind("at ")
        .filter(|at| message[..*at].ends_with(char::is_whitespace))?;
    let mut parts = message[at + 3..].rsplitn(3, ':');
    let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    let ends_with_place = is_number(parts.next()) && is_number(parts.next());
    let is_address = parts
        .next()
        .is_some_and(|url| url.contains("://") && !url.contains(char::is_whitespace));
    (ends_with_place && is_address).then_some(at)
}

/// Cuts an error's texts to so many kilobytes together; says whether they were longer.
pub(crate) fn cut_error(mut error: RunError, kilobytes: u64) -> (RunError, bool) {
    // Errors of imports say their place in the message.
    if let Some(at) = place_in(&error.message) {
        let place = error.message.split_off(at).trim_start().to_owned();
        let message = error.message.trim_end();
        error.stack = format!("{}: {message}\n    {place}", error.name);
        error.message.truncate(message.len());
    }
    cut_text(&mut error.name, 1);
    let cut_message = cut_text(&mut error.message, kilobytes / 2);
    let cut_stack = cut_text(&mut error.stack, kilobytes / 2);
    (error, cut_message || cut_stack)
}
