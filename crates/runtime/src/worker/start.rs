//! Starting a Deno process, up to where it waits for its job.

use std::{
    fs, io,
    os::{
        fd::OwnedFd,
        unix::fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use http::HeaderName;
use nix::{
    sys::stat::Mode,
    unistd::{Pid, mkfifo},
};
use tokio::{net::UnixListener, sync::watch};
use uuid::Uuid;

use super::{Duty, LOCK_FILE, Nursery, Purpose, Worker, pipe::Pipe};
use crate::{RuntimeError, remove::remove_folder};

/// How long Deno may take until it is ready for a job; a machine under load is slow, a broken Deno never gets there.
const START_LIMIT: Duration = Duration::from_secs(20);
/// A raw line that is longer is kept in pieces.
const LONGEST_RAW_LINE: usize = 16 << 10;

impl Worker {
    /// Starts a process and waits until it is ready for its job. With a `lock`, its imports from elsewhere lead where
    /// that says.
    pub(crate) async fn start(nursery: &Arc<Nursery>, lock: Option<&str>) -> Result<Arc<Self>, RuntimeError> {
        // The end of the runtime waits for those that nobody looks after yet, too.
        let _starting = nursery.attendants.token();
        let number = nursery.next.fetch_add(1, Ordering::Relaxed);
        let dir = nursery.work_dir.join(number.to_string());
        fs::DirBuilder::new().mode(0o700).create(&dir)?;
        let started = Self::start_in(nursery, number, dir.clone(), lock).await;
        if started.is_err() {
            // Nobody else knows of it yet.
            let _ = remove_folder(&dir);
        }
        started
    }

    async fn start_in(
        nursery: &Arc<Nursery>,
        number: u64,
        dir: PathBuf,
        imports: Option<&str>,
    ) -> Result<Arc<Self>, RuntimeError> {
        if let Some(imports) = imports {
            fs::write(dir.join(LOCK_FILE), imports)?;
        }
        let listener = UnixListener::bind(dir.join("socket"))?;
        mkfifo(&dir.join("pipe"), Mode::S_IRUSR | Mode::S_IWUSR).map_err(io::Error::from)?;
        let frames = open_pipe(&dir.join("pipe"))?;
        let api = match &nursery.api {
            Some(_) => Some(UnixListener::bind(dir.join("api"))?),
            None => None,
        };
        let (stdout, stdout_end) = new_pipe()?;
        let (stderr, stderr_end) = new_pipe()?;
        // Where the start fails, or is given up, the process ends first, and then its group goes.
        let cgroup = nursery
            .cgroups
            .as_ref()
            .map(|groups| groups.make(number).map(Arc::new))
            .transpose()?;
        let lock = nursery
            .launch
            .lock(&dir, cgroup.as_ref().map(|group| group.path()));
        let purpose = Purpose::Val {
            locked: imports.is_some(),
        };
        let mut child = nursery
            .launch
            .command(&lock, &purpose, stdout_end.into(), stderr_end.into())?
            .spawn()
            .map_err(|cause| RuntimeError::Deno(format!("Deno could not be started: {cause}")))?;
        let pid = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .map(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("a process without an id"))?;

        let stderr = Pipe::new(stderr, LONGEST_RAW_LINE)?;
        let control = tokio::select! {
            accepted = tokio::time::timeout(START_LIMIT, listener.accept()) => match accepted {
                Ok(accepted) => accepted?.0,
                Err(_) => return Err(RuntimeError::Deno(format!(
                    "a Deno process was not ready within {} s", START_LIMIT.as_secs()
                ))),
            },
            _ = child.wait() => {
                let mut said = String::new();
                stderr.pump(|line| said.push_str(&format!("{}\n", String::from_utf8_lossy(line))));
                return Err(RuntimeError::Deno(format!("Deno ended at its start: {}", said.trim())));
            }
        };
        // Their names are gone before a val runs, so that it can't open them a second time.
        fs::remove_file(dir.join("socket"))?;
        fs::remove_file(dir.join("pipe"))?;
        if imports.is_some() {
            // Deno has read it, and the folder is the val's.
            fs::remove_file(dir.join(LOCK_FILE))?;
        }

        let secret = Uuid::new_v4().simple().to_string();
        let failure_header = format!("hamlet-failure-{}", Uuid::new_v4().simple());
        let worker = Arc::new(Self {
            number,
            dir,
            cgroup,
            pid,
            key: secret,
            failure_header: HeaderName::try_from(failure_header).map_err(io::Error::other)?,
            control: tokio::sync::Mutex::new(control.into_split().1),
            frames: Pipe::new(frames, nursery.longest_frame)?,
            stdout: Pipe::new(stdout, LONGEST_RAW_LINE)?,
            stderr,
            duty: Mutex::new(Duty::Blank),
            runs: Mutex::default(),
            answer: Mutex::default(),
            modules: OnceLock::new(),
            open_imports: AtomicU64::new(0),
            doom: OnceLock::new(),
            exit: watch::Sender::new(None),
            waited_for: AtomicBool::new(false),
            engine_gave_up: AtomicBool::new(false),
            held_lines: Mutex::default(),
            cpu_given: AtomicU64::new(0),
            last_moment: OnceLock::new(),
            cpu_seen: AtomicU64::new(0),
            ended_seen: AtomicU64::new(0),
            rest: Mutex::default(),
            overstayed: AtomicBool::new(false),
            cpu_at_files: AtomicU64::new(0),
            memory_seen: AtomicU64::new(0),
        });
        nursery
            .living
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(number, worker.clone());
        nursery.attendants.spawn(super::nursery::attend(
            nursery.clone(),
            worker.clone(),
            child,
            api,
        ));
        Ok(worker)
    }
}

/// The reading end of a named pipe; nothing has to be at the other end yet.
fn open_pipe(path: &Path) -> io::Result<OwnedFd> {
    let non_blocking = nix::fcntl::OFlag::O_NONBLOCK.bits();
    Ok(fs::OpenOptions::new()
        .read(true)
        .custom_flags(non_blocking)
        .open(path)?
        .into())
}

/// A pipe for a standard stream: our end and the worker's.
fn new_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}
