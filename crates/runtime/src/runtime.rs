//! The handle that the rest of Hamlet holds.

use std::{sync::Arc, time::Duration};

use hamlet_models::RunId;
use uuid::Uuid;

use crate::{
    ApiChannel, Body, Finding, Imports, Input, ModuleSource, Outcome, Place, Program, RunRequest,
    RuntimeConfig, RuntimeError,
    compile::{Compilers, Form, RemoteImport, ValImport},
    evaluate, http_val,
    modules::{Found, look_up, no_such_val},
    monitor, sandbox, setup,
    shared::Shared,
    stock::Missing,
    system,
    worker::{Doom, Duty, Launch, Nursery},
};

/// How long workers that were killed may take to be gone.
const LAST_WAIT: Duration = Duration::from_secs(10);
/// What a warm worker is reckoned to take when their number is taken from the machine's memory, a quarter of which
/// they may have.
const WARM_WORKER_BYTES: u64 = 20 << 20;

/// Runs vals. A cheap handle: clones share everything.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

/// The answer to a request.
pub struct Fetched {
    /// The val's response; its body is streamed, and the run ends when the body has been read or dropped. One of status
    /// 101 is a web socket's, which the run goes on as long as. The error is the outcome of a run that gave no response.
    pub response: Result<http::Response<Body>, Box<Outcome>>,
}

/// How many workers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Started and empty.
    pub blank: usize,
    /// With a run of a script, an evaluation, a schedule or an e-mail, or finishing what such a run left.
    pub busy: usize,
    /// Holding an HTTP val, or finishing what one left.
    pub warm: usize,
}

impl Runtime {
    /// Checks Deno, empties the work folder and starts the first blank workers.
    pub async fn start(
        config: RuntimeConfig,
        api: Option<Arc<dyn ApiChannel>>,
    ) -> Result<Self, RuntimeError> {
        let deno = setup::check_deno(&config).await?;
        let bootstrap = setup::prepare(&config)?;
        let mut launch = Launch::new(&config, deno.program, bootstrap);
        let (findings, cgroups) = sandbox::examine(&config, &launch).await?;
        // What held now must hold for every worker; where a layer is missing, each takes what there is.
        launch.strict = findings
            .iter()
            .all(|finding| finding.holds || finding.layer.is_extra());
        system::raise_open_files();
        let limits = &config.limits;
        // A line of JSON may be six times as long as the text that it carries; twice if that is JSON itself, or half
        // as much again where it isn't ASCII.
        let longest_frame =
            (limits.log_kb + 4 * limits.value_kb) * 1000 * 6 + config.answer_kb * 1000 * 3 + (64 << 10);
        let authority = http::Uri::try_from(&config.api_url)
            .ok()
            .and_then(|uri| uri.into_parts().authority);
        let authority = authority.and_then(|authority| http::HeaderValue::try_from(authority.as_str()).ok());
        let nursery = Arc::new(Nursery::new(
            launch,
            cgroups,
            config.work_dir.clone(),
            usize::try_from(longest_frame).unwrap_or(usize::MAX),
            api.zip(authority),
        ));
        let warm_workers = config.warm_workers.unwrap_or_else(|| {
            let quarter = system::machine_bytes().unwrap_or(2 << 30) / 4;
            usize::try_from(quarter / WARM_WORKER_BYTES)
                .unwrap_or(usize::MAX)
                .clamp(16, 2000)
        });
        let shared = Arc::new(Shared::new(config, deno.version, findings, nursery, warm_workers));
        // A Deno that can't be used is found out now, and not by the first run.
        shared.pool.prove().await?;
        if shared.config.blank_workers > 0 {
            shared.compiler.compilers().make_ready();
        }
        tokio::spawn(monitor::watch(Arc::downgrade(&shared)));
        Ok(Self { shared })
    }

    /// The version of Deno that vals run on, as `2.9.6`.
    pub fn deno_version(&self) -> &str {
        &self.shared.deno_version
    }

    /// Which layers of the system's lock hold around workers here, as found at the start.
    pub fn sandbox(&self) -> &[Finding] {
        &self.shared.findings
    }

    pub(crate) fn launch(&self) -> &Launch {
        &self.shared.nursery.launch
    }

    /// Scripts, functions, evaluations, scheduled and e-mail handlers: one fresh evaluation. It goes on to its end even
    /// if whoever asked for it stops waiting; [`Runtime::cancel`] ends it.
    pub async fn run(&self, request: RunRequest, input: Input) -> Result<Outcome, RuntimeError> {
        self.spawn(request, input, None).await
    }

    /// As [`Runtime::run`], in a place that the run's group was given before.
    pub async fn run_in(
        &self,
        place: Place,
        request: RunRequest,
        input: Input,
    ) -> Result<Outcome, RuntimeError> {
        self.spawn(request, input, Some(place)).await
    }

