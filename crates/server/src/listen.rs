//! Takes connections and answers what comes on them, until told to end.

use std::{convert::Infallible, net::SocketAddr, pin::pin, time::Duration};

use axum::extract::ConnectInfo;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::App;

/// A client has this long to send the head of its next request: who says nothing holds no connection.
const HEAD_WITHIN: Duration = Duration::from_secs(60);
/// How long to wait when no connection can be taken, as when too many files are open.
const BREATH: Duration = Duration::from_millis(100);

/// Answers requests until `end` turns true; then takes no more, and gives those under way `grace` to end.
pub async fn listen(listener: TcpListener, app: App, mut end: watch::Receiver<bool>, grace: Duration) {
    let connections = TaskTracker::new();
    let mut told = end.clone();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = turned(&mut told) => break,
        };
        match accepted {
            Ok((stream, address)) => {
                connections.spawn(serve(stream, address, app.clone(), end.clone()));
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

/// Answers what comes on one connection.
async fn serve(stream: TcpStream, address: SocketAddr, app: App, mut end: watch::Receiver<bool>) {
    // Answers are written whole: waiting to fill a packet only delays them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "no TCP_NODELAY");
    }
    let service = service_fn(|mut request: axum::http::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        let answer = app.clone().call(request);
        async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
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
