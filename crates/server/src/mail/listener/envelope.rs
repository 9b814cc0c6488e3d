//! What a session has said so far of the message that it brings.

use std::{
    io,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::{Bytes, BytesMut};
use hamlet_models::ValId;
use mailin::{Handler, Response, response};

/// The largest message, as it is sent: attachments take a third more than they are.
pub(crate) const INCOMING_MAX_BYTES: u64 = 30_000_000;
/// The most vals that one message goes to.
pub(crate) const INCOMING_MAX_VALS: usize = 20;

/// Shared by the session and the state machine that reads its lines.
#[derive(Clone, Default)]
pub(super) struct Envelope(Arc<Mutex<Parts>>);

#[derive(Default)]
pub(super) struct Parts {
    /// Who it is from, as who brings it says.
    pub(super) sender: String,
    /// The vals that it goes to.
    pub(super) vals: Vec<ValId>,
    /// Lines that were read and are still to be written.
    unwritten: BytesMut,
    /// How large the message is so far; before it comes, what its sender said of it.
    pub(super) size: u64,
    /// Whether what comes is the message, not commands.
    pub(super) is_open: bool,
    /// What the last line was, if it needs an answer from the store.
    asked: Option<Asked>,
}

/// What a line asks for that the state machine can't answer.
pub(super) enum Asked {
    /// Whether there is someone of this address.
    Recipient(String),
    /// To take the message, which is whole.
    Message,
}

impl Envelope {
    pub(super) fn lock(&self) -> MutexGuard<'_, Parts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parts {
    pub(super) fn take_asked(&mut self) -> Option<Asked> {
        self.asked.take()
    }

    /// The lines since the last time.
    pub(super) fn take_unwritten(&mut self) -> Bytes {
        self.unwritten.split().freeze()
    }

    /// How many bytes wait to be written.
    pub(super) fn unwritten_len(&self) -> usize {
        self.unwritten.len()
    }

    /// Whether there is someone whom the message goes to.
    pub(super) fn has_named(&self) -> bool {
        !self.vals.is_empty()
    }

    /// Whether the message is larger than one that is taken.
    pub(super) fn is_too_large(&self) -> bool {
        self.size > INCOMING_MAX_BYTES
    }
}

impl Handler for Envelope {
    fn mail(&mut self, _ip: IpAddr, _domain: &str, _from: &str) -> Response {
        *self.lock() = Parts::default();
        response::OK
    }

    fn rcpt(&mut self, to: &str) -> Response {
        let mut parts = self.lock();
        if parts.vals.len() >= INCOMING_MAX_VALS {
            return Response::custom(
                452,
                format!(
                    "A message is to at most {INCOMING_MAX_VALS} addresses: send it to the rest once more"
                ),
            );
        }
        parts.asked = Some(Asked::Recipient(to.to_owned()));
        response::OK
    }

    fn data_start(&mut self, _domain: &str, _from: &str, _is_8bit: bool, _to: &[String]) -> Response {
        let mut parts = self.lock();
        if parts.vals.is_empty() {
            return Response::custom(554, "No valid recipients".to_owned());
        }
        // What delivers a message puts its sender before it, which the message itself may not tell.
        let path = format!("Return-Path: <{}>\r\n", parts.sender);
        (parts.size, parts.unwritten, parts.is_open) = (0, path.as_bytes().into(), true);
        response::OK
    }

    fn data(&mut self, line: &[u8]) -> io::Result<()> {
        let mut parts = self.lock();
        parts.size = parts.size.saturating_add(line.len() as u64);
        if !parts.is_too_large() {
            parts.unwritten.extend_from_slice(line);
        }
        Ok(())
    }

    fn data_end(&mut self) -> Response {
        let mut parts = self.lock();
        (parts.asked, parts.is_open) = (Some(Asked::Message), false);
        response::OK
    }
}
