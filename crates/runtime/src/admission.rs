//! How many runs go on at once: per group, and in all.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use uuid::Uuid;

use crate::{RuntimeError, error::Taken};

/// How long a run waits for a place before it is refused.
pub const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// When to try again after a refusal.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// So many groups are remembered before those without a run are forgotten.
const GROUPS_KEPT: usize = 1024;

/// The places that runs take.
pub(crate) struct Admission {
    instance: Arc<Semaphore>,
    instance_runs: u32,
    groups: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
    group_runs: usize,
    longest_wait: Duration,
    closed: AtomicBool,
}

/// Leave for one run of a group to go on; dropping it gives the place back.
pub struct Place {
    _group: OwnedSemaphorePermit,
    _instance: OwnedSemaphorePermit,
}

impl Admission {
    pub(crate) fn new(group_runs: u32, instance_runs: u32) -> Self {
        Self {
            instance: Arc::new(Semaphore::new(instance_runs as usize)),
            instance_runs,
            groups: Mutex::default(),
            group_runs: group_runs as usize,
            longest_wait: LONGEST_WAIT,
            closed: AtomicBool::new(false),
        }
    }

    /// A place for a run of `group`, if there is one now.
    pub(crate) fn try_admit(&self, group: Uuid) -> Option<Place> {
        let _group = self.group(group).try_acquire_owned().ok()?;
        let _instance = self.instance.clone().try_acquire_owned().ok()?;
        Some(Place { _group, _instance })
    }

    /// A place for a run of `group`, as soon as there is one.
    pub(crate) async fn admit(&self, group: Uuid) -> Result<Place, RuntimeError> {
        let semaphore = self.group(group);
        let mut taken = Taken::User(self.group_runs);
        // The group's place first: a group that waits for itself must not hold places that others could use.
        let wait = async {
            let _group = semaphore.acquire_owned().await?;
            taken = Taken::Instance(self.instance_runs as usize);
            let _instance = self.instance.clone().acquire_owned().await?;
            Ok(Place { _group, _instance })
        };
        match timeout(self.longest_wait, wait).await {
            Ok(place) => place.map_err(|_: tokio::sync::AcquireError| RuntimeError::ShuttingDown),
            Err(_) => Err(RuntimeError::OverCapacity {
                taken,
                retry_after: RETRY_AFTER,
            }),
        }
    }

    fn group(&self, group: Uuid) -> Arc<Semaphore> {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if groups.len() >= GROUPS_KEPT {
            groups.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
        }
        let new = || {
            let semaphore = Semaphore::new(self.group_runs);
            if self.closed.load(Ordering::Acquire) {
                semaphore.close();
            }
            Arc::new(semaphore)
        };
        groups.entry(group).or_insert_with(new).clone()
    }

    /// Refuses new runs.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.values().for_each(|group| group.close());
    }

    /// Waits until no run has a place, for as long as `grace`; refuses those that still wait for one.
    pub(crate) async fn drain(&self, grace: Duration) {
        let _ = timeout(grace, self.instance.acquire_many(self.instance_runs)).await;
        self.instance.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(group_runs: u32, instance_runs: u32) -> Admission {
        Admission {
            longest_wait: Duration::ZERO,
            ..Admission::new(group_runs, instance_runs)
        }
    }

    #[tokio::test]
    async fn a_group_has_its_own_limit_and_leaves_room_for_others() {
        let admission = admission(1, 2);
        let (ada, eve) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let place = admission.admit(ada).await.expect("a place");
        assert!(matches!(
            admission.admit(ada).await,
            Err(RuntimeError::OverCapacity {
                taken: Taken::User(1),
                ..
            })
        ));
        let _other = admission.admit(eve).await.expect("a place for another");
        drop(place);
        admission.admit(ada).await.expect("the place that was given back");
    }

    #[tokio::test]
    async fn the_instance_has_a_limit_over_all_groups() {
        let admission = admission(5, 1);
        let _place = admission.admit(Uuid::from_u128(1)).await.expect("a place");
        assert!(matches!(
            admission.admit(Uuid::from_u128(2)).await,
            Err(RuntimeError::OverCapacity {
                taken: Taken::Instance(1),
                ..
            })
        ));
    }

    #[tokio::test]
    async fn a_run_that_waits_gets_the_next_place() {
        let admission = Arc::new(Admission::new(1, 1));
        let place = admission.admit(Uuid::nil()).await.expect("a place");
        let waiting = tokio::spawn({
            let admission = admission.clone();
            async move { admission.admit(Uuid::nil()).await.map(drop) }
        });
        tokio::task::yield_now().await;
        drop(place);
        waiting.await.expect("no panic").expect("the next place");
    }

    #[tokio::test]
    async fn after_closing_nothing_is_admitted() {
        let admission = Admission::new(1, 1);
        let _known = admission.admit(Uuid::nil()).await.expect("a place");
        admission.close();
        admission.drain(Duration::ZERO).await;
        for group in [Uuid::nil(), Uuid::from_u128(7)] {
            assert!(matches!(
                admission.admit(group).await,
                Err(RuntimeError::ShuttingDown)
            ));
        }
    }
}
