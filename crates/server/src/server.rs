//! The parts of a running server: started in order, ended in the reverse one.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    body::Body,
    http::{Request, Response},
    response::IntoResponse,
};
use futures_util::future::BoxFuture;
use hamlet_runtime::{ApiChannel, Body as RuntimeBody, Compilers, Finding, Runtime, RuntimeConfig};
use hamlet_store::Store;
use http_body_util::BodyExt;
use tempfile::TempDir;

use crate::{
    App,
    account_databases::AccountDatabases,
    auth::RunTokens,
    config::Config,
    error::ApiError,
    mail::{Courier, Mailer, Postman},
    recorder::{Recorder, Retention},
    run_service::RunService,
    scheduler::Scheduler,
    sealing::Sealing,
    state::AppState,
};

/// The largest value of a call or an evaluation that is answered, in kilobytes; larger ones are for HTTP vals.
pub(crate) const ANSWER_KB: u64 = 5_000;

/// A running server, but for the port that it listens on.
pub struct Server {
    /// Answers requests.
    pub app: App,
    /// What its handlers reach.
    pub state: AppState,
    /// Runs scheduled vals; looks for none before it is started.
    pub scheduler: Scheduler,
    /// Runs e-mail vals; looks for no message before it is started.
    pub postman: Postman,
    /// Sends mail that waits for the relay; looks for none before it is started.
    pub courier: Courier,
    recorder: Recorder,
    runtime: Option<Runtime>,
    /// Deleted when the server is dropped.
    _work_folder: Option<TempDir>,
}

impl Server {
    /// Starts everything over this store.
    pub async fn start(config: Arc<Config>, store: Store) -> anyhow::Result<Self> {
        let own = Arc::new(OwnInterface::default());
        let data_dir = std::path::absolute(&config.data_dir)?;
        let (work_dir, work_folder) = work_dir(&data_dir)?;
        let runtime = runtime_config(&config, work_dir, data_dir.join("cache"));
        let runtime = Runtime::start(runtime, Some(own.clone())).await?;
        let mut server = Self::over(config, store, Some(runtime)).await?;
        server._work_folder = work_folder;
        // It is set once: there is one call.
        let _ = own.0.set(server.app.clone());
        Ok(server)
    }

    /// Starts everything but what runs vals: those routes answer that they are unavailable.
    pub async fn start_without_runtime(config: Arc<Config>, store: Store) -> anyhow::Result<Self> {
        Self::over(config, store, None).await
    }

    async fn over(config: Arc<Config>, store: Store, runtime: Option<Runtime>) -> anyhow::Result<Self> {
        let recorder = Recorder::start(store.clone(), retention(&config)).await?;
        let run_tokens = RunTokens::new();
        let runs = RunService::new(
            config.clone(),
            store.clone(),
            recorder.clone(),
            run_tokens.clone(),
            Sealing::with_key_file(&config.secret_key_file)?,
            runtime.clone(),
        );
        sweep(store.clone());
        let mailer = Mailer::new(&config, store.clone())?;
        let courier = Courier::new(mailer.clone());
        let alone = config.database_url.is_none();
        let scheduler = Scheduler::new(store.clone(), runs.clone(), &config.limits, alone);
        let postman = Postman::new(&config, store.clone(), runs.clone());
        let databases = AccountDatabases::new(
            config.launcher.clone(),
            std::path::absolute(&config.data_dir)?.join("sqlite"),
            config.sql,
            config.require_sandbox,
        );
        let compilers = runtime.as_ref().map_or_else(
            || Compilers::new(config.launcher.clone(), config.require_sandbox),
            |runtime| runtime.compilers().clone(),
        );
        let state = AppState::new(config, store, mailer, runs, run_tokens, databases, compilers);
        Ok(Self {
            app: App::new(state.clone()),
            state,
            scheduler,
            postman,
            courier,
            recorder,
            runtime,
            _work_folder: None,
        })
    }

