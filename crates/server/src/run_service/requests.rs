//! Requests to HTTP vals: each a run, with what its val's worker is started with.

use std::sync::Arc;

use axum::http;
use hamlet_models::{RunStatus, Timestamp, Trigger};
use hamlet_runtime::{Body, Outcome, Program, RunEvents, RunRequest, Runtime};
use hamlet_store::{SecretRecord, ValRecord};

use super::{
    Inner, RunService,
    environment::Environment,
    modules::AuthorModules,
    records::{refused, request_record, run_error},
};
use crate::{
    clock,
    error::{ApiError, ApiResult},
    recorder::{Given, GivenRequest, RecordedRun},
};

/// What every request to one version of an HTTP val is run with.
pub(super) struct WarmVal {
    val: Arc<ValRecord>,
    /// The environment that goes with this is in force until then.
    expires: Timestamp,
    program: Program,
    secrets: Arc<Vec<SecretRecord>>,
    environment: Environment,
    modules: Arc<AuthorModules>,
}

/// What a request to an HTTP val came to.
pub struct Answered {
    /// The run as it is recorded.
    pub run: Arc<RecordedRun>,
    /// The val's response, or why there is none.
    pub response: Result<http::Response<Body>, Box<Outcome>>,
}

impl RunService {
    /// Sends a visitor's request to an HTTP val; its address is the public one, absolute.
    pub async fn fetch(&self, val: &Arc<ValRecord>, request: http::Request<Body>) -> ApiResult<Answered> {
        let runtime = self.inner.runtime()?;
        let warm = self.inner.warm_val(val).await?;
        let record = request_record(val, Trigger::Http, &request);
        let (given, request) = GivenRequest::note(request, self.most_value_bytes());
        let run = self.inner.recorder.begin(record, Given::Request(given)).await?;
        self.fetch_as(&runtime, &warm, run.clone(), run, request).await
    }

    pub(super) async fn fetch_as(
        &self,
        runtime: &Runtime,
        warm: &WarmVal,
        run: Arc<RecordedRun>,
        events: Arc<dyn RunEvents>,
        request: http::Request<Body>,
    ) -> ApiResult<Answered> {
        let asked = RunRequest {
            id: run.id(),
            group: warm.val.owner.id.0,
            program: warm.program.clone(),
            environment: warm.environment.clone(),
            modules: warm.modules.clone(),
            events,
        };
        let abandoned = GiveUpIfLeft(Some(&run));
        let fetched = runtime.fetch(asked, request).await;
        abandoned.answered();
        match fetched {
            Ok(fetched) => Ok(Answered {
                run,
                response: fetched.response,
            }),
            Err(error) => Err(refused(&run, error)),
        }
    }
}

impl Inner {
    /// What the worker of this version of a val is started with: the same for every request, so that it stays warm.
    pub(super) async fn warm_val(&self, val: &Arc<ValRecord>) -> ApiResult<Arc<WarmVal>> {
        let secrets = self.store.list_secrets(val.owner.id).await?;
        let now = clock::now();
        if let Some(warm) = self.warm.get(&val.id)
            && Arc::ptr_eq(&warm.val, val)
            && Arc::ptr_eq(&warm.secrets, &secrets)
            && now < warm.expires
        {
            return Ok(warm);
        }
        let made = self.environments.of_worker(val, now, &secrets);
        let (environment, expires) = made.map_err(ApiError::Internal)?;
        let warm = Arc::new(WarmVal {
            val: val.clone(),
            expires,
            program: self.program(val),
            secrets,
            environment,
            modules: Arc::new(AuthorModules::new(
                self.store.clone(),
                self.links.clone(),
                val.owner.id,
            )),
        });
        self.warm.insert(val.id, warm.clone());
        Ok(warm)
    }
}

/// Ends the record of a request whose sender left before it got a place; from there on the runtime ends it.
struct GiveUpIfLeft<'a>(Option<&'a RecordedRun>);

impl GiveUpIfLeft<'_> {
    fn answered(mut self) {
        self.0 = None;
    }
}

impl Drop for GiveUpIfLeft<'_> {
    fn drop(&mut self) {
        if let Some(run) = self.0
            && run.record().status == RunStatus::Queued
        {
            run.give_up(
                RunStatus::Cancelled,
                run_error("CancelledError", "whoever asked did not wait for a place"),
            );
        }
    }
}
