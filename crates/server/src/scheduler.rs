//! Runs scheduled vals when their time comes. What is due and who runs it is decided in the store, so that any number
//! of servers may look; the time is given, so that a test can say what it is.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use hamlet_models::{Limits, Timestamp, Trigger};
use hamlet_runtime::Input;
use hamlet_store::{ClaimedTick, DueTick, Store};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    clock,
    error::ApiResult,
    places::{Place, Places},
    run_service::{Call, Prepared, RunService, Started, longest_run},
};

/// How often to look for ticks that are due.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A tick that is later than this when the server starts was missed.
const MISSED_AFTER_MS: i64 = 60_000;
/// The most ticks that one look starts.
const AT_ONCE: usize = 100;

/// Starts the runs of schedules; a cheap handle.
#[derive(Clone)]
pub struct Scheduler {
    parts: Arc<Parts>,
}

struct Parts {
    store: Store,
    runs: RunService,
    /// Whether no other server has this store.
    alone: bool,
    longest_run_ms: i64,
    /// Schedules take half of the places for runs, in all and of one user: a tick that finds none waits for the next look.
    places: Arc<Places>,
    /// The looking for ticks and their waiting for places, never broken off while a tick begins.
    looking: TaskTracker,
    going_on: TaskTracker,
    end: CancellationToken,
}

impl Scheduler {
    /// One that starts nothing by itself before [`Scheduler::start`].
    pub fn new(store: Store, runs: RunService, limits: &Limits, alone: bool) -> Self {
        Self {
            parts: Arc::new(Parts {
                store,
                runs,
                alone,
                longest_run_ms: i64::try_from(longest_run(limits).as_millis()).unwrap_or(i64::MAX),
                places: Places::new(limits.instance_runs / 2, limits.user_runs / 2),
                looking: TaskTracker::new(),
                going_on: TaskTracker::new(),
                end: CancellationToken::new(),
            }),
        }
    }

    /// Looks for ticks that are due from now on, until it is stopped.
    pub fn start(&self) {
        let scheduler = self.clone();
        self.parts.looking.spawn(async move { scheduler.serve().await });
    }

    async fn serve(&self) {
        if let Err(error) = self.resume(clock::now()).await {
            tracing::error!(%error, "the schedules could not be resumed");
        }
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while self.parts.end.run_until_cancelled(looks.tick()).await.is_some() {
            if let Err(error) = self.run_due(clock::now()).await {
                tracing::error!(%error, "schedules could not be run");
            }
        }
    }

    /// Deals with what happened while no server was there.
    pub async fn resume(&self, now: Timestamp) -> ApiResult<()> {
        let missed_before = Timestamp::from_millis(now.as_millis() - MISSED_AFTER_MS);
        Ok(self
            .parts
            .store
            .resume_schedules(now, missed_before, self.parts.alone)
            .await?)
    }

    /// Starts a run for each tick that is due at this time and has a place; answers how many those are.
    pub async fn run_due(&self, now: Timestamp) -> ApiResult<usize> {
        let Parts { store, places, .. } = &*self.parts;
        let due = store.list_due_ticks(now, &places.turns(AT_ONCE)).await?;
        let tries = due
            .into_iter()
            .filter_map(|tick| Some(self.try_to_run(places.take(tick.owner)?, tick, now)));
        let mut started = 0;
        for has_started in join_all(tries).await {
            started += usize::from(has_started?);
        }
        Ok(started)
    }

    /// Starts the run of a tick, unless another server does, or lets it wait for a place among all runs. Nothing is
    /// recorded of a tick before it has one.
    async fn try_to_run(&self, place: Place, tick: DueTick, now: Timestamp) -> ApiResult<bool> {
        let Parts { store, runs, .. } = &*self.parts;
        let until = Timestamp::from_millis(now.as_millis().saturating_add(self.parts.longest_run_ms));
        let Some(claim) = store.claim_tick(tick, now, until).await? else {
            return Ok(false);
        };
        if let Some(room) = runs.try_place(claim.tick.owner) {
            return self.begin(claim, place, room).await;
        }
        let scheduler = self.clone();
        self.parts.looking.spawn(async move {
            let val_id = claim.tick.val_id;
            if let Err(error) = scheduler.begin_later(claim, place).await {
                tracing::error!(%error, val.id = %val_id, "a tick that waited for a place could not be run");
            }
        });
        Ok(false)
    }

    /// Starts the run of a tick as soon as there is a place for it. One that gets none is due again.
    async fn begin_later(&self, claim: ClaimedTick, place: Place) -> ApiResult<()> {
        let room = self.parts.runs.place(claim.tick.owner);
        match self.parts.end.run_until_cancelled(room).await {
            Some(Ok(room)) => self.begin(claim, place, room).await.map(drop),
            Some(Err(error)) => {
                tracing::debug!(%error, val.id = %claim.tick.val_id, "a tick waits for a place among the runs");
                Ok(self.parts.store.return_tick(&claim).await?)
            }
            None => Ok(self.parts.store.return_tick(&claim).await?),
        }
    }

    /// Starts the run of a tick. The run is recorded before the tick is spent, and the tick is spent before the val's
    /// code begins: whenever this server dies, the tick is either still owed, and then run as the run that is
    /// recorded, or that run is lost.
    async fn begin(&self, claim: ClaimedTick, place: Place, room: hamlet_runtime::Place) -> ApiResult<bool> {
        let store = &self.parts.store;
        let prepared = match self.prepare(&claim).await {
            Ok(prepared) => prepared,
            Err(error) => {
                tracing::warn!(%error, val.id = %claim.tick.val_id, "a tick could not be started: it is tried again");
                store.return_tick(&claim).await?;
                return Ok(false);
            }
        };
        let recorded = self.parts.runs.recorder().flush();
        if self.parts.end.run_until_cancelled(recorded).await.is_none() {
            store.return_tick(&claim).await?;
            return Ok(false);
        }
        let begins = store.begin_tick(&claim).await?;
        if begins {
            self.attend(self.parts.runs.launch_in(room, prepared), claim, place);
        }
        Ok(begins)
    }

    async fn prepare(&self, claim: &ClaimedTick) -> ApiResult<Prepared> {
        let tick = &claim.tick;
        let val = self.parts.store.get_val(tick.val_id).await?;
        let call = Call {
            trigger: Trigger::Schedule,
            parent_id: None,
            replay_of: None,
            input: Input::Interval {
                last_run_at: tick.last_run_at,
            },
        };
        self.parts.runs.prepare(claim.run_id(), &val, call).await
    }

    /// Lets the next tick run once this run is over.
    fn attend(&self, run: Started, claim: ClaimedTick, place: Place) {
        let store = self.parts.store.clone();
        self.parts.going_on.spawn(async move {
            // How it ended is in its record.
            let _ = run.outcome().await;
            if let Err(error) = store.end_tick(&claim).await {
                tracing::error!(%error, val.id = %claim.tick.val_id, "a schedule waits though its run is over");
            }
            drop(place);
        });
    }

    /// Starts nothing any more, once this is answered.
    pub async fn stop(&self) {
        self.parts.end.cancel();
        self.parts.looking.close();
        self.parts.looking.wait().await;
    }

    /// Waits until the runs that were started are over, and that is noted.
    pub async fn ended(&self) {
        self.parts.going_on.close();
        self.parts.going_on.wait().await;
    }
}
