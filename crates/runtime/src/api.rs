//! The instance's own interface, as vals reach it: through a socket of their worker, not through the network.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Uri, header::HOST, uri::PathAndQuery};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{net::UnixListener, task::JoinSet};

use crate::BoxError;

/// The body of requests and responses that pass through the runtime.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Answers the requests that vals make to the instance's own address.
pub trait ApiChannel: Send + Sync {
    /// Answers one request; it carries whatever token the val sent, and no rights of its own.
    fn call(&self, request: http::Request<Body>) -> BoxFuture<'static, http::Response<Body>>;
}

/// Connections of one worker that are served at once; others wait.
const CONNECTIONS: usize = 64;

/// Serves one worker's socket until it is aborted, and its connections with it; `authority` is the instance's own.
pub(crate) async fn serve(listener: UnixListener, api: Arc<dyn ApiChannel>, authority: HeaderValue) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < CONNECTIONS => {
                let Ok((stream, _)) = accepted else { return };
                let (api, authority) = (api.clone(), authority.clone());
                let service = service_fn(move |request: http::Request<Incoming>| {
                    let answer = api.call(as_to_instance(request, &authority));
                    async { Ok::<_, Infallible>(answer.await) }
                });
                connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// The request as it would have come over the network.
fn as_to_instance(request: http::Request<Incoming>, authority: &HeaderValue) -> http::Request<Body> {
    let mut request = request.map(|body| body.map_err(BoxError::from).boxed_unsync());
    let path = request
        .uri()
        .path_and_query()
        .cloned()
        .unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    request.headers_mut().insert(HOST, authority.clone());
    request
}
