//! The limit of a request's body, for bodies that say their size and for those that don't; and answers that nobody gets.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::{Body, HttpBody},
    http::{HeaderMap, header},
};
use bytes::Bytes;
use hamlet_runtime::{Body as RuntimeBody, BoxError};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, SizeHint};
use tokio::time::timeout;

use super::page::Page;
use crate::error::ApiError;

/// How long an answer that nobody gets may take to end, and how large it may be.
const UNSENT_FOR: Duration = Duration::from_secs(5);
const UNSENT_BYTES: usize = 1_000_000;

/// Lets a val end an answer that nobody gets, so that its run ends as it would have; one that does not end soon is cut
/// off.
pub(super) fn let_end(body: Body) {
    if !body.is_end_stream() {
        tokio::spawn(timeout(UNSENT_FOR, Limited::new(body, UNSENT_BYTES).collect()));
    }
}

/// The most bytes that a body may have.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    most_bytes: u64,
}

/// Whether a body turned out to be larger than the limit.
#[derive(Clone, Default)]
pub(super) struct Exceeded(Option<Arc<AtomicBool>>);

impl Exceeded {
    pub(super) fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl Limit {
    pub(super) fn of(megabytes: u64) -> Self {
        Self {
            most_bytes: megabytes.saturating_mul(1_000_000),
        }
    }

    /// Refuses a body that says that it is too large, and watches one that doesn't say.
    pub(super) fn apply(self, headers: &HeaderMap, body: Body) -> Result<(RuntimeBody, Exceeded), ApiError> {
        let said = headers
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        match said.or_else(|| body.size_hint().exact()) {
            Some(bytes) if bytes > self.most_bytes => Err(self.refusal()),
            // The connection gives no more than was said.
            Some(_) => Ok((body.map_err(Into::into).boxed_unsync(), Exceeded::default())),
            None => {
                let flag = Arc::new(AtomicBool::new(false));
                let watched = Watched {
                    body,
                    left: self.most_bytes,
                    exceeded: flag.clone(),
                };
                Ok((watched.boxed_unsync(), Exceeded(Some(flag))))
            }
        }
    }

    /// What to answer when a body turned out to be too large.
    pub(super) fn page(self) -> Page {
        Page::of_error(self.refusal())
    }

    fn refusal(self) -> ApiError {
        ApiError::TooLarge {
            max_bytes: usize::try_from(self.most_bytes).unwrap_or(usize::MAX),
        }
    }
}

/// A body that breaks off when it passes the limit.
struct Watched {
    body: Body,
    left: u64,
    exceeded: Arc<AtomicBool>,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let bytes = match &frame {
            Some(Ok(frame)) => frame.data_ref().map_or(0, |data| data.len() as u64),
            Some(Err(_)) | None => 0,
        };
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
            }
            None => {
                self.exceeded.store(true, Ordering::Relaxed);
                Poll::Ready(Some(Err("the body is larger than the limit".into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
