//! Takes connections and answers what comes on them, until told to end.

mod answered;
mod seats;

use std::{convert::Infallible, net::SocketAddr, pin::pin, time::Duration};

use axum::extract::ConnectInfo;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use nix::sys::resource::{Resource, getrlimit};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::task::TaskTracker;
use tower::Service;

pub(crate) use self::seats::place_of;
use self::{
    answered::Answered,
    seats::{Admission, Seats},
};
use crate::App;

/// A client has this long to send the head of its next request: who says nothing holds no connection.
const HEAD_WITHIN: Duration = Duration::from_secs(60);
/// How long to wait when no connection can be taken, as when too many files are open.
const BREATH: Duration = Duration::from_millis(100);

/// Answers requests until `end` turns true; then takes no more, and gives those under way `grace` to end.
pub async fn listen(listener: TcpListener, app: App, mut end: watch::Receiver<bool>, grace: Duration) {
    let connections = TaskTracker::new();
    let seats = Seats::for_files(open_files());
    let mut told = end.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = turned(&mut told) => break,
        };
        match accepted {
            // Where there is no seat, the connection is closed at once.
            Ok((stream, address)) => {
                if let Some(admission) = seats.admit(address.ip()) {
                    connections.spawn(serve(stream, address, admission, app.clone(), end.clone()));
                }
            }
            // The other end went away before it was taken: nothing is wrong on ours.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                tracing::error!(%error, "can't take connections");
                sleep(BREATH).await;
            }
        }
    }
    drop(listener);
    turned(&mut end).await;
    connections.close();
    if timeout(grace, connections.wait()).await.is_err() {
        tracing::warn!(
            connections = connections.len(),
            "some requests did not end in time: they are cut off"
        );
    }
}

/// How many files this process may have open at once.
fn open_files() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(soft, _)| soft)
}

/// Answers what comes on one connection.
async fn serve(
    stream: TcpStream,
    address: SocketAddr,
    admission: Admission,
    app: App,
    mut end: watch::Receiver<bool>,
) {
    // Answers are written whole: waiting to fill a packet only delays them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "no TCP_NODELAY");
    }
    let service = service_fn(|mut request: axum::http::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        let underway = admission.begin();
        let answer = app.clone().call(request);
        async move {
            let response = answer.await.unwrap_or_else(|never| match never {});
            Ok::<_, Infallible>(response.map(|body| Answered::new(body, underway)))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    let mut connection = pin!(
        http.serve_connection(TokioIo::new(stream), service)
            .with_upgrades()
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = turned(&mut end) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
        () = admission.has_to_leave() => return,
    };
    // The other end broke off, or sent what is no HTTP: its fault, and its to notice.
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Returns once the flag is true. A sender that is gone can't say so any more, which is an end too.
async fn turned(flag: &mut watch::Receiver<bool>) {
    let _ = flag.wait_for(|flag| *flag).await;
}
