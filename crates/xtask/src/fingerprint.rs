//! Whether files have changed since something was made from them.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

/// Folders that hold what was made, not what it is made from.
const MADE: [&str; 4] = ["node_modules", "dist", "target", ".git"];

/// A hash of the names and contents of files and of all files in folders; what is missing counts as empty.
pub(crate) fn fingerprint(root: &Path, paths: &[&str]) -> io::Result<String> {
    let mut files = Vec::new();
    for path in paths {
        collect(&root.join(path), &mut files)?;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(root).unwrap_or(&file).hash(&mut hasher);
        fs::read(&file)?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
    }
    if !path.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if !MADE.iter().any(|name| entry.file_name() == *name) {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// A note of what something was made from, kept in a file.
pub(crate) struct Stamp(pub(crate) PathBuf);

impl Stamp {
    /// Whether the note says this.
    pub(crate) fn says(&self, text: &str) -> bool {
        fs::read_to_string(&self.0).is_ok_and(|found| found == text)
    }

    /// Writes the note.
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&self.0, text)
    }

    /// Takes the note away; what it stood for is made again next time.
    pub(crate) fn remove(&self) {
        // One that is not there is as good as removed.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    }

    fn of(folder: &tempfile::TempDir) -> String {
        fingerprint(folder.path(), &["src", "Cargo.toml"]).expect("a fingerprint")
    }

    #[test]
    fn the_same_files_have_the_same_fingerprint_wherever_they_are() {
        let files = [("src/a/b.rs", "fn b() {}"), ("Cargo.toml", "[package]")];
        assert_eq!(of(&folder_with(&files)), of(&folder_with(&files)));
    }

    #[test]
    fn a_changed_a_renamed_and_a_new_file_change_it() {
        let before = of(&folder_with(&[("src/a.rs", "1")]));
        assert_ne!(before, of(&folder_with(&[("src/a.rs", "2")])));
        assert_ne!(before, of(&folder_with(&[("src/b.rs", "1")])));
        assert_ne!(before, of(&folder_with(&[("src/a.rs", "1"), ("src/b.rs", "")])));
    }

    #[test]
    fn what_was_made_and_what_was_not_asked_for_do_not() {
        let before = of(&folder_with(&[("src/a.rs", "1")]));
        let after = of(&folder_with(&[
            ("src/a.rs", "1"),
            ("src/node_modules/x.js", "x"),
            ("src/dist/y.js", "y"),
            ("other.rs", "z"),
        ]));
        assert_eq!(before, after);
    }

    #[test]
    fn a_stamp_says_only_what_was_written() {
        let folder = folder_with(&[]);
        let stamp = Stamp(folder.path().join("deep/stamp"));
        assert!(!stamp.says("1"));
        stamp.write("1").expect("a written stamp");
        assert!(stamp.says("1") && !stamp.says("2"));
        stamp.remove();
        assert!(!stamp.says("1"));
    }
}
