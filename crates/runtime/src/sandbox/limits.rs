//! Resource limits.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::worker::FILES_MB;

/// Open files and sockets.
const OPEN_FILES: u64 = 2048;
/// What the engine maps to write to, used or not, beside the memory that a val may hold: 536 MB for itself, and as much
/// for each thread that a val starts (`new Worker`), of which there may be four.
const ENGINE_BYTES: u64 = 3 << 30;

/// The limits of a worker that may hold so many megabytes. There is none for the number of processes: the system counts
/// it for all processes of a user together, and a worker can't start any.
pub(super) fn of_worker(memory_mb: u64) -> [(Resource, u64); 4] {
    [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_NOFILE, OPEN_FILES),
        (Resource::RLIMIT_FSIZE, FILES_MB << 20),
        (Resource::RLIMIT_DATA, (memory_mb << 20) + ENGINE_BYTES),
    ]
}

/// Sets them for this process, or lower ones where it has lower ones already.
pub(super) fn restrict(memory_mb: u64) -> nix::Result<()> {
    for (resource, most) in of_worker(memory_mb) {
        lower(resource, most)?;
    }
    Ok(())
}

/// Limits this process to so much of a resource, or to less where less is set already.
pub(super) fn lower(resource: Resource, most: u64) -> nix::Result<()> {
    let (_, hard) = getrlimit(resource)?;
    let most = most.min(hard);
    setrlimit(resource, most, most)
}
