//! What the runtime is told at its start.

use std::path::PathBuf;

use hamlet_models::Limits;

/// Where Deno is, where workers live, and what they may use.
#[derive(Clone, Debug)]
pub struct RuntimeConfig {
    /// The Deno program, 2.9 or newer.
    pub deno: PathBuf,
    /// A folder of the runtime's own: made if it is missing, for its owner alone, and emptied at start. Every worker
    /// has its scratch folder in it. Paths of Unix sockets are short by the system's rule: keep it under 60 bytes.
    pub work_dir: PathBuf,
    /// The program that locks a worker in and then becomes Deno: one that calls [`launch`](crate::launch) with what
    /// follows [`LAUNCH`](crate::LAUNCH), its first argument. `/proc/self/exe` is the running program itself.
    pub launcher: PathBuf,
    /// Whether to refuse to start where the system lacks a layer of that lock.
    pub require_sandbox: bool,
    /// Where Deno keeps the remote modules that vals import (`DENO_DIR`).
    pub cache_dir: PathBuf,
    /// The instance's own address as vals reach it; requests of a val to this origin, and to those of `module_hosts`, go
    /// through the [`ApiChannel`](crate::ApiChannel).
    pub api_url: String,
    /// What a run may use.
    pub limits: Limits,
    /// How much of a run's value [`Runtime::run`](crate::Runtime::run) answers, in kilobytes; how much of it is kept is
    /// up to who asked for the run.
    pub answer_kb: u64,
    /// How many workers are kept started and empty for the next cold run.
    pub blank_workers: usize,
    /// How many HTTP workers may be warm or busy before the least recently used one that is idle is retired; `None`
    /// takes it from the machine's memory.
    pub warm_workers: Option<usize>,
    /// Origins, as `https://example.com`, whose `/v/{user}/{val}` means a val of this instance, beside
    /// `https://esm.town`.
    pub module_hosts: Vec<String>,
    /// Whether the instance does not know every origin under which it is reached. An `http:` address of any host whose path
    /// is that of a val means this instance's then, if it has a user of that name.
    pub other_module_hosts: bool,
    /// The origin of another instance, which is asked for vals that are not here; without one, no import of a val leaves
    /// this instance.
    pub module_fallback: Option<String>,
}
