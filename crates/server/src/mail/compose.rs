//! Making a message of what is to be sent.

use base64::{Engine, engine::general_purpose::STANDARD};
use hamlet_models::{EmailAddress, EmailAddresses, EmailAttachment, EmailContent, EmailFile, NewEmail};
use hamlet_store::UserRecord;
use lettre::{
    Message,
    message::{
        Attachment, Body, Mailbox, MessageBuilder, MultiPart, SinglePart,
        header::{ContentType, HeaderName, HeaderValue},
    },
};

use crate::error::{ApiError, ApiResult};

/// The most people that one message goes to.
pub(crate) const ADDRESSES_MAX: usize = 50;
/// Headers that the message has anyway, or that say how it is made.
const OWN_HEADERS: [&str; 10] = [
    "from",
    "sender",
    "to",
    "cc",
    "bcc",
    "reply-to",
    "subject",
    "date",
    "message-id",
    "mime-version",
];

/// The message, and what it says as the outbox shows it.
pub(super) fn compose(
    sender: &UserRecord,
    domain: &str,
    new: &NewEmail,
) -> ApiResult<(Message, EmailContent)> {
    let from = sender_of(sender, domain, new.from.as_ref())?;
    let (mut to, cc, bcc) = (
        mailboxes("to", &new.to)?,
        mailboxes("cc", &new.cc)?,
        mailboxes("bcc", &new.bcc)?,
    );
    if to.is_empty() && cc.is_empty() && bcc.is_empty() {
        let own = sender.email.as_ref().ok_or_else(|| {
            ApiError::invalid(
                "to",
                "say who this message is to, or set your own e-mail address in the settings",
            )
        })?;
        to.push(mailbox("to", &EmailAddress::Text(own.clone()))?);
    }
    if to.len() + cc.len() + bcc.len() > ADDRESSES_MAX {
        return Err(ApiError::invalid(
            "to",
            format!("a message goes to at most {ADDRESSES_MAX} addresses"),
        ));
    }
    let subject = new
        .subject
        .clone()
        .unwrap_or_else(|| format!("Message from @{} on Hamlet", sender.username));
    if subject.contains(['\r', '\n']) {
        return Err(ApiError::invalid("subject", "a subject is one line"));
    }
    let mut files = Vec::new();
    for file in new.attachments.iter().flatten() {
        files.push(File::of(file)?);
    }
    let content = EmailContent {
        from: from.to_string(),
        to: to.iter().map(Mailbox::to_string).collect(),
        cc: cc.iter().map(Mailbox::to_string).collect(),
        bcc: bcc.iter().map(Mailbox::to_string).collect(),
        subject: subject.clone(),
        text: new.text.clone(),
        html: new.html.clone(),
        attachments: files.iter().map(File::listed).collect(),
    };
    let mut builder = Message::builder().from(from).subject(subject).message_id(None);
    builder = to.into_iter().fold(builder, MessageBuilder::to);
    builder = cc.into_iter().fold(builder, MessageBuilder::cc);
    builder = bcc.into_iter().fold(builder, MessageBuilder::bcc);
    let answers = new
        .reply_to
        .iter()
        .chain(new.reply_to_list.iter().flat_map(EmailAddresses::as_slice));
    for address in answers {
        builder = builder.reply_to(mailbox("replyTo", address)?);
    }
    for (name, value) in new.headers.iter().flatten() {
        builder = builder.raw_header(header(name, value)?);
    }
    let message = with_body(builder, new, files)
        .map_err(|error| ApiError::invalid("", format!("this can't be sent as mail: {error}")))?;
    Ok((message, content))
}

