//! Where things are, and commands that run there.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// The checkout, and the folders that the chores use beside it.
pub(crate) struct Project {
    /// The checkout.
    pub(crate) root: PathBuf,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
    /// Tools that all checkouts share.
    pub(crate) cache: PathBuf,
    path: Vec<PathBuf>,
    variables: Vec<(&'static str, PathBuf)>,
}

impl Project {
    /// The project that this program was built from.
    pub(crate) fn here() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = parent(&parent(Path::new(&manifest))?)?;
        // Cargo put this program in <target>/debug/: so the target folder is right whatever moved it.
        let target = parent(&parent(&env::current_exe()?)?)?;
        Ok(Self {
            root,
            target,
            cache: cache_folder()?,
            path: Vec::new(),
            variables: Vec::new(),
        })
    }

    /// Puts a folder in front of the path of every later command.
    pub(crate) fn add_to_path(&mut self, folder: PathBuf) {
        if !self.path.contains(&folder) {
            self.path.insert(0, folder);
        }
    }

    /// Sets an environment variable for every later command.
    pub(crate) fn set_variable(&mut self, name: &'static str, value: PathBuf) {
        self.variables.push((name, value));
    }

    /// A command in the checkout, with the project's tools first on its path.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("PATH", self.search_path());
        // Cargo describes this program in variables that some build scripts watch: left in, they would
        // build their crates again each time that a command is called the other way.
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "CARGO" {
                command.env_remove(name.as_ref());
            }
        }
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// Where a program is, seen from the project's commands.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        env::split_paths(&self.search_path())
            .map(|folder| folder.join(program))
            .find(|path| path.is_file())
    }

    fn search_path(&self) -> OsString {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let folders = self.path.iter().cloned().chain(env::split_paths(&inherited));
        env::join_paths(folders).unwrap_or(inherited)
    }
}

/// `HAMLET_CACHE`, else `hamlet` in the user's cache folder.
fn cache_folder() -> Result<PathBuf> {
    if let Some(folder) = env::var_os("HAMLET_CACHE") {
        return Ok(std::path::absolute(folder)?);
    }
    let user_cache = match env::var_os("XDG_CACHE_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => env::home_dir()
            .context("no home folder for tools: set HAMLET_CACHE")?
            .join(".cache"),
    };
    Ok(user_cache.join("hamlet"))
}

fn parent(path: &Path) -> Result<PathBuf> {
    path.parent()
        .map(Path::to_owned)
        .with_context(|| format!("{} has no parent", path.display()))
}

/// Says what the next, possibly long, step is for.
pub(crate) fn say(sentence: &str) {
    eprintln!("\n== {sentence}");
}

/// Prints a command, runs it, and fails if it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    announce(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("can't start {}", program(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", show(command));
    }
    Ok(())
}

/// Prints a command.
pub(crate) fn announce(command: &Command) {
    eprintln!("$ {}", show(command));
}

/// What a command prints to standard output; nothing if it can't be run or fails.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn program(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn show(command: &Command) -> String {
    let mut line = program(command);
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}
