//! Mail: what goes out by a relay or is kept in the outbox, and what comes for vals.

mod allowance;
mod compose;
mod courier;
mod listener;
mod parse;
mod postman;
mod reader;

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use hamlet_models::{NewEmail, SentEmail};
use hamlet_store::Store;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor, transport::smtp::response::Category};

pub(crate) use compose::ADDRESSES_MAX;
pub use courier::Courier;
pub use listener::MailListener;
pub(crate) use listener::{INCOMING_MAX_BYTES, INCOMING_MAX_VALS};
pub(crate) use parse::input as email_input;
pub use postman::Postman;
pub(crate) use reader::{READ_MAIL, read_mail};

use crate::{
    auth::CurrentUser,
    clock,
    config::{Config, MailConfig},
    error::{ApiError, ApiResult},
};
use allowance::Allowance;

/// How long the relay may take for an answer.
const RELAY_TIMEOUT: Duration = Duration::from_secs(20);

type Relay = AsyncSmtpTransport<Tokio1Executor>;

/// Sends mail; a cheap handle.
#[derive(Clone)]
pub struct Mailer {
    parts: Arc<Parts>,
}

struct Parts {
    store: Store,
    /// The host of the addresses that mail comes from.
    domain: String,
    relay: Option<Relay>,
    allowance: Allowance,
}

impl Mailer {
    /// One that sends by the relay of these settings, or else keeps what it is to send.
    pub fn new(config: &Config, store: Store) -> anyhow::Result<Self> {
        let MailConfig { domain, relay, .. } = &config.mail;
        let relay = match relay {
            // The address may hold a password: what is wrong with it is said without it.
            Some(url) => Some(
                Relay::from_url(url)
                    .ok()
                    .context("the setting mail_relay is no address like smtps://name:password@host")?
                    .timeout(Some(RELAY_TIMEOUT))
                    .build(),
            ),
            None => None,
        };
        Ok(Self {
            parts: Arc::new(Parts {
                store,
                domain: domain.clone().unwrap_or_else(|| "localhost".to_owned()),
                relay,
                allowance: Allowance::new(config.mail.addresses_per_hour),
            }),
        })
    }

    /// Sends a message of this user's, or keeps it in their outbox; what the relay does not take for now
    /// waits there for the [`Courier`].
    pub async fn send(&self, sender: &CurrentUser, new: &NewEmail) -> ApiResult<SentEmail> {
        let Parts {
            store,
            domain,
            relay,
            allowance,
        } = &*self.parts;
        let (message, content) = compose::compose(&sender.user, domain, new)?;
        let addresses = content.to.len() + content.cc.len() + content.bcc.len();
        allowance.take(
            sender.id(),
            u32::try_from(addresses).unwrap_or(u32::MAX),
            clock::now(),
        )?;
        let (user, run, bytes) = (sender.id(), sender.run_id(), message.formatted());
        let Some(relay) = relay else {
            store.keep_email(user, run, &content, bytes, None).await?;
            return Ok(SentEmail {
                message: "Kept in the outbox: this instance has no relay to send mail by.".to_owned(),
            });
        };
        match relay.send(message).await {
            Ok(_) => {
                // It is on its way, whatever is known of it later.
                if let Err(error) = store.note_sent_email(user, run, &content).await {
                    tracing::error!(%error, "it could not be noted that a message was sent");
                }
                Ok(SentEmail {
                    message: "Sent.".to_owned(),
                })
            }
            Err(error) if is_refusal(&error) => {
                tracing::info!(%error, "the relay refused a message");
                let message = format!("the mail server refused this message: {error}");
                Err(ApiError::invalid("to", message))
            }
            Err(error) => {
                tracing::warn!(%error, "the relay could not be used: a message waits in the outbox");
                let failure = error.to_string();
                store
                    .keep_email(user, run, &content, bytes, Some(&failure))
                    .await?;
                Err(ApiError::MailNotSent(failure))
            }
        }
    }
}

/// Whether it is the message that the relay won't have, now or ever, and not who sends it: this server.
fn is_refusal(error: &lettre::transport::smtp::Error) -> bool {
    let is_sign_in = |category| matches!(category, Category::Unspecified3);
    error.is_permanent() && error.status().is_some_and(|code| !is_sign_in(code.category))
}
