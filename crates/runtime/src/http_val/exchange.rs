//! One request to an HTTP val: to its worker over a kept connection, and the answer back, streamed both ways.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, Uri, Version, header, uri};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::{BodyExt, Limited};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;

use super::{
    ongoing::Ongoing,
    warm::{Found, Unready, WarmWorker},
};
use crate::{
    Body, BoxError, End, Fetched, RunRequest, RuntimeError,
    shared::Shared,
    worker::{Doom, Thrown},
};

/// The header by which the worker knows whose lines a request prints; the val may read it.
const RUN_ID_HEADER: HeaderName = HeaderName::from_static("hamlet-run-id");
/// So often a request is given to a new worker because the one it was to have is gone.
const TRIES: usize = 3;
/// How long it may take until a worker that broke off is known to be dead.
const DEATH_SHOWS: Duration = Duration::from_millis(250);

/// A connection to a worker. Whoever uses it drives it, so that a request needs no task and no other thread.
pub(crate) struct Connection {
    sender: SendRequest<Body>,
    driver: Pin<Box<http1::Connection<TokioIo<UnixStream>, Body>>>,
}

/// One request, from its place to the head of its answer; the run ends with the answer's body.
pub(crate) async fn fetch(
    shared: &Arc<Shared>,
    request: RunRequest,
    http: Request<Body>,
) -> Result<Fetched, RuntimeError> {
    let mut ongoing = Ongoing::new(shared, &request);
    let place = match shared.admission.try_admit(request.group) {
        Some(place) => place,
        None => {
            let _known = shared.know(&ongoing.run);
            tokio::select! {
                place = shared.admission.admit(request.group) => place?,
                doom = ongoing.run.stopped() => return Ok(Fetched { response: Err(ongoing.refuse(doom)) }),
            }
        }
    };
    ongoing.begin(place);
    let response = match warm_worker(shared, &request, &mut ongoing).await {
        Ok(warm) => answer(shared, &request, &warm, ongoing, http).await,
        Err(Unready::Broken(end, error)) => Err(ongoing.end(end, Some(error))),
        Err(Unready::Fault(cause)) => {
            ongoing.end(
                End::Lost,
                Some(crate::worker::error("LostError", cause.to_string())),
            );
            return Err(match *cause {
                RuntimeError::ShuttingDown => RuntimeError::ShuttingDown,
                _ => RuntimeError::Io(std::io::Error::other(cause)),
            });
        }
    };
    Ok(Fetched {
        response: response.map_err(Box::new),
    })
}

/// The val's worker, with the run begun on it.
async fn warm_worker(
    shared: &Arc<Shared>,
    request: &RunRequest,
    ongoing: &mut Ongoing,
) -> Result<Arc<WarmWorker>, Unready> {
    let fault = |cause: RuntimeError| Unready::Fault(Arc::new(cause));
    let mut checked = None;
    let mut started = None;
    for _ in 0..TRIES {
        match shared.warm.find(shared, request, &ongoing.run, checked.as_ref()) {
            Found::Ready(warm, alone, number) => {
                ongoing.on_worker(&warm, alone, number, started);
                return Ok(warm);
            }
            Found::Check(warm) => {
                if warm.is_current(request).await.map_err(fault)? {
                    checked = Some(warm);
                } else {
                    shared.warm.detach(&request.program.key, &warm);
                }
            }
            Found::Starting(starting) => {
                let _known = shared.know(&ongoing.run);
                let warm = tokio::select! {
                    made = starting => made?,
                    doom = ongoing.run.stopped() => {
                        let (end, error) = doom.verdict(&shared.config.limits);
                        return Err(Unready::Broken(end, error));
                    }
                };
                started = Some(warm.started);
                checked = Some(warm);
            }
        }
    }
    let last = checked.map(|warm| warm.worker.clone());
    let error = crate::worker::error(
        "ProcessEnded",
        "the val's process ended as soon as it had started".into(),
    );
    match last {
        Some(worker) if !worker.is_alive() => {
            let (end, error) = worker.exited().await.verdict(&shared.config.limits);
            Err(Unready::Broken(end, error))
        }
        _ => Err(Unready::Broken(End::Threw, error)),
    }
}

