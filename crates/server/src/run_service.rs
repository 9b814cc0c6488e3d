//! The one place where vals are run: by whom, with what environment, and how it is recorded.

mod environment;
mod hold;
mod imports;
mod modules;
mod page_request;

pub use page_request::kept_request;

use std::{sync::Arc, time::Duration};

use axum::http;
use hamlet_models::{
    Author, Limits, RunError, RunId, RunPhases, RunStatus, SecretName, Timestamp, Trigger, Truncated, UserId,
    ValId, ValKind,
};
use hamlet_runtime::{
    Body, Input, Outcome, Place, Program, ProgramKey, RunEvents, RunRequest, Runtime, RuntimeError,
};
use hamlet_store::{RunRecord, SecretRecord, Store, ValRecord};
use moka::sync::Cache;
use serde_json::Value;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::{
    auth::RunTokens,
    clock,
    config::Config,
    error::{ApiError, ApiResult},
    present::Links,
    recorder::{Given, GivenRequest, RecordedRun, Recorder, cut, without_tokens},
    sealing::Sealing,
};
use environment::{Environment, Environments};
use hold::Hold;
use modules::AuthorModules;

/// For how many HTTP vals what their workers are started with is kept at hand.
const WARM_VALS: u64 = 10_000;

/// No account has this id.
const NOBODY: UserId = UserId(Uuid::nil());

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

/// What every request to one version of an HTTP val is run with.
struct WarmVal {
    val: Arc<ValRecord>,
    /// The environment that goes with this is in force until then.
    expires: Timestamp,
    program: Program,
    secrets: Arc<Vec<SecretRecord>>,
    environment: Environment,
    modules: Arc<AuthorModules>,
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

/// What a request to an HTTP val came to.
pub struct Answered {
    /// The run as it is recorded.
    pub run: Arc<RecordedRun>,
    /// The val's response, or why there is none.
    pub response: Result<http::Response<Body>, Box<Outcome>>,
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
        self.inner.keep_args(&mut record, &input);
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

    /// Sends a visitor's request to an HTTP val; its address is the public one, absolute.
    pub async fn fetch(&self, val: &Arc<ValRecord>, request: http::Request<Body>) -> ApiResult<Answered> {
        let runtime = self.inner.runtime()?;
        let warm = self.inner.warm_val(val).await?;
        let record = request_record(val, Trigger::Http, &request);
        let (given, request) = GivenRequest::note(request, self.most_value_bytes());
        let run = self.inner.recorder.begin(record, Given::Request(given)).await?;
        self.fetch_as(&runtime, &warm, run.clone(), run, request).await
    }

    async fn fetch_as(
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

    /// What the worker of this version of a val is started with: the same for every request, so that it stays warm.
    async fn warm_val(&self, val: &Arc<ValRecord>) -> ApiResult<Arc<WarmVal>> {
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

    fn keep_args(&self, record: &mut RunRecord, input: &Input) {
        let args = match input {
            Input::Script { args: Some(args) } => args,
            Input::Eval { args } if !args.is_empty() => args,
            Input::Script { args: None } | Input::Eval { .. } | Input::Interval { .. } | Input::Email(_) => {
                return;
            }
        };
        let most = usize::try_from(self.limits.value_kb.saturating_mul(1_000)).unwrap_or(usize::MAX);
        let mut text = Value::Array(args.clone()).to_string();
        if text.len() > most {
            text.truncate(cut(&text, most).len());
            record.truncated.args = true;
        }
        record.args = Some(text);
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

/// Notes that a run did not come to be, and answers why.
fn refused(run: &RecordedRun, error: RuntimeError) -> ApiError {
    let said = match &error {
        RuntimeError::OverCapacity { .. } => run_error("OverCapacityError", &error.to_string()),
        RuntimeError::ShuttingDown => run_error("UnavailableError", "the server was ending"),
        RuntimeError::Deno(_) | RuntimeError::Sandbox(_) | RuntimeError::Modules(_) | RuntimeError::Io(_) => {
            run_error(
                "InternalError",
                "something went wrong on the server's side; its log has the cause",
            )
        }
    };
    run.give_up(RunStatus::Error, said);
    error.into()
}

fn run_error(name: &str, message: &str) -> RunError {
    RunError {
        name: name.to_owned(),
        message: message.to_owned(),
        stack: String::new(),
    }
}

fn val_record(val: &ValRecord, call: &Call) -> RunRecord {
    RunRecord {
        val_id: Some(val.id),
        val_name: Some(val.name.clone()),
        version: Some(val.version),
        ..new_record(val.owner.clone(), call)
    }
}

fn request_record<B>(val: &ValRecord, trigger: Trigger, request: &http::Request<B>) -> RunRecord {
    // An HTTP val takes no other input than the request.
    let call = Call {
        trigger,
        parent_id: None,
        replay_of: None,
        input: Input::Script { args: None },
    };
    let request = hamlet_models::RunRequest {
        method: request.method().as_str().to_owned(),
        url: without_tokens(request.uri().to_string()),
        status: None,
    };
    RunRecord {
        request: Some(request),
        ..val_record(val, &call)
    }
}

/// In whose place an evaluation stands that is nobody's.
fn nobody() -> Author {
    Author {
        id: NOBODY,
        username: "nobody".parse().expect("a username"),
    }
}

/// Names a run that begins.
pub(crate) fn new_run_id() -> RunId {
    RunId(Uuid::now_v7())
}

fn new_record(owner: Author, call: &Call) -> RunRecord {
    RunRecord {
        id: new_run_id(),
        val_id: None,
        owner,
        val_name: None,
        version: None,
        parent_id: call.parent_id,
        replay_of: call.replay_of,
        status: RunStatus::Queued,
        trigger: call.trigger,
        started_at: clock::now(),
        ended_at: None,
        duration_ms: None,
        cpu_ms: None,
        memory_bytes: None,
        error: None,
        request: None,
        args: None,
        return_value: None,
        response: None,
        truncated: Truncated::default(),
        phases: RunPhases::default(),
    }
}

/// How long a run may take in all, waiting for a place and ending included.
pub(crate) fn longest_run(limits: &Limits) -> Duration {
    Duration::from_secs(limits.wall_seconds.saturating_add(60))
}