/// Nobody sends in another's name: an address of this instance is its user's, alone or with a val's name.
fn sender_of(sender: &UserRecord, domain: &str, given: Option<&EmailAddress>) -> ApiResult<Mailbox> {
    let own = format!("{}@{domain}", sender.username);
    let Some(given) = given else {
        return mailbox("from", &EmailAddress::Text(own));
    };
    let given = mailbox("from", given)?;
    let user = given.email.user().to_ascii_lowercase();
    let name = sender.username.as_str().to_ascii_lowercase();
    let is_own = user
        .strip_prefix(&name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    if !is_own || !given.email.domain().eq_ignore_ascii_case(domain) {
        let message = format!(
            "mail of yours is from {own}, or from {}.{{val}}@{domain}",
            sender.username
        );
        return Err(ApiError::invalid("from", message));
    }
    Ok(given)
}

fn mailboxes(path: &str, addresses: &Option<EmailAddresses>) -> ApiResult<Vec<Mailbox>> {
    let addresses = addresses
        .as_ref()
        .map(EmailAddresses::as_slice)
        .unwrap_or_default();
    addresses.iter().map(|address| mailbox(path, address)).collect()
}

fn mailbox(path: &str, address: &EmailAddress) -> ApiResult<Mailbox> {
    let mailbox = match address {
        EmailAddress::Text(text) => text.parse().ok(),
        EmailAddress::Named { email, name } => {
            email.parse().ok().map(|email| Mailbox::new(name.clone(), email))
        }
    };
    let sound = |mailbox: &Mailbox| {
        mailbox
            .name
            .as_ref()
            .is_none_or(|name| !name.contains(['\r', '\n']))
    };
    mailbox
        .filter(sound)
        .ok_or_else(|| ApiError::invalid(path, "an e-mail address is written like ada@example.com"))
}

fn header(name: &str, value: &str) -> ApiResult<HeaderValue> {
    let refused = |message: String| ApiError::invalid(format!("headers.{name}"), message);
    let lower = name.to_ascii_lowercase();
    if OWN_HEADERS.contains(&lower.as_str()) || lower.starts_with("content-") {
        return Err(refused(format!(
            "{name} is no header that can be set: there is a field for it, or no need"
        )));
    }
    if value.contains(['\r', '\n', '\0']) {
        return Err(refused("a header is one line".to_owned()));
    }
    let token = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let named = Some(name).filter(|name| !name.is_empty() && name.chars().all(token));
    let named = named.and_then(|name| HeaderName::new_from_ascii(name.to_owned()).ok());
    let named = named.ok_or_else(|| refused(format!("{name:?} can't be the name of a header")))?;
    Ok(HeaderValue::new(named, value.to_owned()))
}

fn with_body(
    builder: MessageBuilder,
    new: &NewEmail,
    files: Vec<File>,
) -> Result<Message, lettre::error::Error> {
    let plain = SinglePart::plain(new.text.clone().unwrap_or_default());
    let text = match &new.html {
        Some(html) if new.text.is_some() => MultiPart::alternative()
            .singlepart(plain)
            .singlepart(SinglePart::html(html.clone())),
        Some(html) => MultiPart::mixed().singlepart(SinglePart::html(html.clone())),
        None if files.is_empty() => return builder.singlepart(plain),
        None => MultiPart::mixed().singlepart(plain),
    };
    if files.is_empty() {
        return builder.multipart(text);
    }
    let parts = files
        .into_iter()
        .fold(MultiPart::mixed().multipart(text), |parts, file| {
            parts.singlepart(file.part())
        });
    builder.multipart(parts)
}

/// A file to attach.
struct File {
    name: String,
    media_type: ContentType,
    /// The content type, as it was given.
    media_type_text: String,
    bytes: Vec<u8>,
    /// By what the HTML names it, for a file that is shown in it.
    inline: Option<String>,
}

impl File {
    fn of(given: &EmailAttachment) -> ApiResult<Self> {
        let refused =
            |message: &str| ApiError::invalid("attachments", format!("{}: {message}", given.filename));
        let plain = |text: &str| !text.contains(|c: char| c.is_control());
        if given.filename.is_empty() || !plain(&given.filename) {
            return Err(refused("a file has a name, on one line"));
        }
        let media_type = given.media_type.as_deref().unwrap_or("application/octet-stream");
        let inline = match (given.disposition.as_deref(), &given.content_id) {
            (Some("inline"), Some(id)) => Some(id.clone()),
            (Some("inline"), None) => Some(given.filename.clone()),
            (Some("attachment") | None, _) => None,
            (Some(_), _) => return Err(refused("a file is an attachment, or inline")),
        };
        if inline
            .as_deref()
            .is_some_and(|id| !plain(id) || id.contains(['<', '>']))
        {
            return Err(refused("this can't be its contentId"));
        }
        Ok(Self {
            name: given.filename.clone(),
            media_type_text: media_type.to_owned(),
            media_type: ContentType::parse(media_type).map_err(|_| refused("its type is no content type"))?,
            bytes: STANDARD
                .decode(&given.content)
                .map_err(|_| refused("its content is no base64"))?,
            inline,
        })
    }

    fn listed(&self) -> EmailFile {
        EmailFile {
            filename: self.name.clone(),
            media_type: self.media_type_text.clone(),
            size: self.bytes.len() as u64,
        }
    }

    fn part(self) -> SinglePart {
        let attachment = match self.inline {
            Some(id) => Attachment::new_inline_with_name(id, self.name),
            None => Attachment::new(self.name),
        };
        attachment.body(Body::new(self.bytes), self.media_type)
    }
}
