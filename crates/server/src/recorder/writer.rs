//! The two tasks of the recorder: one writes what waits, one drops what is old.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use hamlet_models::Timestamp;
use hamlet_store::RunWrite;
use tokio::time::{sleep, timeout};

use super::{
    INTERVAL, PRUNE_EVERY, Retention, Shared,
    recorded_run::{RecordedRun, Unwritten},
};
use crate::clock::now;

/// How long to wait before a write that failed is tried again.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Writes what waits, a batch an interval, for as long as the task lives.
pub(super) async fn write_batches(shared: Arc<Shared>) {
    loop {
        shared.some.notified().await;
        // An interval that is cut short is one that someone waits for.
        let _ = timeout(INTERVAL, shared.hurry.notified()).await;
        let (number, batch) = {
            let mut waiting = shared.waiting();
            waiting.taken += 1;
            (waiting.taken, std::mem::take(&mut waiting.changed))
        };
        let bytes = write_batch(&shared, &batch).await;
        {
            let mut waiting = shared.waiting();
            for run in batch.iter().filter(|run| run.is_settled()) {
                // A tick that could not begin is tried again as the same run.
                if waiting
                    .live
                    .get(&run.id())
                    .is_some_and(|live| Arc::ptr_eq(live, run))
                {
                    waiting.live.remove(&run.id());
                }
            }
        }
        shared.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        shared.room.notify_waiters();
        shared.written.send_replace(number);
    }
}

/// Writes these runs, however long the store takes, and says what they weighed.
async fn write_batch(shared: &Shared, batch: &[Arc<RecordedRun>]) -> usize {
    let unwritten: Vec<Unwritten> = batch.iter().map(|run| run.take_unwritten()).collect();
    let write = |at: usize| batch[at].write(&unwritten[at]);
    let mut told = false;
    while let Err(error) = shared
        .store
        .write_runs((0..batch.len()).map(write).collect())
        .await
    {
        if !std::mem::replace(&mut told, true) {
            tracing::error!(%error, runs.waiting = batch.len(), "runs can't be written: trying until they can");
        }
        if shared.store.ping().await.is_ok() && write_each(shared, batch.len(), write).await {
            break;
        }
        sleep(RETRY_AFTER).await;
    }
    unwritten.iter().map(|unwritten| unwritten.bytes).sum()
}

/// Writes runs one by one, after they could not be written together, and answers whether the store took any. A run
/// that a store which takes others refuses would hold up all that come after it for ever: it is dropped, and the log
/// says so.
async fn write_each(shared: &Shared, count: usize, write: impl Fn(usize) -> RunWrite) -> bool {
    let mut refused = Vec::new();
    for at in 0..count {
        let write = write(at);
        let id = write.record.id;
        if let Err(error) = shared.store.write_runs(vec![write]).await {
            refused.push((id, error));
        }
    }
    let took_any = refused.len() < count;
    if took_any {
        for (id, error) in refused {
            tracing::error!(run.id = %id, %error, "a run can't be recorded and is dropped");
        }
    }
    took_any
}

/// Drops runs that are older or larger than what is kept: at the start, then once an hour.
pub(super) async fn prune(shared: Arc<Shared>, retention: Retention) {
    let age_ms = i64::try_from(retention.age.as_millis()).unwrap_or(i64::MAX);
    loop {
        let oldest = Timestamp::from_millis(now().as_millis().saturating_sub(age_ms));
        match shared.store.prune_runs(oldest, retention.bytes).await {
            Ok(0) => {}
            Ok(runs) => tracing::info!(runs.dropped = runs, "dropped old runs"),
            Err(error) => tracing::error!(%error, "old runs can't be dropped"),
        }
        shared.pruned.send_replace(true);
        sleep(PRUNE_EVERY).await;
    }
}
