//! Mail: what goes out by a relay or is kept in the outbox, and what comes for vals.

mod compose;
mod listener;
mod parse;
mod postman;

use std::sync::Arc;

use anyhow::Context;
use hamlet_models::{EmailContent, NewEmail, SentEmail};
use hamlet_store::Store;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

pub use listener::MailListener;
pub(crate) use parse::input as email_input;
pub use postman::Postman;

use crate::{
    auth::CurrentUser,
    config::{Config, MailConfig},
    error::{ApiError, ApiResult},
};

/// Sends mail; a cheap handle.
#[derive(Clone)]
pub struct Mailer {
    parts: Arc<Parts>,
}

struct Parts {
    store: Store,
    /// The host of the addresses that mail comes from.
    domain: String,
    relay: Option<AsyncSmtpTransport<Tokio1Executor>>,
}

impl Mailer {
    /// One that sends by the relay of these settings, or else keeps what it is to send.
    pub fn new(config: &Config, store: Store) -> anyhow::Result<Self> {
        let MailConfig { domain, relay, .. } = &config.mail;
        let relay = match relay {
            // The address may hold a password: what is wrong with it is said without it.
            Some(url) => Some(
                AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
                    .ok()
                    .context("the setting mail_relay is no address like smtps://name:password@host")?
                    .build(),
            ),
            None => None,
        };
        Ok(Self {
            parts: Arc::new(Parts {
                store,
                domain: domain.clone().unwrap_or_else(|| "localhost".to_owned()),
                relay,
            }),
        })
    }

    /// Sends a message of this user's, or keeps it in their outbox.
    pub async fn send(&self, sender: &CurrentUser, new: &NewEmail) -> ApiResult<SentEmail> {
        let (message, content) = compose::compose(&sender.user, &self.parts.domain, new)?;
        match &self.parts.relay {
            Some(relay) => relay_message(relay, message).await,
            None => self.keep(sender, &content, &message).await,
        }
    }

    async fn keep(
        &self,
        sender: &CurrentUser,
        content: &EmailContent,
        message: &Message,
    ) -> ApiResult<SentEmail> {
        self.parts
            .store
            .keep_email(sender.id(), sender.run_id(), content, message.formatted())
            .await?;
        Ok(SentEmail {
            message: "Kept in the outbox: this instance has no relay to send mail by.".to_owned(),
        })
    }
}

async fn relay_message(relay: &AsyncSmtpTransport<Tokio1Executor>, message: Message) -> ApiResult<SentEmail> {
    match relay.send(message).await {
        Ok(_) => Ok(SentEmail {
            message: "Sent.".to_owned(),
        }),
        Err(error) if error.is_permanent() => {
            tracing::info!(%error, "the relay refused a message");
            Err(ApiError::invalid("to", "the mail server refused this message"))
        }
        Err(error) => {
            tracing::warn!(%error, "the relay could not be used");
            Err(ApiError::Unavailable(
                "the mail server can't be reached: try again later",
            ))
        }
    }
}
