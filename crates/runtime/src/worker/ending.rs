//! Why a worker ended, and what that means for the runs it had.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

use hamlet_models::{Limits, RunError};

use nix::sys::signal::Signal;

use crate::{End, sandbox::THREADS};

/// The megabytes that a worker's files may take.
pub const FILES_MB: u64 = 512;
/// How many files and folders it may have.
pub const MOST_FILES: usize = 10_000;

/// Why the host ends a run or a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doom {
    /// It ran too long.
    WallTime,
    /// It used too much CPU time.
    CpuTime,
    /// It held too much memory.
    Memory,
    /// Its files took too much.
    Files,
    /// Someone asked for it.
    Cancelled,
    /// The runtime is shut down.
    Shutdown,
    /// Another request to the same worker met a limit.
    Neighbour,
    /// It said what the host can't read.
    Unreadable,
    /// Its work is done, or nobody waits for it any more.
    Finished,
}

/// How a worker's process ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub(crate) doom: Option<Doom>,
    pub(crate) status: Option<ExitStatus>,
    /// The engine itself gave up for want of memory.
    pub(crate) out_of_memory: bool,
    /// The kernel refused it a thread.
    pub(crate) out_of_threads: bool,
}

impl Exit {
    /// What it means for a run that was not over.
    pub(crate) fn verdict(&self, limits: &Limits) -> (End, RunError) {
        match self.doom {
            Some(doom) => doom.verdict(limits),
            None if self.out_of_memory && self.status.is_none_or(|status| status.signal().is_some()) => {
                Doom::Memory.verdict(limits)
            }
            None if self.out_of_threads && self.status.is_none_or(|status| !status.success()) => (
                End::Threw,
                error(
                    "ThreadsError",
                    format!("started more than the {THREADS} threads that a val's worker may have"),
                ),
            ),
            None => {
                let how = match self.status.map(|status| (status.code(), status.signal())) {
                    Some((Some(code), _)) => format!(
                        "the val's process ended with exit code {code} before the run was over: it called Deno.exit, \
                         or waited for a promise that nothing was left to settle"
                    ),
                    // What the system does with who writes beyond the end that a file may have.
                    Some((_, Some(signal))) if signal == Signal::SIGXFSZ as i32 => {
                        return Doom::Files.verdict(limits);
                    }
                    Some((_, Some(signal))) => format!("the val's process was ended by signal {signal}"),
                    _ => "the val's process ended before the run was over".to_owned(),
                };
                (End::Threw, error("ProcessEnded", how))
            }
        }
    }
}

impl Doom {
    /// What it means for the run.
    pub(crate) fn verdict(self, limits: &Limits) -> (End, RunError) {
        let Limits {
            wall_seconds,
            cpu_seconds,
            memory_mb,
            ..
        } = limits;
        match self {
            Self::WallTime => (
                End::TimedOut,
                error(
                    "TimeoutError",
                    format!("ran longer than the {wall_seconds} s that a run may take"),
                ),
            ),
            Self::CpuTime => (
                End::TimedOut,
                error(
                    "TimeoutError",
                    format!("used more than the {cpu_seconds} s of CPU time that a run may use"),
                ),
            ),
            Self::Memory => (
                End::OutOfMemory,
                error(
                    "OutOfMemoryError",
                    format!("used more than the {memory_mb} MB of memory that a run may use"),
                ),
            ),
            Self::Files => (
                End::Threw,
                error(
                    "FilesError",
                    format!(
                        "wrote more than the {FILES_MB} MB or {MOST_FILES} files that a val's worker may have"
                    ),
                ),
            ),
            Self::Cancelled => (
                End::Cancelled,
                error("CancelledError", "the run was cancelled".into()),
            ),
            Self::Shutdown => (
                End::Lost,
                error("LostError", "the server was stopped while the run went on".into()),
            ),
            Self::Neighbour => (
                End::Lost,
                error(
                    "LostError",
                    "another request to this val met a limit, and their worker was ended".into(),
                ),
            ),
            Self::Unreadable => (
                End::Threw,
                error(
                    "ProtocolError",
                    "the val's worker sent what the host can't read".into(),
                ),
            ),
            Self::Finished => (
                End::Cancelled,
                error("CancelledError", "nobody waited for the run any more".into()),
            ),
        }
    }
}

/// An error of ours about a run: it has no frames to show.
pub(crate) fn error(name: &str, message: String) -> RunError {
    RunError {
        name: name.to_owned(),
        stack: format!("{name}: {message}"),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_thread_is_named_unless_the_process_ended_well() {
        let limits = Limits {
            wall_seconds: 60,
            cpu_seconds: 30,
            memory_mb: 256,
            request_body_mb: 100,
            log_kb: 1000,
            value_kb: 100,
            user_runs: 20,
            instance_runs: 20,
            warm_seconds: 10,
        };
        let told = |code: i32| {
            let exit = Exit {
                doom: None,
                status: Some(ExitStatus::from_raw(code << 8)),
                out_of_memory: false,
                out_of_threads: true,
            };
            exit.verdict(&limits).1.name
        };
        assert_eq!(
            (told(1).as_str(), told(0).as_str()),
            ("ThreadsError", "ProcessEnded")
        );
    }
}
