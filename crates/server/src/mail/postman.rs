//! Runs e-mail vals for the messages that came.

use std::{sync::Arc, time::Duration};

use hamlet_models::{Timestamp, Trigger, ValKind};
use hamlet_runtime::Input;
use hamlet_store::{QueuedEmail, Store};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::reader::Reader;
use crate::{
    clock,
    config::Config,
    error::{ApiError, ApiResult},
    places::{Place, Places},
    run_service::{Call, Prepared, RunService, longest_run, new_run_id},
};

/// How often to look for messages.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The most messages that one look starts: each is in memory with its attachments until its worker has it.
const AT_ONCE: usize = 20;
/// When to try again what could not be started.
const AGAIN_AFTER_MS: i64 = 10_000;

/// Takes messages from the queue and runs their vals; a cheap handle.
#[derive(Clone)]
pub struct Postman {
    parts: Arc<Parts>,
}

struct Parts {
    store: Store,
    runs: RunService,
    reader: Reader,
    /// Whether no other server has this store.
    alone: bool,
    longest_run_ms: i64,
    /// Mail takes half of the places for runs, in all and of one user: a message that finds none waits in the queue.
    places: Arc<Places>,
    going_on: TaskTracker,
    end: CancellationToken,
}

impl Postman {
    /// One that does nothing by itself before [`Postman::start`].
    pub fn new(config: &Config, store: Store, runs: RunService) -> Self {
        let limits = &config.limits;
        Self {
            parts: Arc::new(Parts {
                store,
                runs,
                reader: Reader::new(config.launcher.clone(), config.require_sandbox),
                alone: config.database_url.is_none(),
                longest_run_ms: i64::try_from(longest_run(limits).as_millis()).unwrap_or(i64::MAX),
                places: Places::new(limits.instance_runs / 2, limits.user_runs / 2),
                going_on: TaskTracker::new(),
                end: CancellationToken::new(),
            }),
        }
    }

    /// Looks for messages from now on, until it is stopped.
    pub fn start(&self) {
        let postman = self.clone();
        self.parts.going_on.spawn(async move {
            let end = postman.parts.end.clone();
            end.run_until_cancelled(postman.serve()).await;
        });
    }

    async fn serve(&self) {
        if let Err(error) = self.resume().await {
            tracing::error!(%error, "messages that were under way could not be taken up");
        }
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            if let Err(error) = self.deliver(clock::now()).await {
                tracing::error!(%error, "messages could not be delivered");
            }
        }
    }

    /// Takes up what a server that is gone had claimed.
    pub async fn resume(&self) -> ApiResult<()> {
        if self.parts.alone {
            self.parts.store.return_emails().await?;
        }
        Ok(())
    }

    /// Starts a run for each message that waits and has a place; answers how many those are.
    pub async fn deliver(&self, now: Timestamp) -> ApiResult<usize> {
        let Parts {
            store, runs, places, ..
        } = &*self.parts;
        let mut started = 0;
        for email in store.list_queued_emails(now, &places.turns(AT_ONCE)).await? {
            let Some(place) = places.take(email.owner) else {
                continue;
            };
            let until = later(now, self.parts.longest_run_ms);
            if !store.claim_email(&email, now, until).await? {
                continue;
            }
            let room = runs.try_place(email.owner);
            let delivery = Delivery {
                postman: self.clone(),
                email,
                _place: place,
            };
            match room {
                Some(room) => started += usize::from(delivery.begin(room).await?),
                None => {
                    self.parts.going_on.spawn(delivery.begin_later());
                }
            }
        }
        Ok(started)
    }

    /// Starts nothing any more.
    pub fn stop(&self) {
        self.parts.end.cancel();
    }

    /// Waits until the runs that were started are over, and that is noted.
    pub async fn ended(&self) {
        self.parts.going_on.close();
        self.parts.going_on.wait().await;
    }
}

/// A message that this server has claimed.
struct Delivery {
    postman: Postman,
    email: QueuedEmail,
    _place: Place,
}

impl Delivery {
    /// Starts the val's run as soon as there is a place for it among all runs. Nothing is read or recorded before; a
    /// message that gets none is tried again.
    async fn begin_later(self) {
        let Parts { runs, end, .. } = &*self.postman.parts;
        let room = end.run_until_cancelled(runs.place(self.email.owner)).await;
        let tried = match room {
            Some(Ok(room)) => self.begin(room).await.map(drop),
            Some(Err(error)) => self.try_again(&error).await,
            None => self.give_back(clock::now()).await,
        };
        if let Err(error) = tried {
            tracing::error!(%error, "a message that waited for a place could not be delivered");
        }
    }

    /// Starts the val's run; `false` if there is none to start, or not yet.
    async fn begin(self, room: hamlet_runtime::Place) -> ApiResult<bool> {
        let prepared = match self.prepare().await {
            Ok(prepared) => prepared,
            Err(ApiError::NotFound(_)) => {
                tracing::info!(val.id = %self.email.val_id, "a message came for a val that takes none any more");
                self.postman.parts.store.finish_email(&self.email).await?;
                return Ok(false);
            }
            Err(error) => {
                self.try_again(&error).await?;
                return Ok(false);
            }
        };
        let run = self.postman.parts.runs.launch_in(room, prepared);
        let parts = self.postman.parts.clone();
        parts.going_on.spawn(async move {
            // How it ended is in its record: a message is delivered once.
            let _ = run.outcome().await;
            if let Err(error) = self.postman.parts.store.finish_email(&self.email).await {
                tracing::error!(%error, "a message that was delivered is still queued");
            }
        });
        Ok(true)
    }

    async fn prepare(&self) -> ApiResult<Prepared> {
        let Parts {
            store, runs, reader, ..
        } = &*self.postman.parts;
        let val = store.get_val(self.email.val_id).await?;
        if val.kind != ValKind::Email {
            return Err(ApiError::NotFound("val"));
        }
        let raw = store.read_email(&self.email).await?;
        let given = reader.read(raw).await;
        let given = given.map_err(|cause| ApiError::Internal(cause.into()))?;
        let call = Call {
            trigger: Trigger::Email,
            parent_id: None,
            replay_of: None,
            input: Input::Email(given),
        };
        runs.prepare(new_run_id(), &val, call).await
    }

    async fn try_again(&self, error: &ApiError) -> ApiResult<()> {
        tracing::warn!(%error, val.id = %self.email.val_id, "a message could not be delivered yet");
        self.give_back(later(clock::now(), AGAIN_AFTER_MS)).await
    }

    async fn give_back(&self, after: Timestamp) -> ApiResult<()> {
        Ok(self.postman.parts.store.return_email(&self.email, after).await?)
    }
}

fn later(time: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(time.as_millis().saturating_add(millis))
}
