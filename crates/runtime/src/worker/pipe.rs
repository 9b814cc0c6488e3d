//! The reading end of a pipe that a worker writes to.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{Mutex, PoisonError},
};

use nix::unistd::read;
use tokio::net::unix::pipe::Receiver;

/// Read at most so many times before others get their turn.
const READS_AT_ONCE: usize = 32;

/// A pipe, and what of its last line has come so far.
pub(crate) struct Pipe {
    receiver: Receiver,
    partial: Mutex<Vec<u8>>,
    /// A line that is longer is given in pieces, or refused, as the reader decides.
    longest_line: usize,
}

/// How far reading came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pumped {
    /// There may be more at once.
    More,
    /// There is nothing more for now.
    Drained,
    /// There will never be more.
    Closed,
}

impl Pipe {
    /// Takes the reading end.
    pub(crate) fn new(fd: OwnedFd, longest_line: usize) -> io::Result<Self> {
        Ok(Self {
            receiver: Receiver::from_owned_fd(fd)?,
            partial: Mutex::default(),
            longest_line,
        })
    }

    /// Waits until there is something to read, and reads it.
    pub(crate) async fn next(&self, on_line: impl FnMut(&[u8])) -> Pumped {
        if self.receiver.readable().await.is_err() {
            return Pumped::Closed;
        }
        // Reading so forgets that there was something when there is no more.
        self.read_lines(on_line, |bytes| self.receiver.try_read(bytes))
    }

    /// Reads what is there now, whether it is known yet or not; a last line without its end is kept for later.
    pub(crate) fn pump(&self, on_line: impl FnMut(&[u8])) -> Pumped {
        self.read_lines(on_line, |bytes| {
            read(&self.receiver, bytes).map_err(io::Error::from)
        })
    }

    fn read_lines(
        &self,
        mut on_line: impl FnMut(&[u8]),
        read: impl Fn(&mut [u8]) -> io::Result<usize>,
    ) -> Pumped {
        let mut partial = self.partial.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = [0; 16 << 10];
        for _ in 0..READS_AT_ONCE {
            match read(&mut bytes) {
                Ok(0) => {
                    if !partial.is_empty() {
                        on_line(&std::mem::take(&mut *partial));
                    }
                    return Pumped::Closed;
                }
                Ok(count) => self.split(&mut partial, &bytes[..count], &mut on_line),
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => return Pumped::Drained,
                Err(_) => return Pumped::Closed,
            }
        }
        Pumped::More
    }

    fn split(&self, partial: &mut Vec<u8>, mut bytes: &[u8], on_line: &mut impl FnMut(&[u8])) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            if partial.is_empty() {
                on_line(&bytes[..end]);
            } else {
                partial.extend_from_slice(&bytes[..end]);
                on_line(partial);
                partial.clear();
            }
            bytes = &bytes[end + 1..];
        }
        partial.extend_from_slice(bytes);
        if partial.len() > self.longest_line {
            on_line(partial);
            partial.clear();
        }
        // A long line's room is not kept for ever.
        if partial.is_empty() && partial.capacity() > (64 << 10) {
            *partial = Vec::new();
        }
    }

    /// Gives what there is of a last line that has no end yet.
    pub(crate) fn flush(&self, mut on_line: impl FnMut(&[u8])) {
        let rest = std::mem::take(&mut *self.partial.lock().unwrap_or_else(PoisonError::into_inner));
        if !rest.is_empty() {
            on_line(&rest);
        }
    }
}
