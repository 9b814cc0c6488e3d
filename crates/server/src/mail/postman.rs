//! Runs e-mail vals for the messages that came.

use std::{sync::Arc, time::Duration};

use hamlet_models::{Limits, Timestamp, Trigger, ValKind};
use hamlet_runtime::Input;
use hamlet_store::{QueuedEmail, Store};
use tokio::{
    sync::Semaphore,
    time::{MissedTickBehavior, interval},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::parse::input_of;
use crate::{
    clock,
    error::{ApiError, ApiResult},
    run_service::{Call, RunService, Started, longest_run},
};

/// How often to look for messages.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How many messages are worked on at once: each is in memory with its attachments.
const AT_ONCE: usize = 4;
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
    /// Whether no other server has this store.
    alone: bool,
    longest_run_ms: i64,
    places: Arc<Semaphore>,
    going_on: TaskTracker,
    end: CancellationToken,
}

impl Postman {
    /// One that does nothing by itself before [`Postman::start`].
    pub fn new(store: Store, runs: RunService, limits: &Limits, alone: bool) -> Self {
        Self {
            parts: Arc::new(Parts {
                store,
                runs,
                alone,
                longest_run_ms: i64::try_from(longest_run(limits).as_millis()).unwrap_or(i64::MAX),
                places: Arc::new(Semaphore::new(AT_ONCE)),
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

    /// Starts a run for each message that waits; answers how many those are.
    pub async fn deliver(&self, now: Timestamp) -> ApiResult<usize> {
        let mut started = 0;
        let most = self.parts.places.available_permits() as u64;
        for email in self.parts.store.list_queued_emails(now, most).await? {
            let Ok(place) = self.parts.places.clone().try_acquire_owned() else {
                break;
            };
            let until = later(now, self.parts.longest_run_ms);
            if !self.parts.store.claim_email(&email, now, until).await? {
                continue;
            }
            match self.begin(&email).await {
                Ok(run) => {
                    started += 1;
                    let store = self.parts.store.clone();
                    self.parts.going_on.spawn(async move {
                        // How it ended is in its record: a message is delivered once.
                        let _ = run.outcome().await;
                        if let Err(error) = store.finish_email(&email).await {
                            tracing::error!(%error, "a message that was delivered is still queued");
                        }
                        drop(place);
                    });
                }
                Err(ApiError::NotFound(_)) => {
                    tracing::info!(val.id = %email.val_id, "a message came for a val that takes none any more");
                    self.parts.store.finish_email(&email).await?;
                }
                Err(error) => {
                    tracing::warn!(%error, val.id = %email.val_id, "a message could not be delivered yet");
                    self.parts
                        .store
                        .return_email(&email, later(now, AGAIN_AFTER_MS))
                        .await?;
                }
            }
        }
        Ok(started)
    }

    async fn begin(&self, email: &QueuedEmail) -> ApiResult<Started> {
        let val = self.parts.store.get_val(email.val_id).await?;
        if val.kind != ValKind::Email {
            return Err(ApiError::NotFound("val"));
        }
        let raw = self.parts.store.read_email(email).await?;
        let call = Call {
            trigger: Trigger::Email,
            parent_id: None,
            replay_of: None,
            input: Input::Email(input_of(&raw)),
        };
        self.parts.runs.start(&val, call).await
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

fn later(time: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(time.as_millis().saturating_add(millis))
}
