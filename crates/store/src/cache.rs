//! What a server keeps in memory of what it has read, never older than what it has answered.
//!
//! A reader and a writer may meet: the reader loads a row, the writer changes it and puts the new one in, and the
//! reader, late, would put the old one over it. So a reader takes a [`Ticket`] before it loads, and what it loaded is
//! kept only if the key hasn't been written since. Emptying the whole cache is a step of its generation: what was put
//! in under an earlier one is never found again.

use std::{
    hash::{BuildHasher, Hash, RandomState},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// How many counters the keys share: a reader whose key shares one with a key being written keeps nothing, which
/// costs one more load later.
const COUNTERS: usize = 256;

/// A bounded map from keys to the latest committed records.
pub(crate) struct Cache<K, V> {
    /// `None`: this store keeps nothing in memory.
    entries: Option<moka::sync::Cache<K, Entry<V>>>,
    generation: AtomicU64,
    /// How often a key of each share has been written.
    writes: Vec<Mutex<u64>>,
    hasher: RandomState,
}

#[derive(Clone)]
struct Entry<V> {
    generation: u64,
    value: V,
}

/// When a reader began to load; see [`Cache::ticket`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    generation: u64,
    writes: u64,
}

impl<K, V> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// A cache of at most so many bytes, by what `weigh` says of a value.
    pub(crate) fn new(max_bytes: u64, weigh: fn(&V) -> usize) -> Self {
        let entries = moka::sync::Cache::builder()
            .max_capacity(max_bytes)
            .weigher(move |_: &K, entry: &Entry<V>| u32::try_from(weigh(&entry.value)).unwrap_or(u32::MAX))
            .build();
        Self::over(Some(entries))
    }

    /// A cache that keeps nothing.
    pub(crate) fn off() -> Self {
        Self::over(None)
    }

    fn over(entries: Option<moka::sync::Cache<K, Entry<V>>>) -> Self {
        Self {
            entries,
            generation: AtomicU64::new(0),
            writes: (0..COUNTERS).map(|_| Mutex::new(0)).collect(),
            hasher: RandomState::new(),
        }
    }

    /// Whether anything is ever found here.
    pub(crate) fn is_on(&self) -> bool {
        self.entries.is_some()
    }

    /// What is kept for the key.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let entry = self.entries.as_ref()?.get(key)?;
        (entry.generation == self.generation()).then_some(entry.value)
    }

    /// The generation in force: a writer notes it before it looks up anything that goes into its record.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// To be taken before loading what [`Cache::fill`] shall keep.
    pub(crate) fn ticket(&self, key: &K) -> Ticket {
        Ticket {
            generation: self.generation(),
            writes: *self.counter(key),
        }
    }

    /// Keeps what a reader loaded, unless the key was written since the ticket was taken.
    pub(crate) fn fill(&self, ticket: Ticket, key: K, value: V) {
        let Some(entries) = &self.entries else { return };
        let counter = self.counter(&key);
        if *counter == ticket.writes {
            let generation = ticket.generation;
            entries.insert(key, Entry { generation, value });
        }
    }

    /// Keeps what a writer has committed; `generation` is from before it began.
    pub(crate) fn set(&self, generation: u64, key: K, value: V) {
        let Some(entries) = &self.entries else { return };
        let mut counter = self.counter(&key);
        *counter += 1;
        entries.insert(key, Entry { generation, value });
    }

    /// Drops what a writer has deleted, or changed without knowing the whole of it.
    pub(crate) fn remove(&self, key: &K) {
        let Some(entries) = &self.entries else { return };
        let mut counter = self.counter(key);
        *counter += 1;
        entries.invalidate(key);
    }

    /// Drops everything.
    pub(crate) fn clear(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        if let Some(entries) = &self.entries {
            entries.invalidate_all();
        }
    }

    fn counter(&self, key: &K) -> MutexGuard<'_, u64> {
        let share = self.hasher.hash_one(key) % COUNTERS as u64;
        // A counter is right at every moment, so also when a thread died with it in hand.
        self.writes[share as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> Cache<u32, &'static str> {
        Cache::new(1_000, |_| 1)
    }

    #[test]
    fn what_a_reader_loaded_before_a_write_is_not_kept() {
        let cache = cache();
        let late = cache.ticket(&1);
        cache.set(cache.generation(), 1, "new");
        cache.fill(late, 1, "old");
        assert_eq!(cache.get(&1), Some("new"));
    }

    #[test]
    fn what_a_reader_loaded_before_a_deletion_is_not_kept() {
        let cache = cache();
        let late = cache.ticket(&1);
        cache.remove(&1);
        cache.fill(late, 1, "old");
        assert_eq!(cache.get(&1), None);
        cache.fill(cache.ticket(&1), 1, "new");
        assert_eq!(cache.get(&1), Some("new"));
    }

    #[test]
    fn nothing_from_before_an_emptying_is_found() {
        let cache = cache();
        cache.set(cache.generation(), 1, "old");
        let (late, begun) = (cache.ticket(&2), cache.generation());
        cache.clear();
        cache.fill(late, 2, "old");
        cache.set(begun, 3, "old");
        assert_eq!([cache.get(&1), cache.get(&2), cache.get(&3)], [None; 3]);
        cache.set(cache.generation(), 1, "new");
        assert_eq!(cache.get(&1), Some("new"));
    }

    #[test]
    fn a_cache_that_is_off_keeps_nothing() {
        let cache = Cache::<u32, &str>::off();
        cache.set(cache.generation(), 1, "a");
        cache.fill(cache.ticket(&1), 1, "a");
        assert_eq!(cache.get(&1), None);
    }
}
