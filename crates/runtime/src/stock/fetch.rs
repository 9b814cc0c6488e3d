//! Fetching into the cache, by a process that runs nothing of what it fetches.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::{sync::Semaphore, time::Instant};

use crate::{
    compile::{Package, RemoteImport},
    lock::of_imports_alone,
    remove::remove_folder,
    sandbox::{Cgroups, FETCH_MB, Group},
    worker::{Launch, Purpose},
};

/// Processes that fetch at once.
const TURNS: usize = 4;
/// How long it may take to fetch what a program imports.
const PATIENCE: Duration = Duration::from_secs(30);
/// The system takes twice as much.
const LONGEST_ARGUMENT: usize = 64 << 10;
/// How much is kept of what Deno says of an import that can't be had.
const LONGEST_REASON: usize = 300;

/// What came of fetching.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    /// The lock with all that is there.
    pub(super) lock: Option<String>,
    /// What could not be had.
    pub(super) missing: Vec<Missing>,
}

/// An import that could not be had.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    /// What it asks for.
    pub(crate) specifier: String,
    /// Why it could not be had, in Deno's words.
    pub(crate) why: String,
    /// Whether it is there, but is not what was locked.
    pub(crate) changed: bool,
}

/// Starts the processes, a few at a time.
pub(super) struct Fetcher {
    launch: Launch,
    /// The control groups of processes, where the system has such.
    cgroups: Option<Arc<Cgroups>>,
    folder: PathBuf,
    turns: Semaphore,
    next: AtomicU64,
}

impl Fetcher {
    /// `folder` is there already, for this alone.
    pub(super) fn new(launch: Launch, cgroups: Option<Arc<Cgroups>>, folder: PathBuf) -> Self {
        Self {
            launch,
            cgroups,
            folder,
            turns: Semaphore::new(TURNS),
            next: AtomicU64::new(0),
        }
    }

    /// Fetches what these imports ask for: what the lock says, and what it doesn't say as the cache has it. Without a
    /// lock, it is asked which versions there are now.
    pub(super) async fn fetch(&self, imports: &[RemoteImport], lock: Option<&str>) -> io::Result<Fetched> {
        let _turn = self.turns.acquire().await.map_err(io::Error::other)?;
        let folder = self
            .folder
            .join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        let _removed = RemovedAtEnd(&folder);
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let lock_file = folder.join("deno.lock");
        match lock {
            Some(lock) => fs::write(&lock_file, lock)?,
            None => self.ask_for_versions(&folder, imports).await?,
        }
        let missing = match self
            .fetch_together(&folder, imports, Instant::now() + PATIENCE)
            .await?
        {
            None => Vec::new(),
            Some(failure) => self.fetch_each(&folder, imports, failure).await?,
        };
        Ok(Fetched {
            lock: fs::read_to_string(lock_file).ok(),
            missing,
        })
    }

    /// One import that can't be had must not keep the others from being fetched.
    async fn fetch_each(
        &self,
        folder: &Path,
        imports: &[RemoteImport],
        failure: Failure,
    ) -> io::Result<Vec<Missing>> {
        if let [only] = imports {
            return Ok(vec![failure.of(only)]);
        }
        let deadline = Instant::now() + PATIENCE;
        let mut missing = Vec::new();
        for import in imports {
            let alone = std::slice::from_ref(import);
            let failure = self.fetch_together(folder, alone, deadline).await?;
            missing.extend(failure.map(|failure| failure.of(import)));
        }
        Ok(missing)
    }

    /// Says why not all of it is there now, if it isn't.
    async fn fetch_together(
        &self,
        folder: &Path,
        imports: &[RemoteImport],
        deadline: Instant,
    ) -> io::Result<Option<Failure>> {
        let module = folder.join("imports.mjs");
        let statements: Vec<String> = imports.iter().map(RemoteImport::statement).collect();
        fs::write(&module, statements.join("\n"))?;
        self.deno(folder, &Purpose::Fetch(module), deadline).await
    }

