//! One request to an HTTP val: its place, its worker, and its answer.

use std::{future::Future, sync::Arc, task::Poll, time::Duration};

use bytes::Bytes;
use hamlet_models::RunError;
use http::{Request, Response, StatusCode};
use http_body::Body as HttpBody;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;

use super::{
    answer_body::AnswerBody,
    connection::{Connection, Trouble, exchange},
    headers::{prepare, strip_hop_by_hop},
    ongoing::Ongoing,
    start::Unready,
    warm::{Found, WarmWorker},
    web_socket::{self, WebSocketClient},
};
use crate::{
    Body, End, Fetched, Outcome, ProgramKey, RunRequest, RuntimeError,
    shared::Shared,
    worker::{Doom, Thrown, error},
};

/// So often a request is given to a new worker because the one it was to have is gone.
const TRIES: usize = 3;
/// How long it may take until a worker that broke off is known to be dead.
const DEATH_SHOWS: Duration = Duration::from_millis(250);

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
            ongoing.end(End::Lost, Some(error("LostError", cause.to_string())));
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
    // The last of them may be about to die as those before it did: how it does is what the run has to say.
    if let Some(warm) = checked
        && let Ok(exit) = tokio::time::timeout(DEATH_SHOWS, warm.worker.exited()).await
    {
        let (end, error) = exit.verdict(&shared.config.limits);
        return Err(Unready::Broken(end, error));
    }
    let gone = error(
        "ProcessEnded",
        "the val's process ended as soon as it had started".into(),
    );
    Err(Unready::Broken(End::Threw, gone))
}

/// Sends the request and waits for the head of the answer.
async fn answer(
    shared: &Arc<Shared>,
    request: &RunRequest,
    warm: &Arc<WarmWorker>,
    ongoing: Ongoing,
    mut http: Request<Body>,
) -> Result<Response<Body>, Outcome> {
    let client = http.extensions_mut().remove::<WebSocketClient>();
    let Some(prepared) = prepare(http, ongoing.run.id, client.is_some()) else {
        let refused = error(
            "TypeError",
            "the request has no address that a val could see".into(),
        );
        return Err(ongoing.end(End::Threw, Some(refused)));
    };
    match exchange(warm, &ongoing, prepared, client.is_some()).await {
        Ok((mut response, connection)) => {
            if response.headers().contains_key(&warm.worker.failure_header) {
                return Err(failure(shared, warm, ongoing, response, connection).await);
            }
            strip_hop_by_hop(response.headers_mut());
            let mut ongoing = ongoing;
            ongoing.headed();
            if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                let key = &request.program.key;
                return match client {
                    Some(client) => Ok(web_socket::open(
                        shared, key, warm, ongoing, response, connection, client,
                    )),
                    None => Err(ongoing.end(End::Threw, Some(unasked()))),
                };
            }
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

fn unasked() -> RunError {
    let message = "the val answered 101 to a request that asked for no web socket";
    error("TypeError", message.to_owned())
}

/// The handler failed: what it threw is the body of the worker's answer.
async fn failure(
    shared: &Arc<Shared>,
    warm: &Arc<WarmWorker>,
    ongoing: Ongoing,
    response: Response<Incoming>,
    mut connection: Connection,
) -> Outcome {
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
        let _ = connection.drive(context);
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
    let thrown = thrown.unwrap_or_else(|_| error("Error", "the val failed".into()));
    let thrown = warm.modules.clean_error(thrown);
    if !connection.is_closed() {
        warm.keep(connection);
    }
    ongoing.end(End::Threw, Some(thrown))
}

/// The run met a limit or was cancelled: it ends now, and its worker as soon as the others on it have ended.
pub(super) fn stopped(
    shared: &Arc<Shared>,
    key: &ProgramKey,
    warm: &Arc<WarmWorker>,
    ongoing: Ongoing,
    doom: Doom,
) -> Outcome {
    if doom != Doom::Cancelled {
        shared.warm.condemn(key, warm);
    }
    let (end, error) = doom.verdict(&shared.config.limits);
    ongoing.end(end, Some(error))
}

/// Whether the worker died, and of what, or only broke off this answer.
pub(super) async fn why_broken(warm: Arc<WarmWorker>, shared: Arc<Shared>, cause: String) -> (End, RunError) {
    match tokio::time::timeout(DEATH_SHOWS, warm.worker.exited()).await {
        Ok(exit) => exit.verdict(&shared.config.limits),
        Err(_) => (
            End::Threw,
            error("Error", format!("the answer broke off: {cause}")),
        ),
    }
}