    /// Which layers of the system's lock hold around workers, as found at the start.
    pub fn sandbox(&self) -> &[Finding] {
        self.runtime.as_ref().map_or(&[], Runtime::sandbox)
    }

    /// Lets runs end for as long as `grace`, keeps what they left, and closes the store.
    pub async fn shutdown(self, grace: Duration) -> anyhow::Result<()> {
        self.postman.stop();
        self.scheduler.stop().await;
        let runs = async {
            if let Some(runtime) = &self.runtime {
                runtime.shutdown(grace).await;
            }
        };
        tokio::join!(runs, self.courier.stop(grace));
        self.scheduler.ended().await;
        self.postman.ended().await;
        self.recorder.shutdown().await;
        self.state.databases.close().await;
        Ok(self.state.store.close().await?)
    }
}

/// What the runtime is told of the settings.
pub(crate) fn runtime_config(config: &Config, work_dir: PathBuf, cache_dir: PathBuf) -> RuntimeConfig {
    RuntimeConfig {
        deno: config.deno.clone(),
        launcher: config.launcher.clone(),
        require_sandbox: config.require_sandbox,
        work_dir,
        cache_dir,
        api_url: config.own_url(),
        limits: config.limits,
        answer_kb: ANSWER_KB,
        blank_workers: config.blank_workers,
        warm_workers: None,
        module_hosts: module_hosts(config),
        other_module_hosts: config.base_url.is_none(),
        module_fallback: config.module_fallback.clone(),
    }
}

/// Where workers have their sockets and scratch files: in the data folder, unless its path is longer than the system
/// lets a socket's be.
fn work_dir(data_dir: &Path) -> io::Result<(PathBuf, Option<TempDir>)> {
    const LONGEST: usize = 60;
    let usual = data_dir.join("work");
    if usual.as_os_str().len() < LONGEST {
        return Ok((usual, None));
    }
    let folder = tempfile::Builder::new().prefix("hamlet-").tempdir()?;
    Ok((folder.path().to_owned(), Some(folder)))
}

/// The origins that mean this instance in an import: its own, and the names that this machine has for itself. Where its
/// public address was not chosen there may be more, as links then lead to whatever host a client has asked: no list is
/// kept of those, which anyone could add to by a forged `Host`. Nothing is ever fetched from such a host in a val's place.
fn module_hosts(config: &Config) -> Vec<String> {
    let port = config.listen.port();
    let names = ["localhost", "127.0.0.1"].map(|name| format!("http://{name}:{port}"));
    let listens = format!("http://{}", config.listen);
    [config.own_url(), listens].into_iter().chain(names).collect()
}

/// Deletes in the background what a crash left of blobs.
fn sweep(store: Store) {
    tokio::spawn(async move {
        match store.sweep_blobs().await {
            Ok(0) => {}
            Ok(files) => tracing::info!(files, "deleted what was left of blobs that were never finished"),
            Err(error) => tracing::warn!(%error, "what is left of unfinished blobs could not be deleted"),
        }
    });
}

fn retention(config: &Config) -> Retention {
    Retention {
        age: Duration::from_secs(config.keep_runs_days * 24 * 60 * 60),
        bytes: config.keep_runs_mb * 1_000_000,
        value_bytes: usize::try_from(config.limits.value_kb * 1_000).unwrap_or(usize::MAX),
    }
}

/// The interface as vals reach it. The runtime has it before there is one to reach: no val runs before that.
#[derive(Default)]
struct OwnInterface(OnceLock<App>);

impl ApiChannel for OwnInterface {
    fn call(&self, request: Request<RuntimeBody>) -> BoxFuture<'static, Response<RuntimeBody>> {
        let app = self.0.get().cloned();
        Box::pin(async move {
            let response = match app {
                Some(app) => app.answer(request.map(Body::new)).await,
                None => ApiError::Unavailable("the server is starting").into_response(),
            };
            response.map(|body| body.map_err(Into::into).boxed_unsync())
        })
    }
}