    /// Has Deno ask the registries which versions there are of what is imported, and choose of them. Packages that are
    /// there stay as they are: others run with them.
    async fn ask_for_versions(&self, folder: &Path, imports: &[RemoteImport]) -> io::Result<()> {
        let packages: Vec<_> = imports.iter().filter_map(RemoteImport::package).collect();
        let asked: Vec<String> = packages.iter().map(Package::versions).collect();
        let asked = asked.join(",");
        // Of more than an argument holds, the cache has to know.
        if packages.is_empty() || asked.len() > LONGEST_ARGUMENT {
            return Ok(());
        }
        let named: Map<String, Value> = packages
            .iter()
            .enumerate()
            .map(|(index, package)| (format!("package{index}"), Value::from(package.request)))
            .collect();
        fs::write(
            folder.join("deno.json"),
            serde_json::json!({ "imports": named }).to_string(),
        )?;
        let purpose = Purpose::Resolve { asked };
        let lock_file = folder.join("deno.lock");
        let failed = self.deno(folder, &purpose, Instant::now() + PATIENCE).await?;
        match (failed, fs::read_to_string(&lock_file)) {
            (None, Ok(lock)) => fs::write(lock_file, of_imports_alone(&lock)),
            // Without an answer, what is in the cache has to do.
            (Some(_), Ok(_)) => fs::remove_file(lock_file),
            (_, Err(_)) => Ok(()),
        }
    }

    async fn deno(&self, folder: &Path, purpose: &Purpose, deadline: Instant) -> io::Result<Option<Failure>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Where it takes too long, the process ends first, and then its group goes.
        let cgroup = self.cgroups.as_ref().map(|groups| groups.make_to_fetch(number));
        let cgroup = cgroup.transpose()?;
        let lock = self
            .launch
            .lock_to_fetch(folder, cgroup.as_ref().map(Group::path));
        let process = self
            .launch
            .command(&lock, purpose, Stdio::null(), Stdio::piped())?
            .spawn()?;
        let output = match tokio::time::timeout_at(deadline, process.wait_with_output()).await {
            Ok(output) => output?,
            Err(_) => return Ok(Some(Failure::took_too_long())),
        };
        if cgroup.is_some_and(|group| group.bytes_it_ran_out_of().is_some()) {
            return Ok(Some(Failure::needed_too_much()));
        }
        Ok((!output.status.success()).then(|| Failure::read(&String::from_utf8_lossy(&output.stderr))))
    }
}

/// Why something could not be had.
struct Failure {
    why: String,
    changed: bool,
}

impl Failure {
    fn took_too_long() -> Self {
        Self {
            why: format!("it took longer than {} s", PATIENCE.as_secs()),
            changed: false,
        }
    }

    fn needed_too_much() -> Self {
        Self {
            why: format!("fetching it needed more than {FETCH_MB} MB of memory"),
            changed: false,
        }
    }

    /// Reads it from what Deno said: a sentence, and in the next line its first cause, if it names one.
    fn read(said: &str) -> Self {
        let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        let sentence = lines.next().unwrap_or("it could not be fetched");
        let sentence = sentence.strip_prefix("error: ").unwrap_or(sentence);
        let cause = lines.next().and_then(|line| line.strip_prefix("0: "));
        let mut why = cause.map_or_else(|| sentence.to_owned(), |cause| format!("{sentence}: {cause}"));
        why.truncate(why.floor_char_boundary(LONGEST_REASON));
        Self {
            why,
            changed: said.to_ascii_lowercase().contains("integrity check failed"),
        }
    }

    fn of(self, import: &RemoteImport) -> Missing {
        Missing {
            specifier: import.specifier.clone(),
            why: self.why,
            changed: self.changed,
        }
    }
}

/// Removes a folder; what is left of it is removed at the next start.
struct RemovedAtEnd<'a>(&'a Path);

impl Drop for RemovedAtEnd<'_> {
    fn drop(&mut self) {
        let _ = remove_folder(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_says_why() {
        let missing =
            Failure::read("\nerror: npm package 'missing' does not exist.\n    at file:///x.mjs:1:1\n");
        assert_eq!(
            (missing.why.as_str(), missing.changed),
            ("npm package 'missing' does not exist.", false)
        );
        let unreachable = Failure::read("error: Failed loading a\n    0: no route\n    1: more\n");
        assert_eq!(unreachable.why, "Failed loading a: no route");
        assert_eq!(Failure::read("").why, "it could not be fetched");
        assert!(Failure::read(&"é".repeat(200)).why.len() <= LONGEST_REASON);
    }

    #[test]
    fn what_is_not_what_was_locked_is_known_as_such() {
        let said = "error: Integrity check failed for remote specifier. The source code is invalid, as it does not \
                    match the expected hash in the lock file.\n\n  Specifier: https://a.test/m.js\n";
        assert!(Failure::read(said).changed);
    }
}
