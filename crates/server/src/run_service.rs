//! Starts vals and records their runs.

use std::sync::Arc;

use hamlet_runtime::Runtime;
use hamlet_store::Store;

use crate::{auth::RunTokens, config::Config, recorder::Recorder};

/// Starts vals and records their runs; a cheap handle.
#[derive(Clone)]
pub struct RunService {
    runtime: Option<Runtime>,
}

impl RunService {
    /// The service over these parts; without a runtime it refuses to run anything.
    pub fn new(
        _config: Arc<Config>,
        _store: Store,
        _recorder: Recorder,
        _run_tokens: RunTokens,
        runtime: Option<Runtime>,
    ) -> Self {
        Self { runtime }
    }

    /// The version of Deno that vals run on, if there is a runtime.
    pub fn deno_version(&self) -> Option<&str> {
        self.runtime.as_ref().map(Runtime::deno_version)
    }
}
