//! One Deno process: started blank, given one program, and ended by the host or by having nothing left to do.

mod command;
mod ending;
mod frames;
mod pipe;

use std::{
    collections::{HashMap, VecDeque},
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
    time::{Duration, Instant},
};

use hamlet_models::{LogLevel, LogStream, RunId};
use http::{HeaderName, HeaderValue};
use nix::{
    sys::stat::Mode,
    unistd::{Pid, mkfifo},
};
use tokio::{
    io::AsyncWriteExt,
    net::{UnixListener, unix::OwnedWriteHalf},
    process::Child,
    sync::{oneshot, watch},
};
use uuid::Uuid;

pub(crate) use command::Launch;
pub(crate) use ending::{Doom, Exit, error};
pub(crate) use frames::{ApiAddress, Job, Report, Thrown};

use self::{
    frames::{Frame, Message, log_level, read_frame, with_length},
    pipe::{Pipe, Pumped},
};
use crate::{RuntimeError, live_run::LiveRun, modules::Modules, system};

/// How long Deno may take until it is ready for a job; a machine under load is slow, a broken Deno never gets there.
const START_LIMIT: Duration = Duration::from_secs(20);
/// Ended runs whose late lines are still taken.
const RECENT_RUNS: usize = 1024;
/// A raw line that is longer is kept in pieces.
const LONGEST_RAW_LINE: usize = 16 << 10;
/// Imports at run time that may be open at once.
const OPEN_IMPORTS: u64 = 64;

/// What every worker is started with.
pub(crate) struct Nursery {
    pub(crate) launch: Launch,
    pub(crate) work_dir: PathBuf,
    pub(crate) longest_frame: usize,
    /// Who answers at the instance's own address, and that address's host and port.
    pub(crate) api: Option<(Arc<dyn crate::ApiChannel>, HeaderValue)>,
    /// Every worker whose process lives, by number.
    pub(crate) living: Mutex<HashMap<u64, Arc<Worker>>>,
    /// Ends when every worker's process has been waited for and its folder is gone.
    pub(crate) attendants: tokio_util::task::TaskTracker,
    next: AtomicU64,
}

impl Nursery {
    pub(crate) fn new(
        launch: Launch,
        work_dir: PathBuf,
        longest_frame: usize,
        api: Option<(Arc<dyn crate::ApiChannel>, HeaderValue)>,
    ) -> Self {
        Self {
            launch,
            work_dir,
            longest_frame,
            api,
            living: Mutex::default(),
            attendants: tokio_util::task::TaskTracker::new(),
            next: AtomicU64::new(1),
        }
    }

    /// The workers that live now.
    pub(crate) fn living(&self) -> Vec<Arc<Worker>> {
        self.living
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect()
    }
}

/// What a worker does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// It waits for its job.
    Blank,
    /// It evaluates a module once, or finishes what that left.
    Evaluating,
    /// It serves an HTTP val.
    Serving,
}

/// A Deno process and everything the host knows of it.
pub(crate) struct Worker {
    pub(crate) number: u64,
    pub(crate) dir: PathBuf,
    pid: Pid,
    key: String,
    /// Marks an answer as a failure of the handler.
    pub(crate) failure_header: HeaderName,
    control: tokio::sync::Mutex<OwnedWriteHalf>,
    frames: Pipe,
    stdout: Pipe,
    stderr: Pipe,
    duty: Mutex<Duty>,
    runs: Mutex<Runs>,
    answer: Mutex<Option<oneshot::Sender<Answer>>>,
    modules: OnceLock<Arc<Modules>>,
    open_imports: AtomicU64,
    doom: OnceLock<Doom>,
    exit: watch::Sender<Option<Exit>>,
    engine_gave_up: AtomicBool,
    /// Empty lines of standard error that may yet turn out to be the engine's.
    held_lines: AtomicU64,
    /// What its CPU clock showed when it was given its job, in nanoseconds.
    pub(crate) cpu_given: AtomicU64,
    /// When it must be gone, if that is known: it has been retired.
    pub(crate) last_moment: OnceLock<Instant>,
    /// The CPU clock when the monitor last looked, in nanoseconds.
    pub(crate) cpu_seen: AtomicU64,
    /// The most memory that the monitor has seen, in bytes.
    pub(crate) memory_seen: AtomicU64,
}

/// The runs that a worker has, and those it had lately.
#[derive(Default)]
struct Runs {
    active: HashMap<RunId, Arc<LiveRun>>,
    recent: VecDeque<Arc<LiveRun>>,
    /// The run that lines of no known origin go to.
    latest: Option<Arc<LiveRun>>,
    /// How many have begun.
    begun: u64,
}

