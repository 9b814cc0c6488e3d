//! The command line.

mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A val host that you run yourself.
#[derive(Parser)]
#[command(name = "hamlet", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the server until it is told to end
    Serve(serve::Serve),
}

/// Does what the arguments say.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| {
            runtime.block_on(async {
                match cli.command {
                    Command::Serve(serve) => serve.run().await,
                }
            })
        });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hamlet: {error:#}");
            ExitCode::FAILURE
        }
    }
}
