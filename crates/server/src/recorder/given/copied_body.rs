//! A body that is copied as it passes, up to a limit.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use axum::body::HttpBody;
use bytes::Bytes;
use hamlet_runtime::{Body, BoxError};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};

/// What has been copied of a body.
pub(super) struct BodyCopy(Arc<Mutex<Copied>>);

#[derive(Default)]
struct Copied {
    bytes: Vec<u8>,
    /// How many bytes passed.
    size: u64,
    /// Whether the body has come to its end.
    ended: bool,
}

impl BodyCopy {
    /// A copy of at most that many bytes, and the body to read in place of the one that was given; no copy where
    /// there is nothing to copy.
    pub(super) fn of(body: Body, most_bytes: usize) -> (Option<Self>, Body) {
        if body.is_end_stream() {
            return (None, body);
        }
        let copied = Arc::new(Mutex::default());
        let watched = Watched {
            body,
            copied: copied.clone(),
            most_bytes,
        };
        (Some(Self(copied)), watched.boxed_unsync())
    }

    /// The bytes so far, how many passed, and whether some are missing.
    pub(super) fn so_far(&self) -> (Vec<u8>, u64, bool) {
        let copied = lock(&self.0);
        let cut = !copied.ended || copied.size > copied.bytes.len() as u64;
        (copied.bytes.clone(), copied.size, cut)
    }

    pub(super) fn len(&self) -> usize {
        lock(&self.0).bytes.len()
    }

    pub(super) fn has_ended(&self) -> bool {
        lock(&self.0).ended
    }
}

/// Nothing panics while it holds this lock, so what it guards is whole even if it is poisoned.
fn lock(copied: &Mutex<Copied>) -> MutexGuard<'_, Copied> {
    copied.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Watched {
    body: Body,
    copied: Arc<Mutex<Copied>>,
    most_bytes: usize,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let mut copied = lock(&self.copied);
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    let room = self.most_bytes - copied.bytes.len();
                    copied.bytes.extend_from_slice(&data[..data.len().min(room)]);
                    copied.size += data.len() as u64;
                }
                // Who knows the length reads no further.
                copied.ended = self.body.is_end_stream();
            }
            Some(Err(_)) => {}
            None => copied.ended = true,
        }
        drop(copied);
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
