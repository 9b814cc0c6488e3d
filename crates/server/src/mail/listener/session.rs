//! One connection that brings mail.

use std::{io, net::IpAddr, sync::Arc, time::Duration};

use hamlet_models::ValKind;
use hamlet_store::{IncomingEmail, StoreError, ValRecord};
use mailin::{Action, Response, Session, SessionBuilder};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::{Instant, timeout},
};

use super::{
    Post,
    envelope::{Asked, Envelope},
    extensions::{Mail, as_sent, too_large},
};

/// How long a session may go on before it has named someone to write to, at its start and after each message.
const NAMED_WITHIN: Duration = Duration::from_secs(60);
/// How long a message may take from there, which is 17 kB a second for the largest.
const MESSAGE_WITHIN: Duration = Duration::from_secs(1_800);
/// How long to wait for a line of it.
const LINE_WITHIN: Duration = Duration::from_secs(300);
/// How long who connected may take to hear an answer.
const HEARD_WITHIN: Duration = Duration::from_secs(30);
/// The longest line. The standard says 1,000 bytes; not all who send keep to it.
const LINE_MAX_BYTES: u64 = 1 << 20;
/// Bytes of a message that are gathered before they are written.
const GATHERED_BYTES: usize = 256 << 10;
/// After that many refusals the connection is closed.
const REFUSALS_MAX: u32 = 50;

/// A connection, in the clear or not.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

struct Conversation {
    post: Arc<Post>,
    session: Session<Envelope>,
    envelope: Envelope,
    /// The message that is being read.
    incoming: Option<IncomingEmail>,
}

/// How long a session is waited for, which depends on what has come of it.
struct Patience {
    /// Whether it has named someone to write to.
    has_named: bool,
    since: Instant,
}

impl Patience {
    fn new(has_named: bool) -> Self {
        Self {
            has_named,
            since: Instant::now(),
        }
    }

    /// How long to wait for what comes next.
    fn next(&mut self, has_named: bool) -> Duration {
        if has_named != self.has_named {
            *self = Self::new(has_named);
        }
        let whole = if has_named { MESSAGE_WITHIN } else { NAMED_WITHIN };
        whole.saturating_sub(self.since.elapsed()).min(LINE_WITHIN)
    }
}

/// Says why who connected is not served.
pub(super) async fn refuse(mut stream: TcpStream, why: &str) -> io::Result<()> {
    let line = format!("421 {why}\r\n");
    heard(stream.write_all(line.as_bytes())).await
}

/// Speaks with who connected until one of both ends it.
pub(super) async fn serve(stream: TcpStream, peer: IpAddr, post: Arc<Post>) -> io::Result<()> {
    let envelope = Envelope::default();
    let mut conversation = Conversation {
        session: SessionBuilder::new(post.domain.as_str())
            .enable_start_tls()
            .build(peer, envelope.clone()),
        envelope,
        post,
        incoming: None,
    };
    let mut wire: BufReader<Box<dyn Wire>> = BufReader::new(Box::new(stream));
    reply(&mut wire, &conversation.session.greeting()).await?;
    let (mut line, mut refusals, mut patience) = (Vec::new(), 0, Patience::new(false));
    loop {
        line.clear();
        let within = patience.next(conversation.envelope.lock().has_named());
        let mut limited = (&mut wire).take(LINE_MAX_BYTES);
        let read = timeout(within, limited.read_until(b'\n', &mut line)).await;
        let Ok(read) = read else {
            return reply(&mut wire, &closing(421, "That took too long: try again")).await;
        };
        if read? == 0 {
            return Ok(());
        }
        // Who ends lines otherwise could slip in a message that another server took for part of one.
        if !line.ends_with(b"\r\n") {
            return reply(
                &mut wire,
                &closing(500, "A line is too long, or does not end with CR LF"),
            )
            .await;
        }
        let response = conversation.answer(&line).await;
        match response.action {
            Action::NoReply => continue,
            Action::Reply => reply(&mut wire, &response).await?,
            Action::Close => return reply(&mut wire, &response).await,
            Action::UpgradeTls => {
                reply(&mut wire, &response).await?;
                // What came before the handshake was not said in private.
                if !wire.buffer().is_empty() {
                    return Ok(());
                }
                let tls = conversation.post.tls.accept(wire.into_inner());
                let tls = timeout(NAMED_WITHIN, tls).await.map_err(io::Error::other)??;
                wire = BufReader::new(Box::new(tls));
                conversation.session.tls_active();
            }
        }
        refusals += u32::from(response.is_error);
        if refusals > REFUSALS_MAX {
            return reply(&mut wire, &closing(421, "Too many refusals")).await;
        }
    }
}

