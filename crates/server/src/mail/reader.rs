//! Reads messages, in a process for each: anyone may send one, and a message in a message in a message takes all the stack
//! of whoever reads it.

use std::{ffi::OsString, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use hamlet_runtime::{GaveUp, Helper, help};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::parse::{input, input_of};

/// The first argument of a program that is to read a message.
pub(crate) const READ_MAIL: &str = "read-mail";

/// What reading may take: the largest message with its attachments, as it came, as it is read and as it is given.
const MEMORY_BYTES: u64 = 512 << 20;
/// The CPU time that reading may take, and the time by the clock.
const CPU: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(30);
/// Messages that are read at once.
const AT_ONCE: usize = 2;

/// Reads the message that the server gives. To be called before the process has a second thread.
pub(crate) fn read_mail(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    help(arguments, MEMORY_BYTES, CPU, |raw| {
        Ok(serde_json::to_vec(&input_of(&raw))?)
    })
}

/// What reads messages; cheap to clone.
#[derive(Clone)]
pub(crate) struct Reader(Arc<Shared>);

struct Shared {
    launcher: PathBuf,
    /// Whether a process must have the whole of its lock.
    strict: bool,
    turns: Semaphore,
}

impl Reader {
    /// `launcher` is this program.
    pub(crate) fn new(launcher: PathBuf, strict: bool) -> Self {
        Self(Arc::new(Shared {
            launcher,
            strict,
            turns: Semaphore::new(AT_ONCE),
        }))
    }

    /// What the val's handler is given. A message that takes too much to be read is given whole, as the one attachment of
    /// a message that says so. An error is our own fault.
    pub(crate) async fn read(&self, raw: Bytes) -> Result<Value, std::io::Error> {
        let Shared {
            launcher,
            strict,
            turns,
        } = &*self.0;
        let _turn = turns.acquire().await.map_err(std::io::Error::other)?;
        let read = Helper::start(launcher, READ_MAIL, *strict)?
            .ask(raw.clone(), PATIENCE)
            .await;
        match read {
            Ok(given) => Ok(serde_json::from_slice(&given)?),
            Err(GaveUp::TooMuch | GaveUp::TooLong) => Ok(unread(&raw)),
            Err(GaveUp::Lost(cause)) => Err(cause),
        }
    }
}

fn unread(raw: &[u8]) -> Value {
    // The line that was put before it here.
    let line = raw.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let sender = line
        .strip_prefix("Return-Path: <")
        .and_then(|rest| rest.strip_suffix('>'));
    let content = STANDARD.encode(raw);
    let given = json!({
        "text": "This message takes too much memory or time to be read. It is attached as it came.",
        "attachments": [{"name": "message.eml", "type": "message/rfc822", "content": content}],
    });
    input(sender.unwrap_or_default(), given)
}