    async fn spawn(
        &self,
        request: RunRequest,
        input: Input,
        place: Option<Place>,
    ) -> Result<Outcome, RuntimeError> {
        let run = tokio::spawn(evaluate::run(self.shared.clone(), request, input, place));
        run.await
            .unwrap_or_else(|cause| Err(RuntimeError::Io(std::io::Error::other(cause))))
    }

    /// A place for a run of this group, if there is one now.
    pub fn try_place(&self, group: Uuid) -> Option<Place> {
        self.shared.admission.try_admit(group)
    }

    /// A place for a run of this group, as soon as there is one; refused if that takes too long.
    pub async fn place(&self, group: Uuid) -> Result<Place, RuntimeError> {
        self.shared.admission.admit(group).await
    }

    /// One request to an HTTP val: its warm worker, or a new one. The request's address is the public one, absolute, as
    /// the val is to see it; the header `hamlet-run-id` is the runtime's. Dropping this or the answer's body before its
    /// end cancels the run, and the val's `request.signal` tells it so.
    pub async fn fetch(
        &self,
        request: RunRequest,
        http: http::Request<Body>,
    ) -> Result<Fetched, RuntimeError> {
        http_val::fetch(&self.shared, request, http).await
    }

    /// What compiles.
    pub fn compilers(&self) -> &Compilers {
        self.shared.compiler.compilers()
    }

    /// What a program imports; nothing if it is no code. `group` is who asks: of each, one is compiled at a time.
    pub async fn imports(
        &self,
        group: Uuid,
        program: &Program,
        source: &dyn ModuleSource,
    ) -> Result<Option<Imports>, RuntimeError> {
        let Ok(compiled) = self.shared.compiler.compile(group, program, Form::Module).await else {
            return Ok(None);
        };
        let (mut remote, mut missing) = (compiled.remote.clone(), Vec::new());
        let fallback = self.shared.config.module_fallback.as_deref();
        for ValImport {
            reference, specifier, ..
        } in compiled.vals()
        {
            let found = look_up(source, fallback, reference).await;
            match found.map_err(RuntimeError::Modules)? {
                Some(Found::Val(_)) => {}
                Some(Found::Elsewhere(address)) => remote.extend(RemoteImport::read(&address, None)),
                None => missing.push(not_had(specifier, &no_such_val(reference))),
            }
        }
        remote.sort();
        remote.dedup();
        missing.dedup();
        Ok(Some(Imports {
            program: program.key.clone(),
            known: self.shared.stock.knows(&remote),
            remote,
            missing,
        }))
    }

    /// Locks what a program imports from elsewhere to what there is now, if it isn't locked yet, and fetches it; nothing
    /// of it is run. Answers a sentence for each import that can't be had: the first run tries those again.
    pub async fn lock(
        &self,
        imports: &Imports,
        source: &dyn ModuleSource,
    ) -> Result<Vec<String>, RuntimeError> {
        let Imports { program, remote, .. } = imports;
        let stock = &self.shared.stock;
        let locked = stock.locked_at_leisure(source, program, remote).await;
        let locked = locked.map_err(RuntimeError::Modules)?;
        let sentence = |missing: &Missing| not_had(&missing.specifier, &missing.why);
        Ok(locked.missing.iter().map(sentence).collect())
    }

    /// Ends a run that goes on or waits; `false` if there is none of that id.
    pub fn cancel(&self, id: RunId) -> bool {
        let run = self.shared.find_run(id);
        if let Some(run) = &run {
            run.stop(Doom::Cancelled);
        }
        run.is_some()
    }

    /// Takes no new runs, lets those that go on end for as long as `grace`, then kills what is left. No worker
    /// outlives it.
    pub async fn shutdown(&self, grace: Duration) {
        let shared = &self.shared;
        shared.admission.close();
        shared.admission.drain(grace).await;
        shared.pool.close();
        shared.nursery.attendants.close();
        let gone = async {
            // A worker that was being started when the pool closed shows up a moment later.
            while !shared.nursery.attendants.is_empty() {
                shared
                    .nursery
                    .living()
                    .iter()
                    .for_each(|worker| worker.kill(Doom::Shutdown));
                let _ =
                    tokio::time::timeout(Duration::from_millis(100), shared.nursery.attendants.wait()).await;
            }
        };
        if tokio::time::timeout(LAST_WAIT, gone).await.is_err() {
            tracing::warn!("workers are still there after they were killed");
        }
    }

    /// How many workers there are now.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats {
            blank: self.shared.pool.ready(),
            ..Stats::default()
        };
        for worker in self.shared.nursery.living() {
            match worker.duty() {
                Duty::Blank => {}
                Duty::Evaluating => stats.busy += 1,
                Duty::Serving => stats.warm += 1,
            }
        }
        stats
    }
}

/// What a save warns of.
fn not_had(specifier: &str, why: &str) -> String {
    format!("{specifier:?} could not be had, and is tried again when the val runs: {why}")
}
