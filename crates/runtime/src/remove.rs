//! Removing a folder that a val had.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use uuid::Uuid;

/// Removes a folder with all that is in it. The standard library goes down one call a level, and a val can make more
/// levels than a stack or a path has room for; here each folder is brought up to the first level, and emptied there.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    // None that a val could have taken.
    let mark = Uuid::new_v4().simple().to_string();
    let mut moved = 0_u64;
    open_up(folder)?;
    loop {
        let mut is_empty = true;
        for entry in fs::read_dir(folder)? {
            is_empty = false;
            let entry = entry?;
            let path = entry.path();
            if !entry.file_type()?.is_dir() {
                fs::remove_file(path)?;
                continue;
            }
            open_up(&path)?;
            for inner in fs::read_dir(&path)? {
                let inner = inner?;
                if inner.file_type()?.is_dir() {
                    // Only who may write to a folder may move it.
                    open_up(&inner.path())?;
                    fs::rename(inner.path(), folder.join(format!("{mark}-{moved}")))?;
                    moved += 1;
                } else {
                    fs::remove_file(inner.path())?;
                }
            }
            fs::remove_dir(path)?;
        }
        if is_empty {
            return fs::remove_dir(folder);
        }
    }
}

/// A val may have closed its folders to everyone.
fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn folders_deeper_than_a_path_can_say_are_removed() {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path().join("folder");
        let levels: PathBuf = std::iter::repeat_n("a".repeat(200), 15).collect();
        fs::create_dir(&folder).expect("a folder");
        for turn in 0..4 {
            let next = folder.join(format!("next{turn}"));
            fs::create_dir_all(next.join(&levels)).expect("folders");
            if turn > 0 {
                let last = folder.join(format!("next{}", turn - 1));
                fs::rename(last, next.join(&levels).join("last")).expect("a move");
            }
        }
        remove_folder(&folder).expect("nothing in its way");
        assert!(!folder.exists());
    }

    #[test]
    fn closed_folders_and_files_are_removed() {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path().join("folder");
        fs::create_dir_all(folder.join("a/b")).expect("folders");
        fs::write(folder.join("a/b/file"), "").expect("a file");
        std::os::unix::fs::symlink("/etc", folder.join("a/link")).expect("a link");
        for closed in ["a/b", "a", ""] {
            fs::set_permissions(folder.join(closed), Permissions::from_mode(0o000)).expect("closed");
        }
        remove_folder(&folder).expect("nothing in its way");
        assert!(!folder.exists() && Path::new("/etc").exists());
    }
}
