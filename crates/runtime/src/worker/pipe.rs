//! The reading end of a pipe that a worker writes to.

use std::{
    cell::Cell,
    io,
    os::fd::{AsFd, OwnedFd},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::read,
};
use tokio::{
    net::unix::pipe::Receiver,
    time::{Instant, sleep_until},
};

/// Read at most so many times before others get their turn.
const READS_AT_ONCE: usize = 32;
/// What is read at a time: most often there is nothing, or little.
const READ_BYTES: usize = 16 << 10;
/// What a pipe holds.
const PIPE_BYTES: usize = 64 << 10;

/// A pipe that has something to read more often than [`AT_ONCE`] in this time is read once in it, until it is found
/// empty: to wake up for every line of a val that prints without a pause would cost its neighbours more than the lines.
/// What the pipe holds, and no more, is taken each time; then the val waits, and its neighbours have the machine.
const BREATH: Duration = Duration::from_millis(10);
const AT_ONCE: u32 = 8;

/// A pipe, and what of its last line has come so far.
pub(crate) struct Pipe {
    fd: OwnedFd,
    partial: Mutex<Vec<u8>>,
    /// A line that is longer is given in pieces, or refused, as the reader decides.
    longest_line: usize,
    watch: tokio::sync::Mutex<Watch>,
}

/// How a pipe is known to have something to read.
struct Watch {
    /// The system tells; none while it would tell too often.
    news: Option<Receiver>,
    since: Instant,
    /// How often the pipe was read since then.
    reads: u32,
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
            watch: tokio::sync::Mutex::new(Watch {
                news: Some(watch(&fd)?),
                since: Instant::now(),
                reads: 0,
            }),
            fd,
            partial: Mutex::default(),
            longest_line,
        })
    }

    /// Waits until there is something to read, and reads it. For one caller at a time.
    pub(crate) async fn next(&self, on_line: impl FnMut(&[u8])) -> Pumped {
        let mut guard = self.watch.lock().await;
        let state = &mut *guard;
        let Some(news) = &state.news else {
            sleep_until(state.since + BREATH).await;
            state.since = Instant::now();
            let found = Cell::new(false);
            let pumped = self.read_lines(&mut [0; PIPE_BYTES], on_line, |bytes| {
                // Once: the val is writing again already.
                if found.replace(true) {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                let count = self.read(bytes);
                found.set(count.is_ok());
                count
            });
            if !found.get() {
                // Without the system's help it goes on as it is.
                state.news = watch(&self.fd).ok();
                state.reads = 0;
            }
            return pumped;
        };
        if news.readable().await.is_err() {
            return Pumped::Closed;
        }
        // Reading so forgets that there was something when there is no more.
        let pumped = self.read_lines(&mut [0; READ_BYTES], on_line, |bytes| news.try_read(bytes));
        let now = Instant::now();
        if now >= state.since + BREATH {
            (state.since, state.reads) = (now, 0);
        }
        state.reads += 1;
        if state.reads > AT_ONCE {
            state.news = None;
        }
        pumped
    }

    fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        Ok(read(&self.fd, bytes)?)
    }

    /// Reads what is there now, whether it is known yet or not; a last line without its end is kept for later.
    pub(crate) fn pump(&self, on_line: impl FnMut(&[u8])) -> Pumped {
        self.read_lines(&mut [0; READ_BYTES], on_line, |bytes| self.read(bytes))
    }

    fn read_lines(
        &self,
        bytes: &mut [u8],
        mut on_line: impl FnMut(&[u8]),
        read: impl Fn(&mut [u8]) -> io::Result<usize>,
    ) -> Pumped {
        let mut partial = self.partial.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..READS_AT_ONCE {
            match read(bytes) {
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

/// Which of these pipes have something to read now, or will never have more.
pub(crate) fn with_news<const N: usize>(pipes: [&Pipe; N]) -> [bool; N] {
    let mut asked = pipes.map(|pipe| PollFd::new(pipe.fd.as_fd(), PollFlags::POLLIN));
    match poll(&mut asked, PollTimeout::ZERO) {
        Ok(_) => asked.map(|pipe| pipe.any() != Some(false)),
        // Reading finds out as well.
        Err(_) => [true; N],
    }
}

fn watch(fd: &OwnedFd) -> io::Result<Receiver> {
    Receiver::from_owned_fd(fd.try_clone()?)
}
