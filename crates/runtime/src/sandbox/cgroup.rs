//! Control groups, version 2: the kernel's own count of what a worker holds. They are there where the system hands them
//! to the server, as systemd does with `Delegate=memory pids` and `DelegateSubgroup=server`.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
};

/// Where the one tree of groups is.
const MOUNT: &str = "/sys/fs/cgroup";
/// Threads of a worker; a quiet one has about fifteen.
const THREADS: u32 = 512;

/// The group under which workers have theirs.
#[derive(Debug)]
pub(crate) struct Cgroups {
    base: PathBuf,
    memory_bytes: u64,
}

impl Cgroups {
    /// Looks for a group in which this process may make others: its own or the one above. The error says why there is
    /// none.
    pub(crate) fn find(memory_bytes: u64) -> Result<Self, String> {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let own = groups
            .lines()
            .find_map(|line| line.strip_prefix("0::/"))
            .map(|path| Path::new(MOUNT).join(path))
            .filter(|own| own.join("cgroup.controllers").exists())
            .ok_or("this system has no cgroup v2 tree, or hides it")?;
        let above = own.parent().filter(|above| above.starts_with(MOUNT));
        let mut why = String::new();
        for base in std::iter::once(own.as_path()).chain(above) {
            match hand_down(base) {
                Ok(()) => {
                    let groups = Self {
                        base: base.to_owned(),
                        memory_bytes,
                    };
                    groups.remove_left();
                    return Ok(groups);
                }
                Err(refused) => why = refused,
            }
        }
        Err(why)
    }

    /// Makes the group of one worker.
    pub(crate) fn make(&self, worker: u64) -> io::Result<PathBuf> {
        let group = self.base.join(format!("hamlet-{}-{worker}", process::id()));
        fs::create_dir(&group)?;
        fs::write(group.join("memory.max"), self.memory_bytes.to_string())?;
        fs::write(group.join("pids.max"), THREADS.to_string())?;
        // A kernel without swap has no such file.
        let _ = fs::write(group.join("memory.swap.max"), "0");
        Ok(group)
    }

    /// Removes what servers left that are gone: a group with a process in it stays.
    fn remove_left(&self) {
        for entry in fs::read_dir(&self.base).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("hamlet-") {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

/// Lets the groups under `base` bound memory and threads.
fn hand_down(base: &Path) -> Result<(), String> {
    let has_both = |file: &str| {
        let names = fs::read_to_string(base.join(file)).unwrap_or_default();
        ["memory", "pids"]
            .iter()
            .all(|wanted| names.split_whitespace().any(|name| name == *wanted))
    };
    let place = base.display();
    if !has_both("cgroup.controllers") {
        return Err(format!("{place} has no controllers for memory and pids"));
    }
    if !has_both("cgroup.subtree_control") {
        fs::write(base.join("cgroup.subtree_control"), "+memory +pids")
            .map_err(|cause| format!("{place} can't hand its controllers down: {cause}"))?;
    }
    let trial = base.join(format!("hamlet-{}-trial", process::id()));
    fs::create_dir(&trial).map_err(|cause| format!("no group can be made in {place}: {cause}"))?;
    fs::remove_dir(trial).map_err(|cause| format!("no group can be removed from {place}: {cause}"))
}

/// Puts this process into a group.
pub(super) fn enter(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

/// Whether the kernel ended a process of the group for want of memory.
pub(crate) fn met_its_limit(group: &Path) -> bool {
    let events = fs::read_to_string(group.join("memory.events")).unwrap_or_default();
    events
        .lines()
        .filter_map(|line| line.strip_prefix("oom_kill "))
        .any(|count| count != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like a group with these controllers.
    fn group(controllers: &str, handed_down: &str) -> tempfile::TempDir {
        let base = tempfile::tempdir().expect("a folder");
        fs::write(base.path().join("cgroup.controllers"), controllers).expect("a file");
        fs::write(base.path().join("cgroup.subtree_control"), handed_down).expect("a file");
        base
    }

    #[test]
    fn a_group_that_may_bound_memory_hands_it_down() {
        let base = group("cpu memory pids\n", "cpu\n");
        assert_eq!(hand_down(base.path()), Ok(()));
        let told = fs::read_to_string(base.path().join("cgroup.subtree_control")).expect("a file");
        assert_eq!(told, "+memory +pids");
    }

    #[test]
    fn a_group_without_the_controllers_says_so() {
        let base = group("cpu\n", "");
        let why = hand_down(base.path()).expect_err("refused");
        assert!(why.ends_with("has no controllers for memory and pids"), "{why}");
    }

    #[test]
    fn a_workers_group_bounds_memory_and_threads() {
        let base = group("memory pids", "memory pids");
        let groups = Cgroups {
            base: base.path().to_owned(),
            memory_bytes: 1 << 20,
        };
        let made = groups.make(7).expect("a group");
        let read = |file: &str| fs::read_to_string(made.join(file)).expect("a file");
        assert_eq!(
            (read("memory.max"), read("pids.max")),
            ("1048576".into(), "512".into())
        );
        assert!(!met_its_limit(&made));
        fs::write(made.join("memory.events"), "oom 2\noom_kill 1\n").expect("a file");
        assert!(met_its_limit(&made));
    }
}