/// Sends the request and waits for the head of the answer.
async fn answer(
    shared: &Arc<Shared>,
    request: &RunRequest,
    warm: &Arc<WarmWorker>,
    ongoing: Ongoing,
    http: Request<Body>,
) -> Result<Response<Body>, crate::Outcome> {
    let Some(prepared) = prepare(http, &ongoing) else {
        let error = crate::worker::error(
            "TypeError",
            "the request has no address that a val could see".into(),
        );
        return Err(ongoing.end(End::Threw, Some(error)));
    };
    match exchange(warm, &ongoing, prepared).await {
        Ok((mut response, connection)) => {
            if response.headers().contains_key(&warm.worker.failure_header) {
                return Err(failure(shared, warm, ongoing, response, connection).await);
            }
            strip_hop_by_hop(response.headers_mut());
            let mut ongoing = ongoing;
            ongoing.headed();
            let key = request.program.key.clone();
            let body = AnswerBody::new(
                response.body().is_end_stream(),
                warm.clone(),
                key,
                ongoing,
                connection,
            );
            Ok(response.map(|incoming| body.over(incoming)))
        }
        Err(Trouble::Stopped(doom)) => Err(stopped(shared, &request.program.key, warm, ongoing, doom)),
        Err(Trouble::Broken(cause)) => {
            let (end, error) = why_broken(warm.clone(), shared.clone(), cause).await;
            Err(ongoing.end(end, Some(error)))
        }
    }
}

enum Trouble {
    /// The run must end.
    Stopped(Doom),
    /// The connection broke off.
    Broken(String),
}

