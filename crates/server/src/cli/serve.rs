//! `hamlet serve`.

use std::{io::IsTerminal, path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use clap::Args;
use hamlet_runtime::Finding;
use hamlet_store::{Store, StoreRole};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use tracing_subscriber::EnvFilter;

use super::print;
use crate::{
    config::{Config, LogFormat, Settings},
    first_start,
    listen::listen,
    mail::MailListener,
    server::Server,
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
        let end = told_to_end()?;
        let store = Store::open(&config.store(StoreRole::Server)).await?;
        let listener = TcpListener::bind(config.listen)
            .await
            .with_context(|| format!("can't listen on {}: is another server there?", config.listen))?;
        let config = Arc::new(config.listening_on(listener.local_addr()?));

        let server = Server::start(config.clone(), store.clone()).await?;
        first_start::make_owner(&store).await?;
        server.scheduler.start();
        server.postman.start();
        server.courier.start();
        if let Some(mail) = MailListener::bind(&config.mail, store.clone())
            .await
            .with_context(|| format!("can't take mail on {}", config.mail.listen))?
        {
            tracing::info!(listen = %mail.address()?, domain = config.mail.domain, "takes mail");
            tokio::spawn(mail.serve(end.clone()));
        }

        let url = config.own_url();
        let sandbox = server.sandbox();
        for missing in sandbox.iter().filter(|finding| !finding.holds) {
            let (layer, why) = (missing.layer.name(), &missing.proof);
            if missing.layer.is_extra() {
                tracing::info!(layer, why, "a layer is missing that the others make up for");
            } else {
                tracing::warn!(layer, why, "vals are locked in less well here");
            }
        }
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            listen = %config.listen,
            deno.version = server.state.runs.deno_version(),
            sandbox = names(sandbox, true),
            sandbox.missing = names(sandbox, false),
            data_dir = %config.data_dir.display(),
            "ready"
        );
        print(format_args!("Hamlet is ready at {url}"))?;
        // Never a line of the log: whoever has the link is the owner.
        if let Some(path) = first_start::sign_in_path(&store).await? {
            print(format_args!(
                "Sign in within 24 hours with this link, which works once: {url}{path}"
            ))?;
            print(format_args!("A password, set in the settings, ends these links."))?;
        }
        listen(listener, server.app.clone(), end, GRACE).await;
        server.shutdown(GRACE).await?;
        tracing::info!("ended");
        Ok(())
    }
}

/// The layers of what keeps vals in that hold, or those that don't.
fn names(sandbox: &[Finding], holds: bool) -> String {
    let names: Vec<&str> = sandbox
        .iter()
        .filter(|finding| finding.holds == holds)
        .map(|finding| finding.layer.name())
        .collect();
    names.join(", ")
}

/// The log goes to standard error; `HAMLET_LOG` says how much of it, as `debug` or `hamlet_server=debug`.
fn write_log_as(format: LogFormat) {
    let usual = || EnvFilter::new("info,sqlx=warn,sea_orm=warn,sea_orm_migration=warn");
    let filter = EnvFilter::try_from_env("HAMLET_LOG").unwrap_or_else(|_| usual());
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log
            .with_target(false)
            .with_ansi(std::io::stderr().is_terminal())
            .init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}

/// Turns true when the process is told to end.
fn told_to_end() -> anyhow::Result<watch::Receiver<bool>> {
    let (end, ended) = watch::channel(false);
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("ending: no new work is taken");
        end.send_replace(true);
    });
    Ok(ended)
}
