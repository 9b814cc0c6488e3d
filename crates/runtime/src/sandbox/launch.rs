//! The launcher: a process that locks itself in and becomes a worker.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
};

use landlock::RulesetStatus;
use nix::{sys::prctl, unistd::close};

use super::{
    Layer, Lock,
    calls::{self, Sockets},
    cgroup, files, limits, probe, rights,
};

/// The first argument of a program that is to be the launcher.
pub const LAUNCH: &str = "launch-worker";

/// Puts on the lock that the first argument describes, and becomes Deno with the others; it returns only if it could
/// not. Without others it tries whether the lock holds, and prints what it found. To be called before the process has
/// a second thread.
pub fn launch(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let lock = arguments
        .next()
        .and_then(|lock| serde_json::from_str::<Lock>(lock.to_str()?).ok());
    let Some(lock) = lock else {
        return failed("this starts workers and is of no use by itself");
    };
    if let Err(cause) = close_inherited() {
        return failed(&format!("can't see which files are open: {cause}"));
    }
    let missing = enter(&lock);
    let arguments: Vec<OsString> = arguments.collect();
    if arguments.is_empty() {
        return match report(&lock, &missing) {
            Ok(()) => ExitCode::SUCCESS,
            Err(cause) => failed(&cause.to_string()),
        };
    }
    if let Some((_, why)) = missing.first().filter(|_| lock.strict) {
        return failed(why);
    }
    let cause = Command::new(&lock.deno).args(arguments).exec();
    failed(&format!("can't become {}: {cause}", lock.deno.display()))
}

/// Closes all but the three standard streams: what the server was started with, as by a shell or a service manager, is
/// not for vals, nor for SQL. What the server itself opens never comes here.
pub(super) fn close_inherited() -> io::Result<()> {
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|file| file.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for file in open.into_iter().filter(|file| *file > 2) {
        // The list of them was one of them, and is closed by now.
        let _ = close(file);
    }
    Ok(())
}

/// The layers that could not be put on, each with why.
pub(super) type Missing = Vec<(Layer, String)>;

/// Locks this process in, as far as the system can.
fn enter(lock: &Lock) -> Missing {
    let mut missing = Missing::new();
    let mut miss = |layer, why: String| missing.push((layer, why));
    if let Some(group) = &lock.cgroup
        && let Err(cause) = cgroup::enter(group)
    {
        miss(Layer::Cgroup, format!("the group could not be entered: {cause}"));
    }
    // Where the machine itself has no memory left, a worker goes before the server does. A system without that choice
    // makes its own.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    if let Err(cause) = limits::restrict(lock.memory_mb) {
        miss(
            Layer::Limits,
            format!("a resource limit could not be set: {cause}"),
        );
    }
    if let Err(cause) = prctl::set_no_new_privs() {
        miss(
            Layer::NewPrivileges,
            format!("the kernel does not take it: {cause}"),
        );
    }
    if let Err(cause) = rights::restrict(lock.cache_writable) {
        miss(
            Layer::NewPrivileges,
            format!("capabilities could not be given up: {cause}"),
        );
    }
    match files::restrict(lock) {
        Ok(RulesetStatus::NotEnforced) => miss(Layer::Files, "this kernel has no Landlock".into()),
        Ok(_) => {}
        Err(cause) => miss(Layer::Files, format!("Landlock failed: {cause}")),
    }
    if let Err(cause) = calls::restrict(Sockets::UnixAndIpv4) {
        miss(Layer::Programs, format!("seccomp failed: {cause}"));
    }
    missing
}

fn report(lock: &Lock, missing: &Missing) -> io::Result<()> {
    let findings = serde_json::to_vec(&probe::find(lock, missing))?;
    io::stdout().write_all(&findings)
}

fn failed(why: &str) -> ExitCode {
    // Standard error may be closed; then there is nobody to tell.
    let _ = writeln!(io::stderr(), "hamlet: {why}");
    ExitCode::FAILURE
}
