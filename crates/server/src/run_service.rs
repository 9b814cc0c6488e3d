//! The one place where vals are run: by whom, with what environment, and how it is recorded.

mod page_request;
mod requests;

mod environment;
mod hold;
mod imports;
mod modules;
mod records;

pub use page_request::kept_request;
pub(crate) use records::new_run_id;
pub use requests::Answered;

use std::{sync::Arc, time::Duration};

use hamlet_models::{Author, Limits, RunId, RunStatus, SecretName, Trigger, UserId, ValId, ValKind};
use hamlet_runtime::{Input, Outcome, Place, Program, ProgramKey, RunRequest, Runtime};
use hamlet_store::{RunRecord, Store, ValRecord};
use moka::sync::Cache;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::{
    auth::RunTokens,
    config::Config,
    error::{ApiError, ApiResult},
    present::Links,
    recorder::{Given, RecordedRun, Recorder},
    sealing::Sealing,
};
use environment::Environments;
use hold::Hold;
use modules::AuthorModules;
use records::{keep_args, new_record, nobody, refused, run_error, val_record};
use requests::WarmVal;

/// For how many HTTP vals what their workers are started with is kept at hand.
const WARM_VALS: u64 = 10_000;

/// Starts vals and records their runs; a cheap handle.
#[derive(Clone)]
pub struct RunService {
    inner: Arc<Inner>,
}

struct Inner {
    limits: Limits,
    links: Links,
    store: Store,
    recorder: Recorder,
    environments: Environments,
    runtime: Option<Runtime>,
    warm: Cache<ValId, Arc<WarmVal>>,
}

/// Who starts a run, and with what.
pub struct Call {
    /// What starts it.
    pub trigger: Trigger,
    /// The run that asked for it, if one did.
    pub parent_id: Option<RunId>,
    /// The run whose input this is, if it was given before.
    pub replay_of: Option<RunId>,
    /// What the val is given.
    pub input: Input,
}

/// A run that was started and goes on, whoever waits for it.
pub struct Started {
    /// The run as it is recorded.
    pub run: Arc<RecordedRun>,
    outcome: JoinHandle<ApiResult<Outcome>>,
}

/// A run that is recorded and has not begun; given up if it is dropped before [`RunService::launch_in`].
pub struct Prepared {
    run: Arc<RecordedRun>,
    start: Option<(Runtime, RunRequest, Input)>,
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if self.start.is_some() {
            let error = run_error("CancelledError", "it was not begun after all");
            self.run.give_up(RunStatus::Cancelled, error);
        }
    }
}

impl Started {
    /// Waits for the run's end.
    pub async fn outcome(self) -> ApiResult<Outcome> {
        self.outcome
            .await
            .map_err(anyhow::Error::from)
            .map_err(ApiError::Internal)?
    }
}

