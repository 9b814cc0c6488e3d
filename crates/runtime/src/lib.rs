//! Runs vals: supervises Deno worker processes.
//!
//! A val's code never runs in this process, and a val that breaks is an [`Outcome`], never an error. The crate knows
//! no users and no database: what a val may import comes from a [`ModuleSource`], what it prints goes to
//! [`RunEvents`], and the instance's own interface is an [`ApiChannel`].

mod config;
mod error;

mod outcome;
mod request;

mod runtime;

mod admission;
mod evaluate;
mod http_val;
mod live_run;
mod shared;

mod compile;
mod lock;
mod modules;
mod stock;

mod api;
mod monitor;
mod pool;
mod remove;
mod sandbox;
mod setup;
mod system;
mod worker;

pub use admission::{LONGEST_WAIT, Place};
pub use api::{ApiChannel, Body};
pub use compile::{COMPILE, Compilers, serve_compiler};
pub use config::RuntimeConfig;
pub use error::{BoxError, RuntimeError, Taken};
pub use http_val::WebSocketClient;
pub use lock::{ImportLock, Imports};
pub use modules::MOST_MODULES;
pub use outcome::{End, Outcome};
pub use request::{Input, ModuleSource, Program, ProgramKey, RunEvents, RunRequest, ValReference};
pub use runtime::{Fetched, Runtime, Stats};
pub use sandbox::{
    CheckUp, Enclosure, Finding, GaveUp, Helper, LAUNCH, Layer, Trial, allow_cpu, allow_memory, check_up,
    help, launch,
};
pub use worker::{FILES_MB, MOST_FILES};
