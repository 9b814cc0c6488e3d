//! How a command line tells the server beside it that something changed.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// A server looks at most so often: thousands of requests a second would each ask the system for what hardly ever
/// changes.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// A file that grows by a byte with every change made from outside the server: its length alone tells one moment
/// from another, where a time of change may not.
#[derive(Clone)]
pub(crate) struct Beacon(Arc<File>);

impl Beacon {
    /// The beacon of a data folder.
    pub(crate) fn open(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join("outside-changes");
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(Arc::new(file)))
    }

    /// Tells of a change. Afterwards every server knows: the last look before this one is too old by then.
    pub(crate) async fn light(&self) {
        match (&*self.0).write_all(b".") {
            Ok(()) => tokio::time::sleep(LOOK_EVERY).await,
            Err(error) => {
                tracing::error!(%error, "a running server could not be told of a change: restart it");
            }
        }
    }

    fn length(&self) -> u64 {
        // A file that can't be asked counts as changed the first time, and then as unchanged.
        self.0.metadata().map_or(u64::MAX, |metadata| metadata.len())
    }
}

/// The server's side of a beacon.
pub(crate) struct Lookout {
    beacon: Beacon,
    seen: AtomicU64,
    /// What `looked` counts from.
    since: Instant,
    /// When the last look began that is over, in nanoseconds.
    looked: AtomicU64,
}

impl Lookout {
    /// Looks out for changes from now on.
    pub(crate) fn new(beacon: Beacon) -> Self {
        let seen = AtomicU64::new(beacon.length());
        Self {
            beacon,
            seen,
            since: Instant::now(),
            looked: AtomicU64::new(0),
        }
    }

    /// Does `forget` if the beacon was lit since the last time; whoever looks later finds it done. A look within
    /// [`LOOK_EVERY`] of another is spared.
    pub(crate) fn look(&self, forget: impl FnOnce()) {
        let now = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let spared = u64::try_from(LOOK_EVERY.as_nanos()).unwrap_or(u64::MAX);
        if now.saturating_sub(self.looked.load(Ordering::SeqCst)) < spared {
            return;
        }
        let length = self.beacon.length();
        if self.seen.load(Ordering::SeqCst) != length {
            forget();
            self.seen.store(length, Ordering::SeqCst);
        }
        self.looked.fetch_max(now, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_light_is_news_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let ours = Lookout::new(Beacon::open(folder.path()).expect("a beacon"));
        let theirs = Beacon::open(folder.path()).expect("a beacon");
        let has_news = || {
            let mut news = false;
            ours.look(|| news = true);
            news
        };
        assert!(!has_news());
        for _ in 0..3 {
            theirs.light().await;
            assert!(has_news());
            assert!(!has_news());
        }
    }
}
