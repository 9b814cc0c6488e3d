//! How much a worker's files take: those in its folder, and those that it has open without a name.

use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

use nix::unistd::Pid;

use super::ending::MOST_FILES;

/// The bytes that they take on disk; [`u64::MAX`] if there are too many to count.
pub(super) fn bytes_of(folder: &Path, pid: Pid) -> u64 {
    let mut left = MOST_FILES;
    let mut bytes = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            // It is gone, perhaps with its worker.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
            // It is so deep that no path leads there, or closed: what can't be counted is too much.
            Err(_) => return u64::MAX,
        };
        for entry in entries.flatten() {
            if left == 0 {
                return u64::MAX;
            }
            left -= 1;
            let Ok(metadata) = entry.metadata() else { continue };
            bytes += metadata.blocks() * 512;
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    bytes + nameless(pid)
}

fn nameless(pid: Pid) -> u64 {
    let files = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten();
    let sizes = files.filter_map(|file| {
        // What the link leads to: the open file itself.
        let metadata = fs::metadata(file.path()).ok()?;
        (metadata.is_file() && metadata.nlink() == 0).then(|| metadata.blocks() * 512)
    });
    sizes.sum()
}
