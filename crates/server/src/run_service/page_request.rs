//! A request from an HTTP val's page, or one that is repeated: sent as any other, but its answer is kept with the run.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{self, HeaderName, HeaderValue, Method, Uri, header};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures_util::TryStreamExt;
use hamlet_models::{HttpRequest, HttpResponse, KeptRequest, LogLine, RunId, Trigger};
use hamlet_runtime::{Body, BoxError, Outcome, RunEvents};
use hamlet_store::{RunRecord, ValRecord};
use http_body_util::{BodyExt, BodyStream, Full};

use super::{Answered, RunService, records::request_record};
use crate::{
    error::{ApiError, ApiResult},
    gateway,
    recorder::{Given, GivenRequest, RecordedRun, as_text},
};

impl RunService {
    /// Sends a request to an HTTP val in the background; the run has the answer when it is over.
    pub async fn start_request(
        &self,
        val: &Arc<ValRecord>,
        request: http::Request<Body>,
        replay_of: Option<RunId>,
    ) -> ApiResult<Arc<RecordedRun>> {
        let runtime = self.inner.runtime()?;
        let warm = self.inner.warm_val(val).await?;
        let trigger = replay_of.map_or(Trigger::Editor, |_| Trigger::Replay);
        let record = RunRecord {
            replay_of,
            ..request_record(val, trigger, &request)
        };
        let (given, request) = GivenRequest::note(request, self.most_value_bytes());
        let run = self.inner.recorder.begin(record, Given::Request(given)).await?;
        let events = Arc::new(EndsLater {
            run: run.clone(),
            end: Mutex::default(),
        });
        let (service, begun) = (self.clone(), run.clone());
        tokio::spawn(async move {
            let answered = service
                .fetch_as(&runtime, &warm, begun.clone(), events.clone(), request)
                .await;
            if let Ok(Answered {
                response: Ok(response),
                ..
            }) = answered
            {
                keep(&begun, response, service.most_value_bytes()).await;
            }
            events.release();
        });
        Ok(run)
    }

    /// The request that the page of an HTTP val describes.
    pub fn page_request(&self, val: &ValRecord, asked: &HttpRequest) -> ApiResult<http::Request<Body>> {
        let invalid = |field: &str, message: &str| ApiError::invalid(format!("request.{field}"), message);
        let method = Method::from_bytes(asked.method.as_bytes())
            .map_err(|_| invalid("method", "a method is a word like GET or POST"))?;
        if !asked.path.starts_with('/') {
            return Err(invalid("path", "a path begins with /"));
        }
        let uri =
            Uri::try_from([&self.inner.links.endpoint(val), asked.path.as_str()].concat()).map_err(|_| {
                invalid(
                    "path",
                    "this can't be written in an address: encode what is not plain",
                )
            })?;
        let host = uri
            .authority()
            .map(|authority| authority.as_str().to_owned())
            .unwrap_or_default();
        let mut request = with_body(asked.body.clone().unwrap_or_default().into());
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        for (name, value) in &asked.headers {
            let name = HeaderName::try_from(name.as_str())
                .map_err(|_| invalid("headers", &format!("{name:?} can't be the name of a header")))?;
            let value = HeaderValue::try_from(value.as_str()).map_err(|_| {
                invalid(
                    "headers",
                    &format!("the value of {name} can't be sent in a header"),
                )
            })?;
            request.headers_mut().append(name, value);
        }
        let headers = request.headers_mut();
        gateway::remove_hop_headers(headers);
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(
            header::HOST,
            HeaderValue::try_from(host).map_err(|_| invalid("path", "has no host"))?,
        );
        if let Some(body) = &asked.body {
            headers.insert(header::CONTENT_LENGTH, body.len().into());
        }
        Ok(request)
    }
}

/// The request that an earlier run was given, without what was not kept of its headers; none if it can't be read any
/// more.
pub fn kept_request(kept: KeptRequest) -> Option<http::Request<Body>> {
    let body = if kept.base64 {
        STANDARD.decode(kept.body).ok()?
    } else {
        kept.body.into_bytes()
    };
    let mut request = with_body(body.into());
    *request.method_mut() = Method::from_bytes(kept.method.as_bytes()).ok()?;
    *request.uri_mut() = Uri::try_from(kept.url).ok()?;
    for (name, value) in kept.headers {
        if let Some(value) = value {
            let name = HeaderName::try_from(name).ok()?;
            request
                .headers_mut()
                .append(name, HeaderValue::try_from(value).ok()?);
        }
    }
    Some(request)
}

fn with_body(body: Bytes) -> http::Request<Body> {
    http::Request::new(Full::new(body).map_err(|never| match never {}).boxed_unsync())
}

/// Reads the answer to its end and keeps its beginning.
async fn keep(run: &RecordedRun, response: http::Response<Body>, most_bytes: usize) {
    let (head, body) = response.into_parts();
    run.answered(head.status.as_u16());
    let mut frames = BodyStream::new(body);
    let (mut kept, mut size) = (Vec::new(), 0_u64);
    // A body that breaks off is kept as far as it came; the run says why it failed.
    while let Ok::<_, BoxError>(Some(frame)) = frames.try_next().await {
        let Ok(data) = frame.into_data() else { continue };
        size += data.len() as u64;
        kept.extend_from_slice(&data[..data.len().min(most_bytes - kept.len())]);
    }
    let cut = size > kept.len() as u64;
    let (body, base64) = as_text(kept, cut);
    let headers = head
        .headers
        .iter()
        .map(|(name, value)| {
            (
                name.as_str().to_owned(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
        .collect();
    run.keep_response(
        HttpResponse {
            status: head.status.as_u16(),
            headers,
            body,
            base64,
            size,
        },
        cut,
    );
}

/// Passes a run's events on, but its end only once its answer has been kept: who sees the end finds the answer.
struct EndsLater {
    run: Arc<RecordedRun>,
    end: Mutex<End>,
}

#[derive(Default)]
enum End {
    #[default]
    Awaited,
    Came(Box<Outcome>),
    Released,
}

impl EndsLater {
    fn release(&self) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        if let End::Came(outcome) = std::mem::replace(&mut *end, End::Released) {
            self.run.ended(self.run.id(), &outcome);
        }
    }
}

impl RunEvents for EndsLater {
    fn started(&self, run: RunId) {
        self.run.started(run);
    }

    fn log(&self, run: RunId, line: LogLine) {
        self.run.log(run, line);
    }

    fn ended(&self, run: RunId, outcome: &Outcome) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        match *end {
            End::Released => self.run.ended(run, outcome),
            End::Awaited | End::Came(_) => *end = End::Came(Box::new(outcome.clone())),
        }
    }
}
