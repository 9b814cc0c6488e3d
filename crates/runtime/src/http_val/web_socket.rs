//! A web socket: once a val has agreed, what either side sends is passed to the other, until one of them is gone or the
//! run must end.

use std::{sync::Arc, time::Duration};

use http::Response;
use http_body_util::{BodyExt, Empty};
use hyper::{body::Incoming, upgrade::OnUpgrade};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split},
    time::timeout,
};

use super::{
    connection::Connection,
    fetch::{stopped, why_broken},
    frames::Frames,
    headers::name_web_socket,
    ongoing::Ongoing,
    warm::WarmWorker,
};
use crate::{
    Body, End, ProgramKey,
    shared::Shared,
    worker::{Doom, error},
};

/// How long the val has to answer a client that has sent all that it will.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// So much is passed on at once.
const PART_BYTES: usize = 16 * 1024;

/// Goes with a request, among its extensions, whose client asks for a web socket: its connection, once the answer's
/// head has been sent.
#[derive(Clone)]
pub struct WebSocketClient(pub OnUpgrade);

/// One of the two who speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Val,
}

/// How a web socket ended by itself.
enum Ended {
    /// One side said that it closes it.
    Closed,
    /// This side was gone without a word.
    Left(Side),
}

/// The answer of a val that agreed. The run goes on in a task of its own, which a shutdown waits for.
pub(super) fn open(
    shared: &Arc<Shared>,
    key: &ProgramKey,
    warm: &Arc<WarmWorker>,
    ongoing: Ongoing,
    mut response: Response<Incoming>,
    connection: Connection,
    WebSocketClient(client): WebSocketClient,
) -> Response<Body> {
    let val = hyper::upgrade::on(&mut response);
    name_web_socket(response.headers_mut());
    let (key, warm) = (key.clone(), warm.clone());
    shared.nursery.attendants.spawn(async move {
        let ended = until_ended(client, val, connection, &ongoing, &warm).await;
        let shared = ongoing.shared.clone();
        let (end, error) = match ended {
            Ok(Ended::Closed) => (End::Ok, None),
            Ok(Ended::Left(Side::Client)) => {
                let left = "whoever was at the other end of the web socket left without closing it";
                (End::Cancelled, Some(error("CancelledError", left.into())))
            }
            Ok(Ended::Left(Side::Val)) => {
                let cause = "the val left the web socket without closing it".to_owned();
                let (end, error) = why_broken(warm, shared, cause).await;
                (end, Some(error))
            }
            Err(doom) => {
                stopped(&shared, &key, &warm, ongoing, doom);
                return;
            }
        };
        ongoing.end(end, error);
    });
    response.map(|_| Empty::new().map_err(|never| match never {}).boxed_unsync())
}

/// Lets the two speak until the web socket has ended or the run must; both connections are closed then.
async fn until_ended(
    client: OnUpgrade,
    val: OnUpgrade,
    connection: Connection,
    ongoing: &Ongoing,
    warm: &WarmWorker,
) -> Result<Ended, Doom> {
    let mut passing = std::pin::pin!(pass_until_gone(client, val, connection));
    tokio::select! {
        ended = &mut passing => Ok(ended),
        doom = ongoing.run.stopped() => Err(doom),
        // As long as the client takes nothing, what the process sent last hides that it is gone.
        _ = warm.worker.exited() => {
            let rest = timeout(LAST_WORDS, passing).await;
            Ok(rest.unwrap_or(Ended::Left(Side::Val)))
        }
    }
}

/// Passes on what is sent, until one of the two is gone.
async fn pass_until_gone(client: OnUpgrade, val: OnUpgrade, mut connection: Connection) -> Ended {
    std::future::poll_fn(|context| connection.drive(context)).await;
    let Ok(val) = val.await else {
        return Ended::Left(Side::Val);
    };
    let Ok(client) = client.await else {
        return Ended::Left(Side::Client);
    };
    let (from_client, to_client) = split(TokioIo::new(client));
    let (from_val, to_val) = split(TokioIo::new(val));
    let (mut clients, mut vals) = (Frames::default(), Frames::default());
    let first = {
        let mut up = std::pin::pin!(pass(from_client, to_val, &mut clients));
        let mut down = std::pin::pin!(pass(from_val, to_client, &mut vals));
        // A val that is gone is gone for good, whatever the client still says.
        tokio::select! {
            biased;
            has_read = &mut down => if has_read { Side::Val } else { Side::Client },
            has_read = &mut up => {
                if has_read {
                    let _ = timeout(LAST_WORDS, down).await;
                    Side::Client
                } else {
                    Side::Val
                }
            }
        }
    };
    if clients.closes() || vals.closes() {
        Ended::Closed
    } else {
        Ended::Left(first)
    }
}

/// Passes on what one side sends until there is no more, which the other side is told; says whether that is why it
/// ended, and not that the other side takes nothing.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    frames: &mut Frames,
) -> bool {
    let mut part = vec![0; PART_BYTES];
    loop {
        // A connection that breaks has no more to read either.
        let length = from.read(&mut part).await.unwrap_or(0);
        if length == 0 {
            let _ = to.shutdown().await;
            return true;
        }
        frames.see(&part[..length]);
        if to.write_all(&part[..length]).await.is_err() {
            return false;
        }
    }
}
