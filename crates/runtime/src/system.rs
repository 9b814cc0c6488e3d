//! What the system tells of a process, and ending one.

use std::{fs, path::Path, time::Duration};

use nix::{
    sys::signal::{Signal, kill, killpg},
    time::ClockId,
    unistd::{Pid, SysconfVar, sysconf},
};

/// The CPU time that a process has used since it began, all its threads together.
pub(crate) fn cpu_time(pid: Pid) -> Option<Duration> {
    ClockId::pid_cpu_clock_id(pid)
        .and_then(ClockId::now)
        .ok()
        .map(Duration::from)
}

/// The memory that a process holds now, in bytes.
pub(crate) fn resident_bytes(pid: Pid) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * page_size())
}

/// The most memory that a process has held, in bytes.
pub(crate) fn peak_bytes(pid: Pid) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The machine's memory in bytes.
pub(crate) fn machine_bytes() -> Option<u64> {
    let pages = sysconf(SysconfVar::_PHYS_PAGES).ok()??;
    Some(u64::try_from(pages).ok()? * page_size())
}

fn page_size() -> u64 {
    sysconf(SysconfVar::PAGE_SIZE)
        .ok()
        .flatten()
        .and_then(|size| u64::try_from(size).ok())
        .unwrap_or(4096)
}

/// Ends a process and all that it started, at once.
pub(crate) fn kill_group(pid: Pid) {
    // It may be gone already, which is what is wanted.
    let _ = killpg(pid, Signal::SIGKILL);
}

/// Ends the workers, and what fetched modules, that an earlier server left when it was killed itself: those whose
/// command line names `work_dir`.
pub(crate) fn kill_leftovers(work_dir: &Path) {
    let marks = [
        format!("--allow-write={}/", work_dir.display()),
        format!("{}/stock/", work_dir.display()),
    ];
    let Ok(processes) = fs::read_dir("/proc") else {
        return;
    };
    for process in processes.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Ok(command) = fs::read(process.path().join("cmdline")) else {
            continue;
        };
        if command
            .split(|byte| *byte == 0)
            .any(|argument| marks.iter().any(|mark| argument.starts_with(mark.as_bytes())))
        {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// Lets this process have as many open files as the system allows it: every worker takes a few.
pub(crate) fn raise_open_files() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // Staying with fewer is no fault: runs beyond them are refused one by one.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
