//! Control groups, version 2: the kernel's own count of what a worker holds. They are there where the system hands them
//! to the server, as systemd does with `Delegate=memory pids` and `DelegateSubgroup=server`.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process, thread,
    time::Duration,
};

use nix::{errno::Errno, sys::signal::kill, unistd::Pid};
use uuid::Uuid;

/// Where the one tree of groups is.
const MOUNT: &str = "/sys/fs/cgroup";
/// Threads of a worker; a quiet one has about fifteen.
pub(crate) const THREADS: u32 = 512;
/// What a process may hold that fetches modules: it runs none of them, and reads all of one to look at it.
pub(crate) const FETCH_MB: u64 = 1024;
/// What the name of every worker's group begins with.
const NAME: &str = "hamlet-";
const MEMORY_MAX: &str = "memory.max";
/// How often it is tried to remove a group, and the time between.
const REMOVALS: u32 = 200;
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);

/// The group under which workers have theirs.
#[derive(Debug)]
pub(crate) struct Cgroups {
    base: PathBuf,
    prefix: String,
    memory_bytes: u64,
}

impl Cgroups {
    /// Looks for a group in which this process may make others: its own, or the one above if that was made for it. The
    /// error says why there is none.
    pub(crate) fn find(memory_bytes: u64) -> Result<Self, String> {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let own = groups
            .lines()
            .find_map(|line| line.strip_prefix("0::/"))
            // Joined, an empty path would leave a slash behind.
            .map(|path| Path::new(MOUNT).join(path).components().collect::<PathBuf>())
            .filter(|own| own.join("cgroup.controllers").exists())
            .ok_or_else(|| format!("{MOUNT} has no cgroup v2 tree with this process in it"))?;
        let base = choose(&own, Path::new(MOUNT))?;
        remove_left(&base);
        Ok(Self {
            base,
            prefix: prefix(),
            memory_bytes,
        })
    }

    /// Makes the group of one worker.
    pub(crate) fn make(&self, worker: u64) -> io::Result<Group> {
        self.make_named(&worker.to_string(), self.memory_bytes)
    }

    /// Makes the group of a process that fetches modules.
    pub(crate) fn make_to_fetch(&self, process: u64) -> io::Result<Group> {
        self.make_named(&format!("fetch-{process}"), FETCH_MB << 20)
    }

    fn make_named(&self, name: &str, memory_bytes: u64) -> io::Result<Group> {
        let group = Group(self.base.join(format!("{}-{name}", self.prefix)));
        fs::create_dir(&group.0)?;
        fs::write(group.0.join(MEMORY_MAX), memory_bytes.to_string())?;
        fs::write(group.0.join("pids.max"), THREADS.to_string())?;
        // A kernel without swap has no such file.
        let _ = fs::write(group.0.join("memory.swap.max"), "0");
        Ok(group)
    }
}

/// The group of one process, which is removed when this is dropped, and what is left in it ended.
#[derive(Debug)]
pub(crate) struct Group(PathBuf);

impl Group {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The bytes that it may hold, if the kernel ended a process of it for want of more.
    pub(crate) fn bytes_it_ran_out_of(&self) -> Option<u64> {
        let events = fs::read_to_string(self.0.join("memory.events")).ok()?;
        let killed = events.lines().find_map(|line| line.strip_prefix("oom_kill "))?;
        if killed == "0" {
            return None;
        }
        let most = fs::read_to_string(self.0.join(MEMORY_MAX)).ok()?;
        most.trim().parse().ok()
    }

    /// Whether a thread was refused to it.
    pub(crate) fn ran_out_of_threads(&self) -> bool {
        let events = fs::read_to_string(self.0.join("pids.events")).unwrap_or_default();
        let refused = events.lines().find_map(|line| line.strip_prefix("max "));
        refused.is_some_and(|refused| refused != "0")
    }

    /// Removes it now. Its process has ended as a rule; one that hasn't is ended, which takes a moment.
    pub(crate) fn remove(&self) {
        for _ in 0..REMOVALS {
            match fs::remove_dir(&self.0) {
                Err(cause) if cause.kind() == io::ErrorKind::ResourceBusy => self.kill(),
                // What can't be removed is looked at again by the next server.
                _ => return,
            }
            thread::sleep(REMOVAL_PAUSE);
        }
    }

    /// Ends all that is in it, on Linux 5.14 or newer.
    fn kill(&self) {
        let file = fs::File::options().write(true).open(self.0.join("cgroup.kill"));
        let _ = file.and_then(|mut file| file.write_all(b"1"));
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.remove();
    }
}

/// The group to make others in: this process's own, or the one above in the tree that begins at `root`.
fn choose(own: &Path, root: &Path) -> Result<PathBuf, String> {
    let Err(why_not_own) = hand_down(own) else {
        return Ok(own.to_owned());
    };
    let Some(above) = own.parent().filter(|above| above.starts_with(root)) else {
        return Err(why_not_own);
    };
    match made_for(own, above).and_then(|()| hand_down(above)) {
        Ok(()) => Ok(above.to_owned()),
        Err(why_not_above) => Err(format!("{why_not_own}; {why_not_above}")),
    }
}

