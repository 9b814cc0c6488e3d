//! What a server has of the machine, by the system's own account.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::program::Program;

/// What a server has of the machine at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Footprint {
    /// How many files it has open, by kind or path.
    files: BTreeMap<String, usize>,
    /// How many processes it has started that run.
    processes: usize,
    /// How many of those are workers.
    workers: usize,
    /// How many folders there are of workers.
    scratch: usize,
}

impl Footprint {
    pub(crate) fn of(server: &Program) -> Self {
        Self {
            files: open_files(server),
            processes: children(server.id).len(),
            workers: told_of(&server.work_dir()).len(),
            scratch: scratch(server).len(),
        }
    }

    /// Whether there is no more of anything than there was then.
    pub(crate) fn is_within(&self, before: &Self) -> bool {
        let had = |(kind, count): (&String, &usize)| before.files.get(kind).is_some_and(|had| count <= had);
        let counts = |of: &Self| [of.processes, of.workers, of.scratch];
        let no_more = counts(self)
            .iter()
            .zip(counts(before))
            .all(|(now, had)| *now <= had);
        self.files.iter().all(had) && no_more
    }

    /// Whether no worker is there but one that waits for its first run.
    pub(crate) fn is_at_rest(&self) -> bool {
        (self.workers, self.scratch) == (1, 1)
    }
}

/// Its open files but for the databases', of whose readers there are as many as were ever needed at once.
fn open_files(server: &Program) -> BTreeMap<String, usize> {
    let mut files = BTreeMap::new();
    let open = fs::read_dir(format!("/proc/{}/fd", server.id)).expect("its files");
    for link in open.flatten().filter_map(|file| fs::read_link(file.path()).ok()) {
        let is_of_database = link.parent() == Some(&server.data_dir)
            && link
                .file_name()
                .is_some_and(|name| name.to_string_lossy().contains(".db"));
        if !is_of_database {
            *files.entry(kind(&link)).or_default() += 1;
        }
    }
    files
}

/// The path without the numbers in it, which differ from worker to worker, or the kind of what has none.
fn kind(link: &Path) -> String {
    let link = link.to_string_lossy();
    match link.split_once(":[") {
        Some((kind @ ("socket" | "pipe"), _)) => kind.to_owned(),
        _ => link.replace(|c: char| c.is_ascii_digit(), ""),
    }
}

/// The processes that this one has started, and that run.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name, in brackets, may hold anything.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        fields.next().is_some_and(|state| state != "Z") && fields.next() == Some(&parent.to_string())
    };
    processes().filter(is_child).collect()
}

/// The processes on this machine that were told of this folder when they were started.
pub(crate) fn told_of(folder: &Path) -> Vec<u32> {
    let folder = folder.as_os_str().as_encoded_bytes();
    let is_told = |pid: &u32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.windows(folder.len()).any(|part| part == folder)
    };
    processes().filter(is_told).collect()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What is in the folder of workers beside what all of them share.
pub(crate) fn scratch(server: &Program) -> Vec<PathBuf> {
    let shared = ["bootstrap", "stock"];
    let entries = fs::read_dir(server.work_dir()).into_iter().flatten().flatten();
    entries
        .filter(|entry| !shared.iter().any(|name| entry.file_name() == *name))
        .map(|entry| entry.path())
        .collect()
}

/// The most memory that a process has had in use until now, in megabytes.
pub(crate) fn most_memory_mb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line
        .and_then(|line| line.split_whitespace().next())
        .expect("its memory");
    kb.parse::<u64>().expect("a number") >> 10
}
