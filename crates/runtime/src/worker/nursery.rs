//! Where workers come from, and who looks after them until they are gone.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use hamlet_models::LogStream;
use http::HeaderValue;
use tokio::{net::UnixListener, process::Child};
use tokio_util::task::TaskTracker;

use super::{Exit, Launch, Worker, pipe::Pumped};
use crate::{ApiChannel, remove::remove_folder, sandbox::Cgroups};

/// What every worker is started with.
pub(crate) struct Nursery {
    pub(crate) launch: Launch,
    /// The control groups of workers, where the system has such.
    pub(crate) cgroups: Option<Arc<Cgroups>>,
    pub(crate) work_dir: PathBuf,
    pub(crate) longest_frame: usize,
    /// Who answers at the instance's own address, and that address's host and port.
    pub(crate) api: Option<(Arc<dyn ApiChannel>, HeaderValue)>,
    /// Every worker whose process lives, by number.
    pub(crate) living: Mutex<HashMap<u64, Arc<Worker>>>,
    /// Ends when every worker's process, begun or whole, has been waited for and its folder is gone.
    pub(crate) attendants: TaskTracker,
    pub(super) next: AtomicU64,
}

impl Nursery {
    pub(crate) fn new(
        launch: Launch,
        cgroups: Option<Cgroups>,
        work_dir: PathBuf,
        longest_frame: usize,
        api: Option<(Arc<dyn ApiChannel>, HeaderValue)>,
    ) -> Self {
        Self {
            launch,
            cgroups: cgroups.map(Arc::new),
            work_dir,
            longest_frame,
            api,
            living: Mutex::default(),
            attendants: TaskTracker::new(),
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

/// Reads what a worker writes until its process is gone, then clears up after it.
pub(super) async fn attend(
    nursery: Arc<Nursery>,
    worker: Arc<Worker>,
    mut child: Child,
    api: Option<UnixListener>,
) {
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
    worker.waited_for.store(true, Ordering::Release);
    // What it wrote last is still in the pipes.
    while worker.frames.pump(|line| worker.on_frame(line)) == Pumped::More {}
    while worker.stdout.pump(|line| worker.on_raw(line, LogStream::Stdout)) == Pumped::More {}
    while worker.stderr.pump(|line| worker.on_raw(line, LogStream::Stderr)) == Pumped::More {}
    worker.drain_whole();
    worker.runs().forget_recent().iter().for_each(|run| {
        run.tell_cut();
    });

    if let Some(serving) = serving {
        serving.abort();
    }
    let cgroup = worker.cgroup.clone();
    let ran_out_of = cgroup.as_ref().and_then(|group| group.bytes_it_ran_out_of());
    if let Some(bytes) = ran_out_of {
        // It grew too fast for the monitor to see it.
        worker.memory_seen.fetch_max(bytes, Ordering::Relaxed);
    }
    let out_of_memory = worker.engine_gave_up.load(Ordering::Relaxed) || ran_out_of.is_some();
    worker.exit.send_replace(Some(Exit {
        doom: worker.doom.get().copied(),
        status,
        out_of_memory,
        out_of_threads: cgroup.as_ref().is_some_and(|group| group.ran_out_of_threads()),
    }));
    let dir = worker.dir.clone();
    // A val may have left many files; and a folder that can't be removed now is removed at the next start.
    let removed = tokio::task::spawn_blocking(move || {
        if let Some(cgroup) = cgroup {
            cgroup.remove();
        }
        remove_folder(&dir)
    });
    let _ = removed.await;
    nursery
        .living
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&worker.number);
}
