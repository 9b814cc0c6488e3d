//! One Deno process: started blank, given one program, and ended by the host or by having nothing left to do.

mod nursery;
mod start;

mod command;
mod ending;
mod files;
mod frames;
mod output;
mod pipe;
mod rest;
mod runs;

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use http::HeaderName;
use nix::unistd::Pid;
use tokio::{
    io::AsyncWriteExt,
    net::unix::OwnedWriteHalf,
    sync::{oneshot, watch},
};

pub use self::ending::{FILES_MB, MOST_FILES};
pub(crate) use self::{
    command::{LOCK_FILE, Launch, Purpose},
    ending::{Doom, Exit, error},
    frames::{ApiAddress, Job, Report, Thrown},
    nursery::Nursery,
};
use self::{
    frames::{Message, with_length},
    pipe::Pipe,
    rest::Rest,
    runs::Runs,
};
use crate::{live_run::LiveRun, modules::Modules, sandbox::Group, system};

/// What a worker does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// It waits for its job.
    Blank,
    /// It evaluates a module once, or finishes what that left.
    Evaluating,
    /// It serves an HTTP val.
    Serving,
}

/// A Deno process and everything the host knows of it.
pub(crate) struct Worker {
    pub(crate) number: u64,
    pub(crate) dir: PathBuf,
    /// Its control group, where there are such.
    cgroup: Option<Arc<Group>>,
    pid: Pid,
    key: String,
    /// Marks an answer as a failure of the handler.
    pub(crate) failure_header: HeaderName,
    control: tokio::sync::Mutex<OwnedWriteHalf>,
    frames: Pipe,
    stdout: Pipe,
    stderr: Pipe,
    duty: Mutex<Duty>,
    runs: Mutex<Runs>,
    answer: Mutex<Option<oneshot::Sender<Answer>>>,
    modules: OnceLock<Arc<Modules>>,
    open_imports: AtomicU64,
    doom: OnceLock<Doom>,
    exit: watch::Sender<Option<Exit>>,
    waited_for: AtomicBool,
    engine_gave_up: AtomicBool,
    /// Lines of standard error that may yet turn out to be the engine's.
    held_lines: Mutex<Vec<String>>,
    /// What its CPU clock showed when it was given its job, in nanoseconds.
    pub(crate) cpu_given: AtomicU64,
    /// When it must be gone, if that is known: it has been retired.
    pub(crate) last_moment: OnceLock<Instant>,
    /// The CPU clock when the monitor last looked, in nanoseconds.
    pub(crate) cpu_seen: AtomicU64,
    /// How many of its runs had ended then.
    pub(crate) ended_seen: AtomicU64,
    pub(crate) rest: Mutex<Rest>,
    /// What a request left behind goes on for longer than the request might have: it gets no more of them.
    pub(crate) overstayed: AtomicBool,
    /// The CPU clock when the monitor last looked at its files, in nanoseconds.
    pub(crate) cpu_at_files: AtomicU64,
    /// The most memory that the monitor has seen, in bytes.
    pub(crate) memory_seen: AtomicU64,
}

/// What a worker answers to its job.
pub(crate) enum Answer {
    /// Its module is loaded and its handler serves.
    Ready,
    /// The evaluation is over.
    End(Report),
}

impl Worker {
    /// Whether its process lives and may be given work.
    pub(crate) fn is_alive(&self) -> bool {
        self.doom.get().is_none() && self.exit.borrow().is_none()
    }

    pub(crate) fn duty(&self) -> Duty {
        *self.duty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The runs that it has.
    pub(crate) fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key that marks what the worker itself sends.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Gives a blank worker its job; the answer comes through what this returns, or never if the worker ends first.
    pub(crate) async fn give(
        &self,
        duty: Duty,
        job: &Job<'_>,
        modules: Arc<Modules>,
        run: Arc<LiveRun>,
    ) -> io::Result<oneshot::Receiver<Answer>> {
        let (sender, receiver) = oneshot::channel();
        *self.duty.lock().unwrap_or_else(PoisonError::into_inner) = duty;
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        let _ = self.modules.set(modules);
        self.cpu_given
            .store(run.cpu_began.load(Ordering::Relaxed), Ordering::Relaxed);
        self.runs().begin(run);
        self.control.lock().await.write_all(&with_length(job)?).await?;
        Ok(receiver)
    }

    async fn tell(&self, message: &Message) -> io::Result<()> {
        self.control.lock().await.write_all(&with_length(message)?).await
    }

    /// Tells a blank one that nobody waits for it. One that can't be told is gone, which shows when it is taken.
    pub(crate) async fn warm(&self) {
        let _ = self.tell(&Message::Warm).await;
    }

    /// Tells it to take no more requests and to end when nothing is left to do, at `last_moment` at the latest.
    pub(crate) async fn retire(&self, last_moment: Instant) {
        let _ = self.last_moment.set(last_moment);
        // A worker that can't be told is gone, or about to be.
        if self.tell(&Message::Retire).await.is_err() {
            self.kill(Doom::Finished);
        }
    }

    /// Ends its process now; the first reason stays.
    pub(crate) fn kill(&self, why: Doom) {
        let _ = self.doom.set(why);
        // Once the process has been waited for, its number may be another's.
        if !self.waited_for.load(Ordering::Acquire) {
            system::kill_group(self.pid);
        }
    }

    /// Waits until its process is gone and everything that it wrote has been read.
    pub(crate) async fn exited(&self) -> Exit {
        let mut exit = self.exit.subscribe();
        let exit = exit.wait_for(Option::is_some).await.map(|exit| *exit);
        exit.ok().flatten().unwrap_or(Exit {
            doom: None,
            status: None,
            out_of_memory: false,
            out_of_threads: false,
        })
    }

    /// The CPU time that its process has used.
    pub(crate) fn cpu_time(&self) -> Duration {
        let seen = Duration::from_nanos(self.cpu_seen.load(Ordering::Relaxed));
        system::cpu_time(self.pid).unwrap_or(seen)
    }

    /// Looks at its memory now.
    pub(crate) fn resident_bytes(&self) -> Option<u64> {
        system::resident_bytes(self.pid)
    }

    /// Looks at how much its files take now.
    pub(crate) fn file_bytes(&self) -> u64 {
        files::bytes_of(&self.dir, self.pid)
    }

    /// The most memory that it has held, as far as is known.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        let seen = self.memory_seen.load(Ordering::Relaxed);
        system::peak_bytes(self.pid)
            .map(|peak| peak.max(seen))
            .or((seen > 0).then_some(seen))
    }
}