/// Only root could make groups among those of other services: there they would be bounded, and ended, by nobody who
/// manages this one.
fn made_for(own: &Path, above: &Path) -> Result<(), String> {
    let is_other = |entry: &fs::DirEntry| {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        // A service manager's own helpers are in one that is hidden.
        path.is_dir() && path != own && !name.starts_with(NAME) && !name.starts_with('.')
    };
    let mut groups = fs::read_dir(above).into_iter().flatten().flatten();
    match groups.find(is_other) {
        Some(other) => Err(format!(
            "{} is not the server's alone: it holds {}",
            above.display(),
            other.file_name().to_string_lossy()
        )),
        None => Ok(()),
    }
}

/// What the names of the groups of this server begin with: no other has them, whatever numbers processes get.
fn prefix() -> String {
    let unique = Uuid::new_v4().simple().to_string();
    format!("{NAME}{}-{}", process::id(), &unique[..8])
}

/// Ends and removes what servers left that are gone.
fn remove_left(base: &Path) {
    let left: Vec<Group> = fs::read_dir(base)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let server = name
                .to_str()
                .and_then(|name| name.strip_prefix(NAME)?.split('-').next());
            server
                .and_then(|server| server.parse().ok())
                .is_some_and(|server| kill(Pid::from_raw(server), None) == Err(Errno::ESRCH))
        })
        .map(|entry| Group(entry.path()))
        .collect();
    // All end at once; then dropping them removes them.
    left.iter().for_each(Group::kill);
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
    let trial = base.join(format!("{}-trial", prefix()));
    fs::create_dir(&trial).map_err(|cause| format!("no group can be made in {place}: {cause}"))?;
    fs::remove_dir(trial).map_err(|cause| format!("no group can be removed from {place}: {cause}"))
}

/// Puts this process into a group.
pub(super) fn enter(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
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
    fn the_group_above_serves_only_if_it_is_the_servers_alone() {
        let above = group("memory pids", "memory pids");
        let own = above.path().join("server");
        for made in ["server", "hamlet-1-aaaaaaaa-1", ".control"] {
            fs::create_dir(above.path().join(made)).expect("a folder");
        }
        let chosen = choose(&own, above.path()).expect("a group");
        assert_eq!(chosen, above.path());
        fs::create_dir(above.path().join("other.service")).expect("a folder");
        let why = choose(&own, above.path()).expect_err("refused");
        assert!(
            why.contains("server has no controllers for memory and pids; ")
                && why.ends_with("is not the server's alone: it holds other.service"),
            "{why}"
        );
        let own = above.path();
        assert_eq!(choose(own, own), Ok(own.to_owned()), "its own is tried first");
    }

    #[test]
    fn what_a_server_left_that_is_gone_is_removed() {
        let base = group("memory pids", "memory pids");
        let of = |server: u32| base.path().join(format!("{NAME}{server}-aaaaaaaa-1"));
        // The system gives no such number to a process.
        let (gone, lives) = (of(i32::MAX.cast_unsigned()), of(process::id()));
        for made in [&gone, &lives] {
            fs::create_dir(made).expect("a folder");
        }
        remove_left(base.path());
        assert!(!gone.exists() && lives.exists());
    }

    #[test]
    fn a_group_goes_when_nothing_holds_it() {
        let base = tempfile::tempdir().expect("a folder");
        let path = base.path().join("group");
        fs::create_dir(&path).expect("a folder");
        drop(Group(path.clone()));
        assert!(!path.exists());
    }

    #[test]
    fn a_workers_group_bounds_memory_and_threads() {
        let base = group("memory pids", "memory pids");
        let groups = Cgroups {
            base: base.path().to_owned(),
            prefix: prefix(),
            memory_bytes: 1 << 20,
        };
        let made = groups.make(7).expect("a group");
        let read = |file: &str| fs::read_to_string(made.path().join(file)).expect("a file");
        assert_eq!(
            (read("memory.max"), read("pids.max")),
            ("1048576".into(), "512".into())
        );
        assert_eq!(made.bytes_it_ran_out_of(), None);
        let tell = |events| fs::write(made.path().join("memory.events"), events).expect("a file");
        tell("oom 2\noom_kill 0\n");
        assert_eq!(made.bytes_it_ran_out_of(), None);
        tell("oom 2\noom_kill 1\n");
        assert_eq!(made.bytes_it_ran_out_of(), Some(1 << 20));
        assert!(!made.ran_out_of_threads());
        fs::write(made.path().join("pids.events"), "max 3\n").expect("a file");
        assert!(made.ran_out_of_threads());
        let fetching = groups.make_to_fetch(7).expect("a group beside it");
        let most = fs::read_to_string(fetching.path().join(MEMORY_MAX)).expect("a file");
        assert_eq!(most, "1073741824");
    }
}