/// What a worker answers to its job.
pub(crate) enum Answer {
    /// Its module is loaded and its handler serves.
    Ready,
    /// The evaluation is over.
    End(Report),
}

impl Worker {
    /// Starts a process and waits until it is ready for its job.
    pub(crate) async fn start(nursery: &Arc<Nursery>) -> Result<Arc<Self>, RuntimeError> {
        let number = nursery.next.fetch_add(1, Ordering::Relaxed);
        let dir = nursery.work_dir.join(number.to_string());
        fs::DirBuilder::new().mode(0o700).create(&dir)?;
        let started = Self::start_in(nursery, number, dir.clone()).await;
        if started.is_err() {
            // Nobody else knows of it yet.
            let _ = fs::remove_dir_all(dir);
        }
        started
    }

    async fn start_in(nursery: &Arc<Nursery>, number: u64, dir: PathBuf) -> Result<Arc<Self>, RuntimeError> {
        let listener = UnixListener::bind(dir.join("socket"))?;
        mkfifo(&dir.join("pipe"), Mode::S_IRUSR | Mode::S_IWUSR).map_err(io::Error::from)?;
        let frames = open_pipe(&dir.join("pipe"))?;
        let api = match &nursery.api {
            Some(_) => Some(UnixListener::bind(dir.join("api"))?),
            None => None,
        };
        let (stdout, stdout_end) = new_pipe()?;
        let (stderr, stderr_end) = new_pipe()?;
        let mut child = nursery
            .launch
            .command(&dir, stdout_end.into(), stderr_end.into())
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

        let secret = Uuid::new_v4().simple().to_string();
        let failure_header = format!("hamlet-failure-{}", Uuid::new_v4().simple());
        let worker = Arc::new(Self {
            number,
            dir,
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
            engine_gave_up: AtomicBool::new(false),
            held_lines: AtomicU64::new(0),
            cpu_given: AtomicU64::new(0),
            last_moment: OnceLock::new(),
            cpu_seen: AtomicU64::new(0),
            memory_seen: AtomicU64::new(0),
        });
        nursery
            .living
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(number, worker.clone());
        nursery
            .attendants
            .spawn(attend(nursery.clone(), worker.clone(), child, api));
        Ok(worker)
    }

    /// Whether its process lives and may be given work.
    pub(crate) fn is_alive(&self) -> bool {
        self.doom.get().is_none() && self.exit.borrow().is_none()
    }

    pub(crate) fn duty(&self) -> Duty {
        *self.duty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key that marks what the worker itself sends.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Gives a blank worker its job; the answer comes through what this returns, or never if the worker ends first.
    pub(crate) async fn give(
        &self,
        duty: Duty,
        job: &Job<'_>,
        modules: Arc<Modules>,
        run: Arc<LiveRun>,
    ) -> io::Result<oneshot::Receiver<Answer>> {
        let (sender, receiver) = oneshot::channel();
        *self.duty.lock().unwrap_or_else(PoisonError::into_inner) = duty;
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        let _ = self.modules.set(modules);
        self.cpu_given
            .store(run.cpu_began.load(Ordering::Relaxed), Ordering::Relaxed);
        self.begin_run(run);
        self.control.lock().await.write_all(&with_length(job)?).await?;
        Ok(receiver)
    }

    async fn tell(&self, message: &Message) -> io::Result<()> {
        self.control.lock().await.write_all(&with_length(message)?).await
    }

    /// Tells it to take no more requests and to end when nothing is left to do, at `last_moment` at the latest.
    pub(crate) async fn retire(&self, last_moment: Instant) {
        let _ = self.last_moment.set(last_moment);
        // A worker that can't be told is gone, or about to be.
        if self.tell(&Message::Retire).await.is_err() {
            self.kill(Doom::Finished);
        }
    }

    /// Ends its process now; the first reason stays.
    pub(crate) fn kill(&self, why: Doom) {
        if self.exit.borrow().is_some() {
            return;
        }
        let _ = self.doom.set(why);
        system::kill_group(self.pid);
    }

    /// Waits until its process is gone and everything that it wrote has been read.
    pub(crate) async fn exited(&self) -> Exit {
        let mut exit = self.exit.subscribe();
        let exit = exit.wait_for(Option::is_some).await.map(|exit| *exit);
        exit.ok().flatten().unwrap_or(Exit {
            doom: None,
            status: None,
            out_of_memory: false,
        })
    }

    /// The CPU time that its process has used.
    pub(crate) fn cpu_time(&self) -> Duration {
        let seen = Duration::from_nanos(self.cpu_seen.load(Ordering::Relaxed));
        system::cpu_time(self.pid).unwrap_or(seen)
    }

    /// Looks at its memory now.
    pub(crate) fn resident_bytes(&self) -> Option<u64> {
        system::resident_bytes(self.pid)
    }

    /// The most memory that it has held, as far as is known.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        let seen = self.memory_seen.load(Ordering::Relaxed);
        system::peak_bytes(self.pid)
            .map(|peak| peak.max(seen))
            .or((seen > 0).then_some(seen))
    }

