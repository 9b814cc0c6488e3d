//! `hamlet serve`: starts the parts in order, and ends them in the reverse one.

use std::{
    io::IsTerminal,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use anyhow::Context;
use axum::{ServiceExt, body::Body, extract::Request, response::IntoResponse, serve::ListenerExt};
use clap::Args;
use futures_util::{FutureExt, future::BoxFuture};
use hamlet_runtime::{ApiChannel, Body as RuntimeBody, Runtime, RuntimeConfig};
use hamlet_store::{Store, StoreRole};
use http_body_util::BodyExt;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use tracing_subscriber::EnvFilter;

use super::print;
use crate::{
    App,
    auth::RunTokens,
    config::{Config, LogFormat, Settings},
    error::ApiError,
    first_start,
    recorder::{Recorder, Retention},
    run_service::RunService,
    state::AppState,
};

/// How long requests and runs under way may go on when the server ends.
const GRACE: Duration = Duration::from_secs(20);

/// Runs the server until it is told to end.
#[derive(Args)]
pub(super) struct Serve {
    /// File of settings, named like the flags with _ for - [default: ./hamlet.toml if there is one]
    #[arg(long, env = "HAMLET_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

impl Serve {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let config = Config::try_from(self.settings.over_file(self.config.as_deref())?)?;
        write_log_as(config.log_format);
        let store = Store::open(&config.store(StoreRole::Server)).await?;
        let listener = TcpListener::bind(config.listen)
            .await
            .with_context(|| format!("can't listen on {}: is another server there?", config.listen))?;
        let config = Arc::new(config.listening_on(listener.local_addr()?));

        let channel = Arc::new(OwnInterface::default());
        let runtime = Runtime::start(runtime_config(&config), Some(channel.clone())).await?;
        let recorder = Recorder::start(store.clone(), retention(&config)).await?;
        let run_tokens = RunTokens::new();
        let runs = RunService::new(config.clone(), store.clone(), recorder.clone(), run_tokens.clone(), Some(runtime.clone()));
        let app = App::new(AppState::new(config.clone(), store.clone(), runs, run_tokens)?);
        channel.set(app.clone());
        first_start::make_owner(&store).await?;

        let url = config.own_url();
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            listen = %config.listen,
            deno.version = runtime.deno_version(),
            data_dir = %config.data_dir.display(),
            "ready"
        );
        print(format_args!("Hamlet is ready at {url}"))?;
        // Never a line of the log: whoever has the link is the owner.
        if let Some(path) = first_start::sign_in_path(&store).await? {
            print(format_args!("Sign in within 24 hours with this link, which works once: {url}{path}"))?;
            print(format_args!("A password, set in the settings, ends these links."))?;
        }
        answer_until_told_to_end(listener, app).await?;

        runtime.shutdown(GRACE).await;
        recorder.shutdown().await;
        store.close().await?;
        tracing::info!("ended");
        Ok(())
    }
}

/// The log goes to standard error; `HAMLET_LOG` says how much of it, as `debug` or `hamlet_server=debug`.
fn write_log_as(format: LogFormat) {
    let usual = || EnvFilter::new("info,sqlx=warn,sea_orm=warn,sea_orm_migration=warn");
    let filter = EnvFilter::try_from_env("HAMLET_LOG").unwrap_or_else(|_| usual());
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.with_target(false).with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}

/// Answers requests until a signal comes, and those under way for a while after it.
async fn answer_until_told_to_end(listener: TcpListener, app: App) -> anyhow::Result<()> {
    let (end, mut ended) = watch::channel(false);
    let signals = async move {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("ending: no new work is taken");
        end.send_replace(true);
        std::io::Result::Ok(())
    };
    let mut stop = ended.clone();
    let listener = listener.tap_io(|stream| {
        // Answers are written whole: waiting to fill a packet only delays them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
    });
    let make = ServiceExt::<Request>::into_make_service_with_connect_info::<SocketAddr>(app);
    let serving = axum::serve(listener, make).with_graceful_shutdown(async move {
        // An error means that the sender is gone, which is an end too.
        let _ = stop.wait_for(|ended| *ended).await;
    });
    tokio::spawn(async move {
        if let Err(error) = signals.await {
            tracing::error!(%error, "can't wait for signals");
        }
    });
    let limit = async move {
        let _ = ended.wait_for(|ended| *ended).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = serving.into_future() => served?,
        () = limit => tracing::warn!("some requests did not end in time: their connections are cut"),
    }
    Ok(())
}

fn runtime_config(config: &Config) -> RuntimeConfig {
    RuntimeConfig {
        deno: config.deno.clone(),
        work_dir: config.data_dir.join("work"),
        cache_dir: config.data_dir.join("cache"),
        api_url: config.own_url(),
        limits: config.limits,
        blank_workers: config.blank_workers,
        warm_workers: None,
        module_hosts: vec![config.own_url()],
    }
}

fn retention(config: &Config) -> Retention {
    Retention {
        value_bytes: usize::try_from(config.limits.value_kb * 1_000).unwrap_or(usize::MAX),
        age: Duration::from_secs(config.keep_runs_days * 24 * 60 * 60),
        bytes: config.keep_runs_mb * 1_000_000,
    }
}

/// The interface as vals reach it. The runtime has it before there is an interface to reach: no val runs before that.
#[derive(Default)]
struct OwnInterface(OnceLock<App>);

impl OwnInterface {
    fn set(&self, app: App) {
        // It is set once: there is one call.
        let _ = self.0.set(app);
    }
}

impl ApiChannel for OwnInterface {
    fn call(&self, request: axum::http::Request<RuntimeBody>) -> BoxFuture<'static, axum::http::Response<RuntimeBody>> {
        let app = self.0.get().cloned();
        async move {
            let response = match app {
                Some(app) => app.answer(request.map(Body::new)).await,
                None => ApiError::Unavailable("the server is starting").into_response(),
            };
            response.map(|body| body.map_err(Into::into).boxed_unsync())
        }
        .boxed()
    }
}
