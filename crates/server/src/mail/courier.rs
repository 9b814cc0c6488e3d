//! Sends again what the relay did not take for now. What is due and which server tries it is decided in the store; the
//! time is given, so that a test can say what it is.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use hamlet_models::{EmailContent, Timestamp};
use hamlet_store::WaitingEmail;
use lettre::{Address, AsyncTransport, address::Envelope};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Mailer, Relay, is_refusal};
use crate::{clock, error::ApiResult};

/// How often to look for messages that are due.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The most messages that one look tries.
const AT_ONCE: u64 = 100;
/// How many messages are tried at the same time: each is in memory with its attachments.
const TOGETHER: usize = 4;
/// How long one try may take; shorter than the store lets a claimed message wait.
const TRY_WITHIN: Duration = Duration::from_secs(120);

/// Tries the messages that wait for the relay; a cheap handle.
#[derive(Clone)]
pub struct Courier {
    mailer: Mailer,
    /// The looking for messages, which is not broken off while one is sent.
    looking: TaskTracker,
    end: CancellationToken,
}

impl Courier {
    /// One that sends nothing by itself before [`Courier::start`].
    pub fn new(mailer: Mailer) -> Self {
        Self {
            mailer,
            looking: TaskTracker::new(),
            end: CancellationToken::new(),
        }
    }

    /// Looks for messages that are due from now on, until it is stopped; without a relay, none ever is.
    pub fn start(&self) {
        if self.mailer.parts.relay.is_some() {
            let courier = self.clone();
            self.looking.spawn(async move { courier.serve().await });
        }
    }

    async fn serve(&self) {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while self.end.run_until_cancelled(looks.tick()).await.is_some() {
            if let Err(error) = self.send_due(clock::now()).await {
                tracing::error!(%error, "messages that wait could not be tried");
            }
        }
    }

    /// Tries each message that is due at this time; answers how many were sent.
    pub async fn send_due(&self, now: Timestamp) -> ApiResult<usize> {
        let Some(relay) = &self.mailer.parts.relay else {
            return Ok(0);
        };
        let due = self.mailer.parts.store.list_due_emails(now, AT_ONCE).await?;
        let tries = stream::iter(due).map(|email| async move {
            let sent = self.try_to_send(relay, &email, now).await;
            sent.unwrap_or_else(|error| {
                tracing::error!(%error, email.id = %email.id, "a message could not be tried again");
                false
            })
        });
        Ok(tries
            .buffer_unordered(TOGETHER)
            .filter(|sent| std::future::ready(*sent))
            .count()
            .await)
    }

    /// Sends a message, unless another server does. One that dies before it has noted that leaves the message to be sent
    /// once more: mail is rather had twice than never.
    async fn try_to_send(&self, relay: &Relay, email: &WaitingEmail, now: Timestamp) -> ApiResult<bool> {
        let store = &self.mailer.parts.store;
        if self.end.is_cancelled() || !store.claim_due_email(email, now).await? {
            return Ok(false);
        }
        let (content, message) = store.read_waiting_email(email).await?;
        let Some(envelope) = envelope(&content) else {
            store
                .note_failed_email(email, "its addresses can't be read", true)
                .await?;
            return Ok(false);
        };
        let (failure, for_good) = match timeout(TRY_WITHIN, relay.send_raw(&envelope, &message)).await {
            Ok(Ok(_)) => {
                store.finish_waiting_email(email).await?;
                return Ok(true);
            }
            Ok(Err(error)) => (error.to_string(), is_refusal(&error)),
            Err(_) => ("the mail server took too long".to_owned(), false),
        };
        tracing::info!(failure, for_good, email.id = %email.id, "the relay did not take a message that waits");
        store.note_failed_email(email, &failure, for_good).await?;
        Ok(false)
    }

    /// Tries nothing any more, and waits for what is being sent, but no longer than `grace`.
    pub async fn stop(&self, grace: Duration) {
        self.end.cancel();
        self.looking.close();
        if timeout(grace, self.looking.wait()).await.is_err() {
            tracing::warn!("the relay still had no answer for a message: it may be sent twice");
        }
    }
}

/// Who a message is from and everyone it is to, those of whom it does not tell too.
fn envelope(content: &EmailContent) -> Option<Envelope> {
    let to = content.to.iter().chain(&content.cc).chain(&content.bcc);
    let to: Option<Vec<Address>> = to.map(|mailbox| address(mailbox)).collect();
    Envelope::new(Some(address(&content.from)?), to?).ok()
}

/// The address of `Ada <ada@example.com>`, or of `ada@example.com`.
fn address(mailbox: &str) -> Option<Address> {
    let bracketed = mailbox.strip_suffix('>').and_then(|text| text.rsplit_once('<'));
    bracketed.map_or(mailbox, |(_, address)| address).parse().ok()
}