    /// A run begins on it; says whether it is the only one now, and how many have begun.
    pub(crate) fn begin_run(&self, run: Arc<LiveRun>) -> (bool, u64) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let alone = runs.active.is_empty();
        runs.begun += 1;
        runs.latest = Some(run.clone());
        runs.active.insert(run.id, run);
        (alone, runs.begun)
    }

    /// A run has ended on it; its late lines are still taken. Says how many have begun, and how many go on.
    pub(crate) fn end_run(&self, id: RunId) -> (u64, usize) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = runs.active.remove(&id) {
            if runs.recent.len() == RECENT_RUNS {
                runs.recent.pop_front();
            }
            runs.recent.push_back(run);
        }
        (runs.begun, runs.active.len())
    }

    /// Whether a run goes on.
    pub(crate) fn has_active_runs(&self) -> bool {
        !self
            .runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .active
            .is_empty()
    }

    /// The runs that go on.
    pub(crate) fn active_runs(&self) -> Vec<Arc<LiveRun>> {
        self.runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .active
            .values()
            .cloned()
            .collect()
    }

    /// The run of that id, if it goes on here.
    pub(crate) fn active_run(&self, id: RunId) -> Option<Arc<LiveRun>> {
        self.runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .active
            .get(&id)
            .cloned()
    }

    /// Reads all that it has written up to now: what a val printed before its answer belongs before the run's end.
    pub(crate) fn drain(self: &Arc<Self>) {
        self.frames.pump(|line| self.on_frame(line));
        self.stdout.pump(|line| self.on_raw(line, LogStream::Stdout));
        self.stderr.pump(|line| self.on_raw(line, LogStream::Stderr));
    }

    /// Gives the unfinished raw lines too, when a run is over that had the worker for itself.
    pub(crate) fn drain_whole(self: &Arc<Self>) {
        self.drain();
        self.stdout.flush(|line| self.on_raw(line, LogStream::Stdout));
        self.stderr.flush(|line| self.on_raw(line, LogStream::Stderr));
        if !self.engine_gave_up.load(Ordering::Relaxed) {
            self.give_held_lines();
        }
    }

    fn run_of(&self, id: &str) -> Option<Arc<LiveRun>> {
        let id: RunId = id.parse().ok()?;
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.active
            .get(&id)
            .or_else(|| runs.recent.iter().rev().find(|run| run.id == id))
            .cloned()
    }

    fn clean(&self, text: String) -> String {
        match self.modules.get() {
            Some(modules) => modules.clean(text),
            None => text,
        }
    }

    fn on_frame(self: &Arc<Self>, line: &[u8]) {
        match read_frame(&self.key, line) {
            Some(Frame::Log { run, level, message }) => {
                if let Some(run) = self.run_of(&run) {
                    run.line(log_level(level), LogStream::Console, self.clean(message));
                }
            }
            Some(Frame::Cut {
                run,
                lines,
                characters,
            }) => {
                if let Some(run) = self.run_of(&run) {
                    run.unsent(lines, characters);
                }
            }
            Some(Frame::Ready) => self.answer(Answer::Ready),
            Some(Frame::End(report)) => self.answer(Answer::End(report)),
            Some(Frame::Import {
                id,
                importer,
                specifier,
            }) => self.import(id, importer, specifier),
            // A line without the key is the val's own doing; one that is too long was cut to pieces, and the worker
            // itself never sends such.
            None if line.starts_with(self.key.as_bytes()) => self.kill(Doom::Unreadable),
            None => {}
        }
    }

    fn answer(&self, answer: Answer) {
        let sender = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sender) = sender {
            // Whoever waited may have given up.
            let _ = sender.send(answer);
        }
    }

    fn import(self: &Arc<Self>, id: u64, importer: String, specifier: String) {
        let Some(modules) = self.modules.get().cloned() else {
            return;
        };
        if self.open_imports.fetch_add(1, Ordering::Relaxed) >= OPEN_IMPORTS {
            return self.kill(Doom::Unreadable);
        }
        let worker = self.clone();
        tokio::spawn(async move {
            let (url, error) = match modules.import(&importer, &specifier).await {
                Ok(url) => (Some(url), None),
                Err(why) => (None, Some(why)),
            };
            worker.open_imports.fetch_sub(1, Ordering::Relaxed);
            // If the worker is gone, nobody waits for the answer.
            let _ = worker.tell(&Message::Import { id, url, error }).await;
        });
    }

    fn on_raw(&self, line: &[u8], stream: LogStream) {
        let text = String::from_utf8_lossy(line);
        let level = match stream {
            LogStream::Stderr => {
                if self.engine_gave_up.load(Ordering::Relaxed) || self.is_engine_giving_up(&text) {
                    return;
                }
                if text.is_empty() {
                    // The engine's last words begin with an empty line; it is the val's own if they don't follow.
                    self.held_lines.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                self.give_held_lines();
                LogLevel::Error
            }
            _ => LogLevel::Info,
        };
        self.give_raw(level, stream, text.into_owned());
    }

    fn give_raw(&self, level: LogLevel, stream: LogStream, text: String) {
        let latest = self
            .runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .latest
            .clone();
        if let Some(run) = latest {
            run.line(level, stream, self.clean(text));
        }
    }

    fn give_held_lines(&self) {
        for _ in 0..self.held_lines.swap(0, Ordering::Relaxed) {
            self.give_raw(LogLevel::Error, LogStream::Stderr, String::new());
        }
    }

    /// Whether the line begins what the engine writes when it has no memory left; nothing after it is the val's.
    fn is_engine_giving_up(&self, line: &str) -> bool {
        let begins = [
            "<--- Last few GCs --->",
            "# Fatal JavaScript out of memory",
            "# Fatal process out of memory",
        ];
        let gave_up = begins.iter().any(|begin| line.starts_with(begin));
        self.engine_gave_up.fetch_or(gave_up, Ordering::Relaxed);
        gave_up
    }
}

