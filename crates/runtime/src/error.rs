//! What can go wrong on our side; a broken val is an [`Outcome`](crate::Outcome), never one of these.

use std::time::Duration;

/// An error of any kind, as module sources and bodies report theirs.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Which of the limits on runs at once was met; the sentence names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Taken {
    /// That of each group of runs.
    #[error("runs at once are limited to {0} for each user")]
    User(usize),
    /// That of all runs together.
    #[error("runs at once are limited to {0} on this instance")]
    Instance(usize),
}

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// Too many runs go on already, and none of them ended while this one waited.
    #[error("{taken}, and none of those that go on ended in time: try again in {} s", retry_after.as_secs())]
    OverCapacity {
        /// The limit that was met.
        taken: Taken,
        /// After how long it is worth trying again.
        retry_after: Duration,
    },
    /// The runtime is being shut down and takes no new runs.
    #[error("the runtime is shutting down")]
    ShuttingDown,
    /// Deno is missing, too old, or does not start; the sentence says what to do.
    #[error("{0}")]
    Deno(String),
    /// The system's lock around workers does not hold, and has to.
    #[error("{0}")]
    Sandbox(String),
    /// A module could not be asked for, through no fault of the val.
    #[error("a module could not be read")]
    Modules(#[source] BoxError),
    /// A file, socket or process of ours failed.
    #[error("a worker's files or sockets failed")]
    Io(#[from] std::io::Error),
}
