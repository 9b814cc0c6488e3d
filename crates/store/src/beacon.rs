//! How a command line tells the server beside it that something changed.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

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

    /// Tells of a change.
    pub(crate) fn light(&self) {
        if let Err(error) = (&*self.0).write_all(b".") {
            tracing::error!(%error, "a running server could not be told of a change: restart it");
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
}

impl Lookout {
    /// Looks out for changes from now on.
    pub(crate) fn new(beacon: Beacon) -> Self {
        let seen = AtomicU64::new(beacon.length());
        Self { beacon, seen }
    }

    /// Does `forget` if the beacon was lit since the last time; whoever looks later finds it done.
    pub(crate) fn look(&self, forget: impl FnOnce()) {
        let length = self.beacon.length();
        if self.seen.load(Ordering::SeqCst) != length {
            forget();
            self.seen.store(length, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_light_is_news_once() {
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
            theirs.light();
            assert!(has_news());
            assert!(!has_news());
        }
    }
}