impl Conversation {
    async fn answer(&mut self, line: &[u8]) -> Response {
        let is_open = self.envelope.lock().is_open;
        let mail = if is_open { None } else { Mail::read(line) };
        let response = match mail {
            None => self.session.process(line),
            Some(Err(refusal)) => refusal,
            Some(Ok(mail)) => {
                let response = self.session.process(&mail.plain());
                if !response.is_error {
                    let mut envelope = self.envelope.lock();
                    (envelope.sender, envelope.size) = (mail.sender, mail.size.unwrap_or_default());
                }
                response
            }
        };
        let asked = self.envelope.lock().take_asked();
        match asked {
            None if self.envelope.lock().unwritten_len() > GATHERED_BYTES => match self.write().await {
                Ok(()) => response,
                Err(error) => not_taken(&error),
            },
            None => response,
            Some(Asked::Recipient(address)) => self.add_recipient(&address).await.unwrap_or(response),
            Some(Asked::Message) => self.take_message().await,
        }
    }

    /// Adds a val to those that the message goes to; answers why not.
    async fn add_recipient(&mut self, address: &str) -> Option<Response> {
        let val = match find(&self.post, address).await {
            Ok(Some(val)) => val,
            Ok(None) => return Some(Response::custom(550, "Nobody has this address".to_owned())),
            Err(error) => return Some(not_taken(&error)),
        };
        let said = self.envelope.lock().size;
        let room = self.post.store.must_have_room_for_email(val.owner.id, said).await;
        if let Err(error) = room {
            return Some(not_taken(&error));
        }
        let mut envelope = self.envelope.lock();
        if !envelope.vals.contains(&val.id) {
            envelope.vals.push(val.id);
        }
        None
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        let bytes = self.envelope.lock().take_unwritten();
        let incoming = match &mut self.incoming {
            Some(incoming) => incoming,
            None => self.incoming.insert(self.post.store.begin_email()),
        };
        incoming.write(bytes).await
    }

    /// Says that the message was taken only once it is on disk.
    async fn take_message(&mut self) -> Response {
        let is_too_large = self.envelope.lock().is_too_large();
        let written = if is_too_large { Ok(()) } else { self.write().await };
        let (incoming, vals) = (
            self.incoming.take(),
            std::mem::take(&mut self.envelope.lock().vals),
        );
        if is_too_large {
            return too_large();
        }
        let queued = match (written, incoming) {
            (Ok(()), Some(incoming)) => incoming.queue(&vals).await,
            (Ok(()), None) => return Response::custom(451, "Try again later".to_owned()),
            (Err(error), _) => Err(error),
        };
        match queued {
            Ok(()) => Response::custom(250, "Taken".to_owned()),
            Err(error) => not_taken(&error),
        }
    }
}

/// The e-mail val of an address, `{username}.{val}@{mail_domain}`.
async fn find(post: &Post, address: &str) -> Result<Option<Arc<ValRecord>>, StoreError> {
    let Some((local, domain)) = address.rsplit_once('@') else {
        return Ok(None);
    };
    let Some((username, name)) = local.split_once('.') else {
        return Ok(None);
    };
    if !domain.eq_ignore_ascii_case(&post.domain) {
        return Ok(None);
    }
    match post.store.find_val(username, name).await {
        Ok(val) => Ok(Some(val).filter(|val| val.kind == ValKind::Email)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The sender keeps the message and tries again: when less waits, or when our own fault is mended.
fn not_taken(error: &StoreError) -> Response {
    if let StoreError::TooMuchMail = error {
        return Response::custom(452, error.to_string());
    }
    tracing::error!(%error, "a message could not be taken");
    Response::custom(451, "Try again later".to_owned())
}

fn closing(code: u16, sentence: &str) -> Response {
    let mut response = Response::custom(code, sentence.to_owned());
    response.action = Action::Close;
    response
}

async fn reply(wire: &mut BufReader<Box<dyn Wire>>, response: &Response) -> io::Result<()> {
    let answer = as_sent(response)?;
    let said = async {
        wire.write_all(&answer).await?;
        wire.flush().await
    };
    heard(said).await
}

/// Waits until something was said, but for nobody who does not listen.
async fn heard(said: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    timeout(HEARD_WITHIN, said).await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_does_not_listen_is_not_waited_for() {
        let (_silent, end) = tokio::io::duplex(4);
        let mut wire: BufReader<Box<dyn Wire>> = BufReader::new(Box::new(end));
        let error = reply(&mut wire, &closing(421, "Bye"))
            .await
            .expect_err("given up");
        assert_eq!(error.to_string(), "deadline has elapsed");
    }
}
