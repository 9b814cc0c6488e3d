//! The body of an answer, as it comes from the worker.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{future::BoxFuture, task::AtomicWaker};
use hamlet_models::RunError;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::{task::AbortHandle, time::sleep_until};

use super::{
    connection::Connection,
    fetch::{stopped, why_broken},
    ongoing::Ongoing,
    warm::WarmWorker,
};
use crate::{Body, BoxError, End, ProgramKey, live_run::LiveRun};

/// The body of a val's answer. Reading it drives the connection; its end is the run's end.
pub(super) struct AnswerBody {
    incoming: Option<Incoming>,
    warm: Arc<WarmWorker>,
    key: ProgramKey,
    going: Arc<Going>,
    /// Ends the run in time though nobody reads, from the first part on that is not the last.
    guard: Option<AbortHandle>,
    driven_out: bool,
    breaking: Option<BoxFuture<'static, (End, RunError)>>,
    over: bool,
}

/// A run and its connection, until it has ended.
struct Going {
    parts: Mutex<Option<(Ongoing, Connection)>>,
    /// Who waits for the next part of the body.
    reader: AtomicWaker,
}

impl Going {
    /// Nothing panics while it holds this lock, so what it guards is whole even if it is poisoned.
    fn parts(&self) -> MutexGuard<'_, Option<(Ongoing, Connection)>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AnswerBody {
    pub(super) fn new(
        empty: bool,
        warm: Arc<WarmWorker>,
        key: ProgramKey,
        ongoing: Ongoing,
        connection: Connection,
    ) -> Self {
        let going = Going {
            parts: Mutex::new(Some((ongoing, connection))),
            reader: AtomicWaker::new(),
        };
        let mut body = Self {
            incoming: None,
            warm,
            key,
            going: Arc::new(going),
            guard: None,
            driven_out: false,
            breaking: None,
            over: false,
        };
        if empty {
            let parts = body.going.parts().take();
            body.complete(parts);
        }
        body
    }

    pub(super) fn over(mut self, incoming: Incoming) -> Body {
        self.incoming = Some(incoming);
        self.boxed_unsync()
    }

    /// All of it has come.
    fn complete(&mut self, parts: Option<(Ongoing, Connection)>) {
        self.over = true;
        if let Some((ongoing, connection)) = parts {
            if !self.driven_out && !connection.is_closed() {
                self.warm.keep(connection);
            }
            ongoing.end(End::Ok, None);
        }
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, String>>> {
        let Some(incoming) = &mut self.incoming else {
            return Poll::Ready(None);
        };
        Pin::new(incoming)
            .poll_frame(context)
            .map_err(|cause| cause.to_string())
    }

    fn set_guard(&mut self, ongoing: &Ongoing) {
        if self.guard.is_none() {
            let guard = guard(
                self.going.clone(),
                ongoing.run.clone(),
                self.warm.clone(),
                self.key.clone(),
            );
            self.guard = Some(tokio::spawn(guard).abort_handle());
        }
    }
}

/// Ends the run when it must end, whether or not anybody reads its answer: a connection that takes nothing is not asked
/// for more, and the body not for its next part.
async fn guard(going: Arc<Going>, run: Arc<LiveRun>, warm: Arc<WarmWorker>, key: ProgramKey) {
    let doom = tokio::select! {
        doom = run.stopped() => Some(doom),
        () = deadline_without_worker(&run, &warm) => None,
    };
    let Some((ongoing, connection)) = going.parts().take() else {
        return;
    };
    drop(connection);
    let shared = ongoing.shared.clone();
    match doom {
        Some(doom) => drop(stopped(&shared, &key, &warm, ongoing, doom)),
        None => {
            let (end, error) = warm.worker.exited().await.verdict(&shared.config.limits);
            ongoing.end(end, Some(error));
        }
    }
    going.reader.wake();
}

/// A process that is gone has nobody who watches its runs' time; what it sent may be read until then.
async fn deadline_without_worker(run: &LiveRun, warm: &WarmWorker) {
    warm.worker.exited().await;
    if let Some(deadline) = run.deadline.get() {
        sleep_until((*deadline).into()).await;
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        if let Some(guard) = &self.guard {
            guard.abort();
        }
        // Who reads no further has left, unless the run is over.
        drop(self.going.parts().take());
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if this.over {
            return Poll::Ready(None);
        }
        let going = this.going.clone();
        let mut parts = going.parts();
        let Some((ongoing, connection)) = &mut *parts else {
            this.over = true;
            return Poll::Ready(Some(Err("the run was ended".into())));
        };
        let shared = ongoing.shared.clone();
        let doom = if this.guard.is_some() {
            going.reader.register(context.waker());
            None
        } else {
            ongoing.run.must_stop(context.waker())
        };
        if let Some(doom) = doom {
            this.over = true;
            if let Some((ongoing, _)) = parts.take() {
                stopped(&shared, &this.key, &this.warm, ongoing, doom);
            }
            return Poll::Ready(Some(Err("the run was ended".into())));
        }
        let mut polled = match this.breaking {
            Some(_) => Poll::Pending,
            None => this.poll_incoming(context),
        };
        if polled.is_pending() && this.breaking.is_none() && !this.driven_out {
            this.driven_out = connection.drive(context).is_ready();
            polled = this.poll_incoming(context);
        }
        match polled {
            Poll::Ready(Some(Ok(frame))) => {
                if this.incoming.as_ref().is_some_and(HttpBody::is_end_stream) {
                    this.complete(parts.take());
                } else {
                    this.set_guard(ongoing);
                }
                return Poll::Ready(Some(Ok(frame)));
            }
            Poll::Ready(None) => {
                this.complete(parts.take());
                return Poll::Ready(None);
            }
            Poll::Ready(Some(Err(cause))) => {
                this.breaking = Some(Box::pin(why_broken(this.warm.clone(), shared, cause)));
            }
            Poll::Pending => {}
        }
        let Some(breaking) = &mut this.breaking else {
            return Poll::Pending;
        };
        let Poll::Ready((end, error)) = breaking.as_mut().poll(context) else {
            return Poll::Pending;
        };
        this.over = true;
        if let Some((ongoing, _)) = parts.take() {
            ongoing.end(end, Some(error));
        }
        Poll::Ready(Some(Err("the val's answer broke off".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.over || self.incoming.as_ref().is_some_and(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming
            .as_ref()
            .map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}
