//! Watches what workers use, and ends what goes beyond its limits.

use std::{
    sync::{Arc, PoisonError, Weak, atomic::Ordering},
    time::{Duration, Instant},
};

use hamlet_models::Limits;

use crate::{
    live_run::{Charge, LiveRun},
    shared::Shared,
    worker::{Doom, Duty, FILES_MB, Worker},
};

/// How often workers with something to do are looked at.
const TICK: Duration = Duration::from_millis(50);
/// Workers that only stay warm, and the files of all, are looked at every so many ticks.
const IDLE_TICKS: u64 = 10;
/// How often an instance without work looks whether it can give something back.
const IDLE_LOOK: Duration = Duration::from_secs(60);
/// What Deno itself takes, in bytes, beside what the limit leaves to a val.
const ENGINE_BYTES: u64 = 96 << 20;

/// What a worker may hold, in bytes.
pub(crate) fn worker_bytes(limits: &Limits) -> u64 {
    (limits.memory_mb << 20) + ENGINE_BYTES
}

/// Watches until the runtime is gone.
pub(crate) async fn watch(shared: Weak<Shared>) {
    let mut tick = 0_u64;
    loop {
        let idle = {
            let Some(shared) = shared.upgrade() else { return };
            look(&shared, tick)
        };
        tick += 1;
        if idle {
            let Some(shared) = shared.upgrade() else { return };
            shared.pool.shrink_if_idle();
            // Holding it while waiting would keep a runtime alive that nobody else holds; the wait is bounded.
            let _ = tokio::time::timeout(IDLE_LOOK, shared.work.notified()).await;
        } else {
            tokio::time::sleep(TICK).await;
        }
    }
}

/// One look at everything; says whether there was nothing to look at.
fn look(shared: &Arc<Shared>, tick: u64) -> bool {
    let limits = &shared.config.limits;
    let mut idle = true;
    for worker in shared.nursery.living() {
        let duty = worker.duty();
        if duty == Duty::Blank {
            continue;
        }
        idle = false;
        let runs = worker.runs().active();
        if runs.is_empty() && duty == Duty::Serving && !tick.is_multiple_of(IDLE_TICKS) {
            continue;
        }
        if let Some(bytes) = worker.resident_bytes() {
            worker.memory_seen.fetch_max(bytes, Ordering::Relaxed);
            if bytes > worker_bytes(limits) {
                worker.kill(Doom::Memory);
            }
        }
        if tick.is_multiple_of(IDLE_TICKS) {
            watch_files(&worker);
        }
        watch_time(&worker, duty, &runs, limits);
    }
    shared.warm.sweep(Duration::from_secs(limits.warm_seconds));
    idle
}

fn watch_files(worker: &Worker) {
    let cpu = nanos(worker.cpu_time());
    // Whoever has used no CPU time has written nothing either.
    let has_worked = worker.cpu_at_files.swap(cpu, Ordering::Relaxed) != cpu;
    if has_worked && worker.file_bytes() > FILES_MB << 20 {
        worker.kill(Doom::Files);
    }
}

fn watch_time(worker: &Worker, duty: Duty, runs: &[Arc<LiveRun>], limits: &Limits) {
    let most_cpu = Duration::from_secs(limits.cpu_seconds);
    let now = Instant::now();
    let cpu = worker.cpu_time();
    let seen = Duration::from_nanos(worker.cpu_seen.swap(nanos(cpu), Ordering::Relaxed));
    if worker
        .last_moment
        .get()
        .is_some_and(|moment| now > *moment + TICK)
    {
        return worker.kill(Doom::WallTime);
    }
    if duty == Duty::Evaluating || runs.is_empty() {
        // Without a run, time counts from when the worker was last seen to have one.
        if cpu.saturating_sub(Duration::from_nanos(worker.cpu_given.load(Ordering::Relaxed))) > most_cpu {
            worker.kill(Doom::CpuTime);
        }
        if duty == Duty::Serving {
            let begun = worker.runs().begun();
            let mut rest = worker.rest.lock().unwrap_or_else(PoisonError::into_inner);
            if rest.look(now, cpu, begun) > Duration::from_secs(limits.wall_seconds) {
                worker.overstayed.store(true, Ordering::Relaxed);
            }
        }
        return;
    }
    worker.cpu_given.store(nanos(cpu), Ordering::Relaxed);
    // One that waits must not pay for those that come and go beside it.
    let ended = worker.runs().ended();
    let used = cpu.saturating_sub(seen);
    let charge = if worker.ended_seen.swap(ended, Ordering::Relaxed) != ended {
        Charge::Others
    } else if runs.len() == 1 {
        Charge::Own(used)
    } else {
        Charge::Perhaps(used)
    };
    let charges: Vec<Duration> = runs.iter().map(|run| run.charge(charge)).collect();
    if charges.iter().any(|charge| *charge > most_cpu) {
        for (run, charge) in runs.iter().zip(charges) {
            // Which of those that were there for most of it can't be told.
            run.stop(if charge > most_cpu / 2 {
                Doom::CpuTime
            } else {
                Doom::Neighbour
            });
        }
        // It hangs in its own code: nothing on it would ever get on.
        return worker.kill(Doom::Neighbour);
    }
    for run in runs.iter().filter(|run| run.is_past_its_time()) {
        run.stop(Doom::WallTime);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
