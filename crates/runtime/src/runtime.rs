//! The handle that the rest of Hamlet holds.

use std::{sync::Arc, time::Duration};

use hamlet_models::RunId;

use crate::{ApiChannel, Body, Input, Outcome, RunRequest, RuntimeConfig, RuntimeError};

/// Runs vals. A cheap handle: clones share everything.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<RuntimeConfig>,
}

/// The answer to a request.
pub struct Fetched {
    /// The val's response; its body is streamed, and the run ends when the body has been read or dropped. The error is
    /// the outcome of a run that gave no response.
    pub response: Result<http::Response<Body>, Box<Outcome>>,
}

/// How many workers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Started and empty.
    pub blank: usize,
    /// With a run of a script, an evaluation, a schedule or an e-mail, or finishing what such a run left.
    pub busy: usize,
    /// Holding an HTTP val.
    pub warm: usize,
}

impl Runtime {
    /// Checks Deno, empties the work folder and starts the first blank workers.
    pub async fn start(
        config: RuntimeConfig,
        api: Option<Arc<dyn ApiChannel>>,
    ) -> Result<Self, RuntimeError> {
        let _ = api;
        Ok(Self {
            inner: Arc::new(config),
        })
    }

    /// The version of Deno that vals run on, as `2.9.6`.
    pub fn deno_version(&self) -> &str {
        let _ = &self.inner;
        ""
    }

    /// Scripts, functions, evaluations, scheduled and e-mail handlers: one fresh evaluation.
    pub async fn run(&self, request: RunRequest, input: Input) -> Result<Outcome, RuntimeError> {
        let _ = (request, input);
        Err(RuntimeError::ShuttingDown)
    }

    /// One request to an HTTP val: its warm worker, or a new one. The request's address is the public one, absolute.
    pub async fn fetch(
        &self,
        request: RunRequest,
        http: http::Request<Body>,
    ) -> Result<Fetched, RuntimeError> {
        let _ = (request, http);
        Err(RuntimeError::ShuttingDown)
    }

    /// Ends a run that goes on or waits; `false` if there is none of that id.
    pub fn cancel(&self, id: RunId) -> bool {
        let _ = id;
        false
    }

    /// Takes no new runs, lets those that go on end for as long as `grace`, then kills what is left. No worker
    /// outlives it.
    pub async fn shutdown(&self, grace: Duration) {
        let _ = grace;
    }

    /// How many workers there are now.
    pub fn stats(&self) -> Stats {
        Stats::default()
    }
}
