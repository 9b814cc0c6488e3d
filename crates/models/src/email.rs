//! Mail that vals and people send.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{EmailId, RunId, Timestamp};

/// A message to send; every part may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NewEmail {
    /// To whom; the caller, if left out.
    pub to: Option<EmailAddresses>,
    /// Who gets a copy.
    pub cc: Option<EmailAddresses>,
    /// Who gets a copy that the others don't know of.
    pub bcc: Option<EmailAddresses>,
    /// From whom; an address of the caller's on this instance.
    pub from: Option<EmailAddress>,
    /// Where answers go.
    pub reply_to: Option<EmailAddress>,
    /// Where answers go, if to several.
    pub reply_to_list: Option<EmailAddresses>,
    /// What it is about.
    pub subject: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// The text as HTML.
    pub html: Option<String>,
    /// Files that go with it.
    pub attachments: Option<Vec<EmailAttachment>>,
    /// Headers of its own.
    pub headers: Option<BTreeMap<String, String>>,
}

/// An address alone (`ada@example.com`, `Ada <ada@example.com>`), or with the name of whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum EmailAddress {
    /// As a text.
    Text(String),
    /// In its parts.
    Named {
        /// The address.
        email: String,
        /// Whose it is.
        #[serde(default)]
        name: Option<String>,
    },
}

/// One address, or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum EmailAddresses {
    /// One.
    One(EmailAddress),
    /// Several.
    Many(Vec<EmailAddress>),
}

impl EmailAddresses {
    /// Each of them.
    pub fn as_slice(&self) -> &[EmailAddress] {
        match self {
            Self::One(address) => std::slice::from_ref(address),
            Self::Many(addresses) => addresses,
        }
    }
}

/// A file that goes with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailAttachment {
    /// What it is called.
    pub filename: String,
    /// Its bytes in base64.
    pub content: String,
    /// Its content type; `application/octet-stream` if left out.
    #[serde(default, rename = "type")]
    pub media_type: Option<String>,
    /// By what the HTML names it, if it is part of that.
    #[serde(default)]
    pub content_id: Option<String>,
    /// `attachment`, or `inline`.
    #[serde(default)]
    pub disposition: Option<String>,
}

/// What came of sending a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SentEmail {
    /// A sentence that says it.
    pub message: String,
}

/// A message in the outbox, kept here since it could not be sent, or one that a run sent (ours).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutboxEmail {
    /// Names the message.
    pub id: EmailId,
    /// When it was to be sent.
    pub created_at: Timestamp,
    /// The run that sent it, if it was one.
    pub run_id: Option<RunId>,
    /// When it left by the relay; `null` while it waits in the outbox.
    #[serde(default)]
    pub sent_at: Option<Timestamp>,
    /// Why the relay did not take it; `null` when it did, or when this instance has none.
    #[serde(default)]
    pub failure: Option<String>,
    /// When it is tried again; `null` when that is not done.
    #[serde(default)]
    pub next_attempt_at: Option<Timestamp>,
    /// What it says.
    #[serde(flatten)]
    pub content: EmailContent,
}

/// What a message says, but for the bytes of its attachments (ours).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailContent {
    /// From whom.
    pub from: String,
    /// To whom.
    pub to: Vec<String>,
    /// Who gets a copy.
    pub cc: Vec<String>,
    /// Who gets a copy that the others don't know of.
    pub bcc: Vec<String>,
    /// What it is about.
    pub subject: String,
    /// The text.
    pub text: Option<String>,
    /// The text as HTML.
    pub html: Option<String>,
    /// Files that go with it.
    pub attachments: Vec<EmailFile>,
}

/// A file of a message, without its bytes (ours).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailFile {
    /// What it is called.
    pub filename: String,
    /// Its content type.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Its bytes.
    pub size: u64,
}
