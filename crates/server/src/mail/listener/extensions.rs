//! What a session may say beyond the commands that `mailin` reads: the parameters of `MAIL`, and the size of messages
//! (RFC 1870), which is told to whoever asks what there is.

use std::io;

use mailin::Response;

use super::envelope::INCOMING_MAX_BYTES;

/// How the line that begins a message starts.
const MAIL: &[u8] = b"MAIL FROM:<";
/// In place of no sender, which `mailin` doesn't know of; nobody is ever answered by this name.
const NOBODY: &str = "nobody";

/// The beginning of a message.
pub(super) struct Mail {
    /// Who it is from; empty for what tells that mail could not be delivered.
    pub(super) sender: String,
    /// How large its sender says it is, in bytes.
    pub(super) size: Option<u64>,
}

impl Mail {
    /// Reads such a line; `None` if it is another, or the answer why it means nothing.
    pub(super) fn read(line: &[u8]) -> Option<Result<Self, Response>> {
        let (start, rest) = line.split_at_checked(MAIL.len())?;
        if !start.eq_ignore_ascii_case(MAIL) {
            return None;
        }
        let (sender, parameters) = std::str::from_utf8(rest).ok()?.split_once('>')?;
        let mut mail = Self {
            sender: sender.to_owned(),
            size: None,
        };
        for parameter in parameters.split_ascii_whitespace() {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match (
                name.to_ascii_uppercase().as_str(),
                value.to_ascii_uppercase().as_str(),
            ) {
                ("SIZE", digits) => match digits.parse() {
                    Ok(size) => mail.size = Some(size),
                    Err(_) => return Some(Err(refusal(501, "SIZE is a number of bytes"))),
                },
                // Every byte is taken as it comes.
                ("BODY", "7BIT" | "8BITMIME") => {}
                _ => return Some(Err(refusal(555, "MAIL has no such parameter here"))),
            }
        }
        Some(if mail.size.is_some_and(|size| size > INCOMING_MAX_BYTES) {
            Err(too_large())
        } else {
            Ok(mail)
        })
    }

    /// The line as `mailin` reads it.
    pub(super) fn plain(&self) -> Vec<u8> {
        let sender = if self.sender.is_empty() {
            NOBODY
        } else {
            &self.sender
        };
        format!("MAIL FROM:<{sender}>\r\n").into_bytes()
    }
}

/// The answer to a message that is larger than one that is taken.
pub(super) fn too_large() -> Response {
    let most = INCOMING_MAX_BYTES / 1_000_000;
    refusal(
        552,
        &format!("The message is larger than {most} MB as it is sent"),
    )
}

/// An answer as it is sent. The one that lists what there is, alone of all in having several lines, lists the size too,
/// after its greeting.
pub(super) fn as_sent(response: &Response) -> io::Result<Vec<u8>> {
    let mut written = response.buffer()?;
    if written.starts_with(b"250-")
        && let Some(end) = written.iter().position(|&byte| byte == b'\n')
    {
        let size = format!("250-SIZE {INCOMING_MAX_BYTES}\r\n");
        written.splice(end + 1..end + 1, size.into_bytes());
    }
    Ok(written)
}

fn refusal(code: u16, sentence: &str) -> Response {
    Response::custom(code, sentence.to_owned())
}
