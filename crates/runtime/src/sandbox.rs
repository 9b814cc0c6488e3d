//! The system's lock around a worker, under Deno's own permissions: what a worker may do even if Deno lets it.
//!
//! A process can only lock itself, and what it locks stays so in the program that it becomes. So a worker begins as the
//! launcher, which is this program again, started with [`LAUNCH`]: it puts the lock on and becomes Deno. Nothing of it
//! runs between `fork` and `exec`, where nearly nothing is allowed, and none of it needs unsafe code.

mod calls;
mod cgroup;
mod files;
mod limits;
mod rights;

mod checkup;
mod enclosure;
mod helper;
mod launch;
mod probe;

use std::{fs, path::PathBuf};

use serde::{Deserialize, Serialize};

pub(crate) use self::cgroup::{Cgroups, FETCH_MB, Group, THREADS};
use self::probe::probe;
pub use self::{
    checkup::{CheckUp, check_up},
    enclosure::{Enclosure, Trial, allow_cpu, allow_memory},
    helper::{GaveUp, Helper, help},
    launch::{LAUNCH, launch},
};
use crate::{RuntimeConfig, RuntimeError, monitor::worker_bytes, worker::Launch};

/// What one worker may use; the launcher gets it as its first argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lock {
    /// The program that the launcher becomes: nothing else can be executed.
    pub(crate) deno: PathBuf,
    /// Where remote modules are kept.
    pub(crate) cache: PathBuf,
    /// Whether it may be written to: by what fetches modules, and by no worker.
    pub(crate) cache_writable: bool,
    /// The worker's own modules.
    pub(crate) bootstrap: PathBuf,
    /// What says whom to trust, where the host's environment names it.
    pub(crate) certificates: Vec<PathBuf>,
    /// The folder that is the worker's own.
    pub(crate) scratch: PathBuf,
    /// The memory that the worker may hold, in megabytes.
    pub(crate) memory_mb: u64,
    /// The control group that the worker belongs to.
    pub(crate) cgroup: Option<PathBuf>,
    /// Whether every part of the lock is known to work here, so that one that fails must end the worker.
    pub(crate) strict: bool,
}

/// A layer of what keeps a worker in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// A worker has no rights beyond its files', even if the server is root, and can't come to more.
    NewPrivileges,
    /// It reaches no files but those that it needs (Landlock).
    Files,
    /// It can't listen on a TCP port (Landlock).
    Ports,
    /// It can't send signals to other processes (Landlock and seccomp).
    Signals,
    /// It can't start programs, nor use what else it has no need for of the system (seccomp).
    Programs,
    /// It has no IPv6, whose private ranges Deno can't refuse (seccomp).
    Ipv6,
    /// Open files, sizes of files and memory have an end.
    Limits,
    /// The kernel counts its memory and its threads (cgroup v2).
    Cgroup,
}

impl Layer {
    /// Every one.
    pub const ALL: [Self; 8] = [
        Self::NewPrivileges,
        Self::Files,
        Self::Ports,
        Self::Signals,
        Self::Programs,
        Self::Ipv6,
        Self::Limits,
        Self::Cgroup,
    ];

    /// Its name for a person.
    pub fn name(self) -> &'static str {
        match self {
            Self::NewPrivileges => "no new privileges",
            Self::Files => "files",
            Self::Ports => "ports",
            Self::Signals => "signals",
            Self::Programs => "programs and system calls",
            Self::Ipv6 => "no IPv6",
            Self::Limits => "resource limits",
            Self::Cgroup => "cgroup v2",
        }
    }

    /// Whether a system that lacks it is still as it should be: the others bound what it bounds.
    pub fn is_extra(self) -> bool {
        self == Self::Cgroup
    }
}

/// Whether a layer holds on this system, found out by trying.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which one.
    pub layer: Layer,
    /// Whether it holds.
    pub holds: bool,
    /// What was tried and what came of it, or why there is no such layer.
    pub proof: String,
}

/// Finds out what holds here, and where workers have control groups. Where something is missing that has to be there,
/// the error says what.
pub(crate) async fn examine(
    config: &RuntimeConfig,
    launch: &Launch,
) -> Result<(Vec<Finding>, Option<Cgroups>), RuntimeError> {
    let (cgroups, why_none) = match Cgroups::find(worker_bytes(&config.limits)) {
        Ok(cgroups) => (Some(cgroups), None),
        Err(why) => (None, Some(why)),
    };
    let group = cgroups.as_ref().map(|groups| groups.make(0)).transpose()?;
    let scratch = config.work_dir.join("0");
    fs::create_dir(&scratch)?;
    let lock = launch.lock(&scratch, group.as_ref().map(Group::path));
    let found = probe(&config.launcher, &lock, why_none.as_deref()).await;
    fs::remove_dir(scratch)?;
    drop(group);
    let found = found?;
    let missing = found
        .iter()
        .find(|finding| !finding.holds && !finding.layer.is_extra());
    if let Some(Finding { layer, proof, .. }) = missing.filter(|_| config.require_sandbox) {
        return Err(RuntimeError::Sandbox(format!(
            "vals would not be locked in as they have to be here: {} does not hold: {proof}; start without \
             require_sandbox to do without it",
            layer.name()
        )));
    }
    // One that can't be entered would keep workers from starting.
    let can_enter = |finding: &Finding| finding.layer == Layer::Cgroup && finding.holds;
    let cgroups = cgroups.filter(|_| found.iter().any(can_enter));
    Ok((found, cgroups))
}