/// The answer's head, with the connection on which its body comes.
async fn exchange(
    warm: &WarmWorker,
    ongoing: &Ongoing,
    mut request: Request<Body>,
) -> Result<(Response<Incoming>, Connection), Trouble> {
    loop {
        let (mut connection, kept) = match warm.connection() {
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
        let driver = &mut connection.driver;
        let answered = std::future::poll_fn(|context| {
            if let Some(doom) = ongoing.run.must_stop(context.waker()) {
                return Poll::Ready(Err(doom));
            }
            // What it ends with is told by the answer that does not come.
            let _ = driver.as_mut().poll(context);
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
        driver: Box::pin(driver),
    })
}

impl Connection {
    /// Waits until it takes a request; `false` if it never will.
    async fn is_ready(&mut self) -> bool {
        std::future::poll_fn(|context| {
            if self.driver.as_mut().poll(context).is_ready() {
                return Poll::Ready(false);
            }
            self.sender.poll_ready(context).map(|ready| ready.is_ok())
        })
        .await
    }
}

/// The request as the val gets it: the public address, no headers that are between two hops, the run's id.
fn prepare(mut request: Request<Body>, ongoing: &Ongoing) -> Option<Request<Body>> {
    strip_hop_by_hop(request.headers_mut());
    if request.uri().authority().is_none() || request.uri().scheme().is_none() {
        let host = request.headers().get(header::HOST)?.to_str().ok()?;
        let mut parts = uri::Parts::default();
        parts.scheme = Some(request.uri().scheme().cloned().unwrap_or(uri::Scheme::HTTP));
        parts.authority = Some(
            request
                .uri()
                .authority()
                .cloned()
                .map_or_else(|| host.parse().ok(), Some)?,
        );
        parts.path_and_query = Some(
            request
                .uri()
                .path_and_query()
                .cloned()
                .unwrap_or_else(|| uri::PathAndQuery::from_static("/")),
        );
        *request.uri_mut() = Uri::from_parts(parts).ok()?;
    }
    if !request.headers().contains_key(header::HOST) {
        let authority = HeaderValue::try_from(request.uri().authority()?.as_str()).ok()?;
        request.headers_mut().insert(header::HOST, authority);
    }
    let mut buffer = uuid::Uuid::encode_buffer();
    let id = ongoing.run.id.0.as_hyphenated().encode_lower(&mut buffer);
    request
        .headers_mut()
        .insert(RUN_ID_HEADER, HeaderValue::from_str(id).ok()?);
    *request.version_mut() = Version::HTTP_11;
    Some(request)
}

/// Takes away what concerns one connection only.
fn strip_hop_by_hop(headers: &mut HeaderMap) {
    if let Some(connection) = headers.remove(header::CONNECTION) {
        for name in connection.to_str().unwrap_or_default().split(',') {
            if let Ok(name) = HeaderName::try_from(name.trim()) {
                headers.remove(name);
            }
        }
    }
    for name in [
        HeaderName::from_static("keep-alive"),
        HeaderName::from_static("proxy-connection"),
        header::PROXY_AUTHENTICATE,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
    ] {
        headers.remove(name);
    }
}

/// The handler failed: what it threw is the body of the worker's answer.
async fn failure(
    shared: &Arc<Shared>,
    warm: &Arc<WarmWorker>,
    ongoing: Ongoing,
    response: Response<Incoming>,
    mut connection: Connection,
) -> crate::Outcome {
    let most = usize::try_from(shared.config.limits.value_kb * 1000 * 16 + 4096).unwrap_or(usize::MAX);
    let mut body = std::pin::pin!(Limited::new(response.into_body(), most).collect());
    let collected = std::future::poll_fn(|context| {
        if let Some(doom) = ongoing.run.must_stop(context.waker()) {
            return Poll::Ready(Err(doom));
        }
        let first = body.as_mut().poll(context);
        if first.is_ready() {
            return first.map(Ok);
        }
        let _ = connection.driver.as_mut().poll(context);
        body.as_mut().poll(context).map(Ok)
    })
    .await;
    let bytes = match collected {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => Bytes::new(),
        Err(doom) => {
            let (end, error) = doom.verdict(&shared.config.limits);
            return ongoing.end(end, Some(error));
        }
    };
    let thrown = serde_json::from_slice::<Thrown>(&bytes).map(Thrown::into_error);
    let error = thrown.unwrap_or_else(|_| crate::worker::error("Error", "the val failed".into()));
    let error = warm.modules.clean_error(error);
    if !connection.sender.is_closed() {
        warm.keep(connection);
    }
    ongoing.end(End::Threw, Some(error))
}

/// The run met a limit or was cancelled: it ends now, and its worker as soon as the others on it have ended.
fn stopped(
    shared: &Arc<Shared>,
    key: &crate::ProgramKey,
    warm: &Arc<WarmWorker>,
    ongoing: Ongoing,
    doom: Doom,
) -> crate::Outcome {
    if doom != Doom::Cancelled {
        shared.warm.condemn(key, warm);
    }
    let (end, error) = doom.verdict(&shared.config.limits);
    ongoing.end(end, Some(error))
}

/// Whether the worker died, and of what, or only broke off this answer.
async fn why_broken(
    warm: Arc<WarmWorker>,
    shared: Arc<Shared>,
    cause: String,
) -> (End, hamlet_models::RunError) {
    match tokio::time::timeout(DEATH_SHOWS, warm.worker.exited()).await {
        Ok(exit) => exit.verdict(&shared.config.limits),
        Err(_) => (
            End::Threw,
            crate::worker::error("Error", format!("the answer broke off: {cause}")),
        ),
    }
}

/// The body of a val's answer. Reading it drives the connection; its end is the run's end.
struct AnswerBody {
    incoming: Option<Incoming>,
    warm: Arc<WarmWorker>,
    key: crate::ProgramKey,
    /// Until the run has ended.
    going: Option<(Ongoing, Connection)>,
    driven_out: bool,
    breaking: Option<Pin<Box<dyn Future<Output = (End, hamlet_models::RunError)> + Send>>>,
}

impl AnswerBody {
    fn new(
        empty: bool,
        warm: Arc<WarmWorker>,
        key: crate::ProgramKey,
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

    fn over(mut self, incoming: Incoming) -> Body {
        self.incoming = Some(incoming);
        self.boxed_unsync()
    }

    /// All of it has come.
    fn complete(&mut self) {
        if let Some((ongoing, connection)) = self.going.take() {
            if !self.driven_out && !connection.sender.is_closed() {
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
                this.driven_out = connection.driver.as_mut().poll(context).is_ready();
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
