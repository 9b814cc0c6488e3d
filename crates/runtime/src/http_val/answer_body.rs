//! The body of an answer, as it comes from the worker.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use hamlet_models::RunError;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::{
    connection::Connection,
    fetch::{stopped, why_broken},
    ongoing::Ongoing,
    warm::WarmWorker,
};
use crate::{Body, BoxError, End, ProgramKey};

/// The body of a val's answer. Reading it drives the connection; its end is the run's end.
pub(super) struct AnswerBody {
    incoming: Option<Incoming>,
    warm: Arc<WarmWorker>,
    key: ProgramKey,
    /// Until the run has ended.
    going: Option<(Ongoing, Connection)>,
    driven_out: bool,
    breaking: Option<BoxFuture<'static, (End, RunError)>>,
}

impl AnswerBody {
    pub(super) fn new(
        empty: bool,
        warm: Arc<WarmWorker>,
        key: ProgramKey,
        ongoing: Ongoing,
        connection: Connection,
    ) -> Self {
        let mut body = Self {
            incoming: None,
            warm,
            key,
            going: Some((ongoing, connection)),
            driven_out: false,
            breaking: None,
        };
        if empty {
            body.complete();
        }
        body
    }

    pub(super) fn over(mut self, incoming: Incoming) -> Body {
        self.incoming = Some(incoming);
        self.boxed_unsync()
    }

    /// All of it has come.
    fn complete(&mut self) {
        if let Some((ongoing, connection)) = self.going.take() {
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
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let Some((ongoing, _)) = &this.going else {
            return Poll::Ready(None);
        };
        let shared = ongoing.shared.clone();
        if let Some(doom) = ongoing.run.must_stop(context.waker()) {
            if let Some((ongoing, _)) = this.going.take() {
                stopped(&shared, &this.key, &this.warm, ongoing, doom);
            }
            return Poll::Ready(Some(Err("the run was ended".into())));
        }
        let mut polled = match this.breaking {
            Some(_) => Poll::Pending,
            None => this.poll_incoming(context),
        };
        if polled.is_pending() && this.breaking.is_none() && !this.driven_out {
            if let Some((_, connection)) = &mut this.going {
                this.driven_out = connection.drive(context).is_ready();
            }
            polled = this.poll_incoming(context);
        }
        match polled {
            Poll::Ready(Some(Ok(frame))) => {
                if this.incoming.as_ref().is_some_and(HttpBody::is_end_stream) {
                    this.complete();
                }
                return Poll::Ready(Some(Ok(frame)));
            }
            Poll::Ready(None) => {
                this.complete();
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
        if let Some((ongoing, _)) = this.going.take() {
            ongoing.end(end, Some(error));
        }
        Poll::Ready(Some(Err("the val's answer broke off".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.going.is_none() || self.incoming.as_ref().is_some_and(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming
            .as_ref()
            .map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}
