//! A run that goes on: where its lines go, how much of them is kept, and how it is told to stop.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Waker,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use futures_util::task::AtomicWaker;
use hamlet_models::{LogLevel, LogLine, LogStream, RunId, Timestamp};

use crate::{RunEvents, RunRequest, worker::Doom};

/// What a line costs beside its text: many empty ones are as much of a flood.
const BESIDE_TEXT: u64 = 8;

/// A run as its worker, its caller and the monitor share it.
pub(crate) struct LiveRun {
    pub(crate) id: RunId,
    pub(crate) events: Arc<dyn RunEvents>,
    /// When it was asked for.
    pub(crate) asked: Instant,
    /// When it must be over.
    pub(crate) deadline: OnceLock<Instant>,
    /// What its worker's CPU clock showed when it began, in nanoseconds.
    pub(crate) cpu_began: AtomicU64,
    /// The CPU time that it has used, in nanoseconds, and what it may have used since another run ended last.
    cpu_used: AtomicU64,
    cpu_perhaps: AtomicU64,
    log_limit: u64,
    log: Mutex<Log>,
    stop: OnceLock<Doom>,
    stopped: AtomicWaker,
}

/// Whose CPU time it was that a worker used.
#[derive(Clone, Copy)]
pub(crate) enum Charge {
    /// The run's own: it had the worker to itself.
    Own(Duration),
    /// The run's, or that of another beside it.
    Perhaps(Duration),
    /// A run has ended meanwhile: so none of those that are left held up the others.
    Others,
}

#[derive(Default)]
struct Log {
    bytes: u64,
    cut_lines: u64,
    cut_bytes: u64,
    /// What the worker says that it did not send; its own count, so each word of it replaces the one before.
    unsent: (u64, u64),
    /// The line that says what was cut has been given.
    told: bool,
}

impl LiveRun {
    pub(crate) fn new(request: &RunRequest, log_kb: u64) -> Self {
        Self {
            id: request.id,
            events: request.events.clone(),
            asked: Instant::now(),
            deadline: OnceLock::new(),
            cpu_began: AtomicU64::new(0),
            cpu_used: AtomicU64::new(0),
            cpu_perhaps: AtomicU64::new(0),
            log_limit: log_kb * 1000,
            log: Mutex::default(),
            stop: OnceLock::new(),
            stopped: AtomicWaker::new(),
        }
    }

    /// The run has a worker: from now on its time counts.
    pub(crate) fn begin(&self, wall: Duration, cpu: Duration) {
        let _ = self.deadline.set(Instant::now() + wall);
        self.cpu_began.store(
            u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX),
            Ordering::Relaxed,
        );
    }

    pub(crate) fn cpu_began(&self) -> Duration {
        Duration::from_nanos(self.cpu_began.load(Ordering::Relaxed))
    }

    /// Notes what its worker has used; answers what it has to answer for by now. For one caller at a time.
    pub(crate) fn charge(&self, used: Charge) -> Duration {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match used {
            Charge::Own(time) => self.cpu_used.fetch_add(nanos(time), Ordering::Relaxed),
            Charge::Perhaps(time) => self.cpu_perhaps.fetch_add(nanos(time), Ordering::Relaxed),
            Charge::Others => self.cpu_perhaps.swap(0, Ordering::Relaxed),
        };
        let all = [&self.cpu_used, &self.cpu_perhaps].map(|part| part.load(Ordering::Relaxed));
        Duration::from_nanos(all.into_iter().fold(0, u64::saturating_add))
    }

    /// Whether the moment has passed at which it must be over.
    pub(crate) fn is_past_its_time(&self) -> bool {
        self.deadline
            .get()
            .is_some_and(|deadline| Instant::now() > *deadline)
    }

    /// Tells whoever waits for the run that it must end, and why; the first reason stays.
    pub(crate) fn stop(&self, why: Doom) {
        let _ = self.stop.set(why);
        self.stopped.wake();
    }

    /// Why the run must end, if it must; wakes `waker` when it does.
    pub(crate) fn must_stop(&self, waker: &Waker) -> Option<Doom> {
        if self.stop.get().is_none() {
            self.stopped.register(waker);
        }
        self.stop.get().copied()
    }

    /// Waits until the run must end.
    pub(crate) async fn stopped(&self) -> Doom {
        std::future::poll_fn(|context| {
            self.must_stop(context.waker())
                .map_or(std::task::Poll::Pending, std::task::Poll::Ready)
        })
        .await
    }

    /// Something that the run printed.
    pub(crate) fn line(&self, level: LogLevel, stream: LogStream, mut message: String) {
        {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            let size = message.len() as u64;
            let left = self.log_limit.saturating_sub(log.bytes);
            if left == 0 || size > left {
                let kept = message.floor_char_boundary(usize::try_from(left).unwrap_or(usize::MAX));
                log.cut_lines += 1;
                log.cut_bytes += size - kept as u64;
                log.bytes = self.log_limit;
                message.truncate(kept);
                if kept == 0 {
                    return;
                }
            } else {
                log.bytes += size + BESIDE_TEXT;
            }
        }
        self.events.log(
            self.id,
            LogLine {
                time: now(),
                level,
                message,
                stream,
            },
        );
    }

    /// Whether no more of its lines are kept.
    pub(crate) fn is_full(&self) -> bool {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).bytes >= self.log_limit
    }

    /// A line came that is not kept.
    pub(crate) fn line_was_cut(&self, bytes: usize) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.cut_lines += 1;
        log.cut_bytes += bytes as u64;
    }

    /// What the worker has not sent, because the run had printed enough.
    pub(crate) fn unsent(&self, lines: u64, characters: u64) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.unsent = (lines.max(log.unsent.0), characters.max(log.unsent.1));
    }

    /// Says once how much of the lines was cut, if any was; to be called when no more are expected.
    pub(crate) fn tell_cut(&self) -> bool {
        let (lines, bytes) = {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            let lines = log.cut_lines.saturating_add(log.unsent.0);
            if lines == 0 || std::mem::replace(&mut log.told, true) {
                return lines > 0;
            }
            (lines, log.cut_bytes.saturating_add(log.unsent.1))
        };
        let message = format!(
            "{lines} {} ({} kB) {} cut here: the logs of a run are kept up to {} kB.",
            if lines == 1 { "line" } else { "lines" },
            bytes.div_ceil(1000),
            if lines == 1 { "was" } else { "were" },
            self.log_limit / 1000,
        );
        self.events.log(
            self.id,
            LogLine {
                time: now(),
                level: LogLevel::Warn,
                message,
                stream: LogStream::Hamlet,
            },
        );
        true
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
