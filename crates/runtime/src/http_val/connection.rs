//! Connections to a worker, and a request over one of them.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::{Request, Response};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;

use super::{ongoing::Ongoing, warm::WarmWorker};
use crate::{Body, BoxError, worker::Doom};

/// A connection to a worker. Whoever uses it drives it, so that a request needs no task and no other thread.
pub(crate) struct Connection {
    sender: SendRequest<Body>,
    driver: Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>,
    /// The driver has come to its end, or has handed the connection over, and must be left alone.
    over: bool,
}

/// Why no answer came.
pub(super) enum Trouble {
    /// The run must end.
    Stopped(Doom),
    /// The connection broke off.
    Broken(String),
}

/// The answer's head, with the connection on which its body comes: one of its own if it may become a web socket.
pub(super) async fn exchange(
    warm: &WarmWorker,
    ongoing: &Ongoing,
    mut request: Request<Body>,
    of_its_own: bool,
) -> Result<(Response<Incoming>, Connection), Trouble> {
    loop {
        let kept = if of_its_own { None } else { warm.connection() };
        let (mut connection, kept) = match kept {
            Some(connection) => (connection, true),
            None => (
                connect(warm)
                    .await
                    .map_err(|cause| Trouble::Broken(cause.to_string()))?,
                false,
            ),
        };
        if !connection.is_ready().await {
            if kept {
                continue;
            }
            return Err(Trouble::Broken("the worker took no request".into()));
        }
        let mut head = std::pin::pin!(connection.sender.try_send_request(request));
        let answered = std::future::poll_fn(|context| {
            if let Some(doom) = ongoing.run.must_stop(context.waker()) {
                return Poll::Ready(Err(doom));
            }
            // What it ends with is told by the answer that does not come.
            let _ = connection.drive(context);
            head.as_mut().poll(context).map(Ok)
        })
        .await;
        match answered {
            Err(doom) => return Err(Trouble::Stopped(doom)),
            Ok(Ok(response)) => return Ok((response, connection)),
            Ok(Err(mut error)) => match error.take_message() {
                // Not a byte of it was sent: a kept connection had been closed meanwhile.
                Some(unsent) if kept => request = unsent,
                _ => return Err(Trouble::Broken(error.into_error().to_string())),
            },
        }
    }
}

async fn connect(warm: &WarmWorker) -> Result<Connection, BoxError> {
    let stream = UnixStream::connect(&warm.socket).await?;
    let (sender, driver) = http1::handshake(TokioIo::new(stream)).await?;
    Ok(Connection {
        sender,
        driver: Box::pin(driver.with_upgrades()),
        over: false,
    })
}

impl Connection {
    /// Waits until it takes a request; `false` if it never will.
    async fn is_ready(&mut self) -> bool {
        std::future::poll_fn(|context| {
            if self.drive(context).is_ready() {
                return Poll::Ready(false);
            }
            self.sender.poll_ready(context).map(|ready| ready.is_ok())
        })
        .await
    }

    /// Reads and writes what there is to be; says whether the connection is at its end.
    pub(super) fn drive(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if !self.over {
            self.over = self.driver.as_mut().poll(context).is_ready();
        }
        if self.over { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Whether it will take no more requests.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}
