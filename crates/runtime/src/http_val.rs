//! HTTP vals: a warm worker for each, shared by the requests that come while it lives.

mod exchange;
mod ongoing;
mod warm;

pub(crate) use exchange::fetch;
pub(crate) use warm::WarmWorkers;
