//! Every chore of the project: `cargo xtask <verb>`; alone it lists the verbs.

mod bench;
mod browser;
mod build;
mod dev;
mod fingerprint;
mod lint;
mod packages;
mod project;
mod run;
mod setup;
mod split;
mod test;
mod tools;

use std::{ffi::OsString, process::ExitCode};

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use crate::{project::Project, test::Suite};

/// Every chore of Hamlet.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Set up what is missing: wasm target, Trunk, wasm-bindgen, wasm-pack, npm packages, Deno, browser
    Setup,
    /// Build the web app in release: plain files in dist/, for any static host
    App,
    /// Build the web app and the server in release, and start the server
    Run {
        /// Handed on to `hamlet serve`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Build and serve a debug build, again at every save
    Dev {
        /// Handed on to `hamlet serve`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Run every test: units, store, API and runtime, then browser, then end to end
    Test {
        /// Only these
        suites: Vec<Suite>,
    },
    /// Check format, types and lints; warnings count
    Lint,
    /// Measure beside peers, and print ratios
    Bench {
        /// Handed on to the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// What CI runs: lint, then test
    Ci,
}

fn main() -> ExitCode {
    match dispatch(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(cli: Cli) -> Result<()> {
    let Some(verb) = cli.verb else {
        return Ok(Cli::command().print_help()?);
    };
    let mut project = Project::here()?;
    match verb {
        Verb::Setup => setup::everything(&mut project),
        Verb::App => {
            setup::for_building(&mut project)?;
            build::app(&project)
        }
        Verb::Run { arguments } => run::run(&mut project, &arguments),
        Verb::Dev { arguments } => dev::dev(&mut project, &arguments),
        Verb::Test { suites } => test::test(&mut project, &suites),
        Verb::Lint => lint::lint(&mut project),
        Verb::Bench { arguments } => bench::bench(&mut project, &arguments),
        Verb::Ci => {
            lint::lint(&mut project)?;
            test::test(&mut project, &[])
        }
    }
}
