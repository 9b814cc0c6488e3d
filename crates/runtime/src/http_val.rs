//! HTTP vals: a warm worker for each, shared by the requests that come while it lives.

mod fetch;
mod ongoing;

mod start;
mod warm;

mod answer_body;
mod connection;
mod headers;

mod frames;
mod web_socket;

pub(crate) use fetch::fetch;
pub(crate) use warm::WarmWorkers;
pub use web_socket::WebSocketClient;
