//! The lock of a process of the server's own, which works on what isn't to be trusted and becomes nothing else.

mod trial;

use std::{fs, io, path::Path, time::Duration};

use landlock::{
    Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use nix::sys::{
    prctl,
    resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit},
    signal::Signal,
};

pub use self::trial::Trial;
use super::{calls, files::WANTED, launch::close_inherited, limits, rights};

/// Open files: its standard streams and what it works on.
const OPEN_FILES: u64 = 64;
/// What any process may read: the time zone, and chance.
const READABLE: [&str; 3] = ["/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom"];

/// A process that has locked itself in.
pub struct Enclosure {
    missing: Vec<String>,
    memory_bytes: u64,
    limits: [(Resource, u64); 4],
}

impl Enclosure {
    /// Locks this process in, as far as the system can: of what it was started with it keeps the standard streams; it
    /// reaches no files but those in `folder`, no network and no other process; it has so many bytes of memory of its
    /// own and so many in each file; and it ends when the thread does that started it. To be called before the process
    /// has a second thread.
    pub fn enter(folder: Option<&Path>, memory_bytes: u64, file_bytes: u64) -> Self {
        let mut enclosure = Self {
            missing: Vec::new(),
            memory_bytes,
            limits: [
                (Resource::RLIMIT_CORE, 0),
                (Resource::RLIMIT_NOFILE, OPEN_FILES),
                (Resource::RLIMIT_FSIZE, file_bytes),
                (Resource::RLIMIT_DATA, memory_bytes),
            ],
        };
        enclosure.note("closing what was open", close_inherited());
        // Where the machine itself has no memory left, this goes before the server does.
        let _ = fs::write("/proc/self/oom_score_adj", "1000");
        for (resource, most) in enclosure.limits {
            enclosure.note("a resource limit", limits::lower(resource, most));
        }
        enclosure.note("no new privileges", prctl::set_no_new_privs());
        enclosure.note("fewer capabilities", rights::restrict(true));
        // Whoever changes its capabilities loses this: it comes after.
        enclosure.note("the parent's end", prctl::set_pdeathsig(Signal::SIGKILL));
        enclosure.restrict_files(folder);
        enclosure.note("seccomp", calls::restrict(calls::Sockets::None));
        enclosure
    }

    /// From now on it reaches the files alone that it has open.
    pub fn close_files(&mut self) {
        self.restrict_files(None);
    }

    /// What of the lock this system does not have.
    pub fn missing(&self) -> Option<String> {
        (!self.missing.is_empty()).then(|| self.missing.join("; "))
    }

    fn restrict_files(&mut self, folder: Option<&Path>) {
        match restrict_files(folder) {
            Ok(RulesetStatus::NotEnforced) => self.missing.push("this kernel has no Landlock".to_owned()),
            done => self.note("Landlock", done),
        }
    }

    fn note<T, E: std::fmt::Display>(&mut self, what: &str, done: Result<T, E>) {
        if let Err(cause) = done {
            self.missing.push(format!("{what} failed: {cause}"));
        }
    }
}

/// Lets this process work for so long from now, counted by the clock of its CPU: then the kernel ends it.
pub fn allow_cpu(time: Duration) -> io::Result<()> {
    let used = getrusage(UsageWho::RUSAGE_SELF)?;
    let used = used.user_time().tv_sec() + used.system_time().tv_sec();
    let (_, hard) = getrlimit(Resource::RLIMIT_CPU)?;
    // Seconds are all that it counts in, and those used were rounded down.
    let most = used.unsigned_abs() + time.as_secs() + 2;
    Ok(setrlimit(Resource::RLIMIT_CPU, most.min(hard), hard)?)
}

/// Lets this process have so many bytes of memory of its own from now on, within what it was locked in with.
pub fn allow_memory(bytes: u64) -> io::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_DATA)?;
    Ok(setrlimit(Resource::RLIMIT_DATA, bytes.min(hard), hard)?)
}

fn restrict_files(folder: Option<&Path>) -> Result<RulesetStatus, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let keep = AccessFs::ReadFile
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::ReadDir
        | AccessFs::MakeReg
        | AccessFs::RemoveFile;
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        .handle_access(AccessNet::from_all(WANTED))?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules(READABLE, read))?
        .add_rules(path_beneath_rules(folder, keep))?;
    Ok(rules.restrict_self()?.ruleset)
}
