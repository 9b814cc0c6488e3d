//! The command line.

mod doctor;
mod serve;
mod store_args;
mod token;
mod user;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hamlet_runtime::{COMPILE, LAUNCH, launch, serve_compiler};

use crate::{
    account_databases::{SERVE_ACCOUNT, TRY_ACCOUNT, serve_account, try_account},
    mail::{READ_MAIL, read_mail},
};

/// A val host that you run yourself.
#[derive(Parser)]
#[command(name = "hamlet", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server until it is told to end
    Serve(Box<serve::Serve>),
    /// Try what keeps vals and SQL in on this machine, and say what holds
    Doctor(Box<doctor::Doctor>),
    /// Make accounts
    #[command(subcommand)]
    User(user::UserCommand),
    /// Make, list and revoke API tokens
    #[command(subcommand)]
    Token(token::TokenCommand),
}

/// Does what the arguments say.
pub fn main() -> ExitCode {
    // Not among the commands: the server starts itself so to become a worker, to compile, to read mail, or to serve
    // an account's database or try its lock, which must cost next to nothing and begin with one thread.
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(first) if first == LAUNCH => return launch(arguments),
        Some(first) if first == SERVE_ACCOUNT => return serve_account(arguments),
        Some(first) if first == TRY_ACCOUNT => return try_account(arguments),
        Some(first) if first == COMPILE => return serve_compiler(arguments),
        Some(first) if first == READ_MAIL => return read_mail(arguments),
        _ => {}
    }
    let cli = Cli::parse();
    let done = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(run(cli.command)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hamlet: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Serve(serve) => serve.run().await,
        Command::Doctor(doctor) => doctor.run().await,
        Command::User(command) => command.run().await,
        Command::Token(command) => command.run().await,
    }
}

/// Prints a line for the person or program that waits for it.
fn print(line: std::fmt::Arguments<'_>) -> anyhow::Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