impl RunService {
    /// The service over these parts; without a runtime it refuses to run anything.
    pub fn new(
        config: Arc<Config>,
        store: Store,
        recorder: Recorder,
        run_tokens: RunTokens,
        sealing: Sealing,
        runtime: Option<Runtime>,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                limits: config.limits,
                environments: Environments::new(&config, run_tokens, sealing),
                links: Links::of_config(config),
                store,
                recorder,
                runtime,
                warm: Cache::new(WARM_VALS),
            }),
        }
    }

    /// The version of Deno that vals run on, if there is a runtime.
    pub fn deno_version(&self) -> Option<&str> {
        self.inner.runtime.as_ref().map(Runtime::deno_version)
    }

    /// Where runs are recorded.
    pub fn recorder(&self) -> &Recorder {
        &self.inner.recorder
    }

    /// How much of a value is kept, in bytes.
    pub fn most_value_bytes(&self) -> usize {
        usize::try_from(self.inner.limits.value_kb.saturating_mul(1_000)).unwrap_or(usize::MAX)
    }

    /// A secret's value as it is kept: what opens it again is here alone.
    pub fn seal_secret(&self, owner: UserId, name: &SecretName, value: &str) -> anyhow::Result<Vec<u8>> {
        self.inner.environments.seal(owner, name, value)
    }

    /// Starts a val of a kind other than HTTP. It runs to its end, also if nobody waits for it; a scheduled val's ticks
    /// wait for that, unless they may overlap, but it does not wait for the run of a tick.
    pub async fn start(&self, val: &Arc<ValRecord>, call: Call) -> ApiResult<Started> {
        let id = new_run_id();
        if val.kind != ValKind::Interval {
            return Ok(self.launch(self.prepare(id, val, call).await?));
        }
        let hold = Hold::take(&self.inner.store, &self.inner.limits, val.id, id).await?;
        let prepared = match self.prepare(id, val, call).await {
            Ok(prepared) => prepared,
            Err(error) => {
                hold.release().await;
                return Err(error);
            }
        };
        let Started { run, outcome } = self.launch(prepared);
        let outcome = tokio::spawn(async move {
            let outcome = outcome.await;
            hold.release().await;
            outcome.map_err(anyhow::Error::from).map_err(ApiError::Internal)?
        });
        Ok(Started { run, outcome })
    }

    /// Records a run of such a val, and does all that comes before the val's code but for that.
    pub async fn prepare(&self, id: RunId, val: &Arc<ValRecord>, call: Call) -> ApiResult<Prepared> {
        let program = self.inner.program(val);
        let record = RunRecord {
            id,
            ..val_record(val, &call)
        };
        self.prepare_program(program, Some(val), record, call.input).await
    }

    /// A place for a run of this user, if there is one now.
    pub fn try_place(&self, user: UserId) -> Option<Place> {
        self.inner.runtime.as_ref()?.try_place(user.0)
    }

    /// A place for a run of this user, as soon as there is one; refused if that takes too long.
    pub async fn place(&self, user: UserId) -> ApiResult<Place> {
        Ok(self.inner.runtime()?.place(user.0).await?)
    }

    /// Begins a run that was prepared, in a place that its user was given before. It runs to its end, also if nobody
    /// waits for it.
    pub fn launch_in(&self, place: Place, prepared: Prepared) -> Started {
        self.begin(prepared, Some(place))
    }

    /// Begins a run that was prepared, once there is a place for it.
    fn launch(&self, prepared: Prepared) -> Started {
        self.begin(prepared, None)
    }

    fn begin(&self, mut prepared: Prepared, place: Option<Place>) -> Started {
        let run = prepared.run.clone();
        let (runtime, request, input) = prepared.start.take().expect("it is taken here alone");
        let recorded = run.clone();
        let outcome = tokio::spawn(async move {
            let outcome = match place {
                Some(place) => runtime.run_in(place, request, input).await,
                None => runtime.run(request, input).await,
            };
            outcome.map_err(|error| refused(&recorded, error))
        });
        Started { run, outcome }
    }

    /// Starts an evaluation for this user, or for nobody: that one has no secrets, no token, and no one to see its run.
    pub async fn start_eval(
        &self,
        user: Option<Author>,
        code: String,
        args: Vec<Value>,
        parent_id: Option<RunId>,
    ) -> ApiResult<Started> {
        let code: Arc<str> = code.into();
        let program = Program {
            key: ProgramKey::Code(code.clone()),
            url: self.inner.links.to("/v1/eval"),
            code,
            kind: ValKind::Script,
        };
        let call = Call {
            trigger: Trigger::Eval,
            parent_id,
            replay_of: None,
            input: Input::Eval { args },
        };
        let record = new_record(user.unwrap_or_else(nobody), &call);
        let prepared = self.prepare_program(program, None, record, call.input).await?;
        Ok(self.launch(prepared))
    }

    async fn prepare_program(
        &self,
        program: Program,
        val: Option<&ValRecord>,
        mut record: RunRecord,
        input: Input,
    ) -> ApiResult<Prepared> {
        let runtime = self.inner.runtime()?;
        keep_args(&mut record, &input, self.most_value_bytes());
        let (id, owner) = (record.id, record.owner.id);
        let secrets = self.inner.store.list_secrets(owner).await?;
        let environment = self
            .inner
            .environments
            .of_run(owner, val, id, &secrets)
            .map_err(ApiError::Internal)?;
        let run = self.inner.recorder.begin(record, Given::of(&input)).await?;
        let request = RunRequest {
            id,
            group: owner.0,
            program,
            environment,
            modules: Arc::new(AuthorModules::new(
                self.inner.store.clone(),
                self.inner.links.clone(),
                owner,
            )),
            events: run.clone(),
        };
        Ok(Prepared {
            run,
            start: Some((runtime, request, input)),
        })
    }

    /// Ends a run that goes on; `false` if it doesn't.
    pub fn cancel(&self, id: RunId) -> bool {
        self.inner
            .runtime
            .as_ref()
            .is_some_and(|runtime| runtime.cancel(id))
    }
}

impl Inner {
    fn runtime(&self) -> ApiResult<Runtime> {
        self.runtime
            .clone()
            .ok_or(ApiError::Unavailable("this server runs no vals"))
    }

    fn program(&self, val: &ValRecord) -> Program {
        modules::program(&self.links, val)
    }
}

/// How long a run may take in all, waiting for a place and ending included.
pub(crate) fn longest_run(limits: &Limits) -> Duration {
    Duration::from_secs(limits.wall_seconds.saturating_add(60))
}
