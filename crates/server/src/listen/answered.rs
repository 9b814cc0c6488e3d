//! An answer's body, which knows when it has been sent.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{Error, body::Body};
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::seats::Underway;

/// The body, and that its request is being answered until it is dropped.
pub(super) struct Answered {
    body: Body,
    _underway: Underway,
}

impl Answered {
    pub(super) fn new(body: Body, underway: Underway) -> Self {
        Self {
            body,
            _underway: underway,
        }
    }
}

impl HttpBody for Answered {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