/// Reads what a worker writes until its process is gone, then clears up after it.
async fn attend(nursery: Arc<Nursery>, worker: Arc<Worker>, mut child: Child, api: Option<UnixListener>) {
    let serving = match (api, &nursery.api) {
        (Some(listener), Some((api, authority))) => Some(tokio::spawn(crate::api::serve(
            listener,
            api.clone(),
            authority.clone(),
        ))),
        _ => None,
    };
    let (mut frames, mut stdout, mut stderr) = (Pumped::More, Pumped::More, Pumped::More);
    let status = loop {
        tokio::select! {
            biased;
            pumped = worker.frames.next(|line| worker.on_frame(line)), if frames != Pumped::Closed => frames = pumped,
            pumped = worker.stdout.next(|line| worker.on_raw(line, LogStream::Stdout)),
                if stdout != Pumped::Closed => stdout = pumped,
            pumped = worker.stderr.next(|line| worker.on_raw(line, LogStream::Stderr)),
                if stderr != Pumped::Closed => stderr = pumped,
            status = child.wait() => break status.ok(),
        }
        tokio::task::coop::consume_budget().await;
    };
    // What it wrote last is still in the pipes; what it started, if it could, goes with it.
    system::kill_group(worker.pid);
    while worker.frames.pump(|line| worker.on_frame(line)) == Pumped::More {}
    while worker.stdout.pump(|line| worker.on_raw(line, LogStream::Stdout)) == Pumped::More {}
    while worker.stderr.pump(|line| worker.on_raw(line, LogStream::Stderr)) == Pumped::More {}
    worker.drain_whole();
    for run in worker
        .runs
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .recent
        .drain(..)
    {
        run.tell_cut();
    }

    if let Some(serving) = serving {
        serving.abort();
    }
    let out_of_memory = worker.engine_gave_up.load(Ordering::Relaxed);
    worker.exit.send_replace(Some(Exit {
        doom: worker.doom.get().copied(),
        status,
        out_of_memory,
    }));
    let dir = worker.dir.clone();
    // A val may have left many files; and a folder that can't be removed now is removed at the next start.
    let _ = tokio::task::spawn_blocking(move || fs::remove_dir_all(dir)).await;
    nursery
        .living
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&worker.number);
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
