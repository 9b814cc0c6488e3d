//! Measures Hamlet beside its peers and limits, in one run on one machine, and prints medians and ratios.
//!
//! Every comparison takes turns (A B C, A B C, …), so that a machine whose speed drifts slows all of them alike;
//! the ratio of each round is formed first and the median of the ratios is what counts. Nothing here is a test:
//! a figure that falls short is printed as such and the exit code stays 0.

mod api;
mod load;
mod peers;
mod pressure;
mod process;
mod report;
mod runtime;
mod web;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Measures Hamlet beside its peers and limits.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

/// What the measurements need to know.
#[derive(clap::Args, Clone)]
struct Options {
    /// The release binary to measure.
    #[arg(long, global = true, default_value = "target/release/hamlet")]
    hamlet: PathBuf,
    /// The Deno that runs vals.
    #[arg(long, global = true, env = "HAMLET_DENO", default_value = "deno")]
    deno: PathBuf,
    /// PocketBase, to compare with; without it those rows are left out.
    #[arg(long, global = true)]
    pocketbase: Option<PathBuf>,
    /// A folder with npm's @valtown/deno-http-worker installed; without it those rows are left out.
    #[arg(long, global = true)]
    deno_http_worker: Option<PathBuf>,
    /// Lighthouse's command line, to audit the app; without it those rows are left out.
    #[arg(long, global = true)]
    lighthouse: Option<PathBuf>,
    /// How many turns each comparison takes.
    #[arg(long, global = true, default_value_t = 5)]
    rounds: usize,
    /// How long a turn lasts, in seconds.
    #[arg(long, global = true, default_value_t = 2.0)]
    seconds: f64,
}

#[derive(Subcommand)]
enum Command {
    /// The `/v1` interface beside a bare handler and PocketBase.
    Api,
    /// Runs beside `deno run` and a bare proxy.
    Runtime,
    /// Many vals at once: cold runs, warm workers, logs.
    Pressure,
    /// The web app's size and audit.
    Web,
    /// A peer's process; used by the measurements themselves.
    #[command(hide = true)]
    Peer(peers::Peer),
}

#[tokio::main]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    match cli.command {
        Some(Command::Peer(peer)) => peers::serve(peer).await,
        Some(Command::Api) => api::measure(&cli.options).await,
        Some(Command::Runtime) => runtime::measure(&cli.options).await,
        Some(Command::Pressure) => pressure::measure(&cli.options).await,
        Some(Command::Web) => web::measure(&cli.options).await,
        None => {
            api::measure(&cli.options).await?;
            runtime::measure(&cli.options).await?;
            pressure::measure(&cli.options).await?;
            web::measure(&cli.options).await
        }
    }
}
