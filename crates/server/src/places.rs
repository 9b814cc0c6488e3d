//! Places for what runs by itself: so many in all and of one user, so that nobody's schedules or mail take them all.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use hamlet_models::UserId;
use hamlet_store::Turns;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places, and who has them.
pub(crate) struct Places {
    free: Arc<Semaphore>,
    of_each: u32,
    taken: Mutex<HashMap<UserId, u32>>,
}

/// Held while a run goes on; dropping it gives it back.
pub(crate) struct Place {
    places: Arc<Places>,
    owner: UserId,
    _free: OwnedSemaphorePermit,
}

impl Places {
    /// So many places, of which one user gets at most so many; one at least.
    pub(crate) fn new(in_all: u32, of_each: u32) -> Arc<Self> {
        let in_all = usize::try_from(in_all.max(1)).unwrap_or(usize::MAX);
        Arc::new(Self {
            free: Arc::new(Semaphore::new(in_all)),
            of_each: of_each.max(1),
            taken: Mutex::default(),
        })
    }

    /// A place for a run of this user, if there is one.
    pub(crate) fn take(self: &Arc<Self>, owner: UserId) -> Option<Place> {
        let free = self.free.clone().try_acquire_owned().ok()?;
        let mut users = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = users.entry(owner).or_default();
        if *taken >= self.of_each {
            return None;
        }
        *taken += 1;
        Some(Place {
            places: self.clone(),
            owner,
            _free: free,
        })
    }

    /// What there are places for now, up to so much.
    pub(crate) fn turns(&self, most: usize) -> Turns {
        let users = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let full = users.iter().filter(|&(_, &taken)| taken >= self.of_each);
        Turns {
            most: most.min(self.free.available_permits()) as u64,
            of_each: self.of_each.into(),
            without: full.map(|(&owner, _)| owner).collect(),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut users = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = users.get_mut(&self.owner) {
            *taken -= 1;
            if *taken == 0 {
                users.remove(&self.owner);
            }
        }
    }
}
