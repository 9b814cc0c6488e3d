//! The instance's own interface, as vals reach it: through a socket of their worker, not through the network.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::combinators::UnsyncBoxBody;

use crate::BoxError;

/// The body of requests and responses that pass through the runtime.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Answers the requests that vals make to the instance's own address.
pub trait ApiChannel: Send + Sync {
    /// Answers one request; it carries whatever token the val sent, and no rights of its own.
    fn call(&self, request: http::Request<Body>) -> BoxFuture<'static, http::Response<Body>>;
}
