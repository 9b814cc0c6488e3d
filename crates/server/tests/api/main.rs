//! The interface through the real router over a real store, without a port; and the command line.

#[path = "../../../runtime/tests/runtime/deno.rs"]
mod deno;
mod own_network;
mod registry;
mod s3;
mod test_app;

mod access;
mod aliases;
mod conventions;
mod sessions;

mod me;
mod secrets;
mod tokens;
mod users;
mod vals;
mod versions;

mod eval;
mod packages;
mod recorder;
mod replays;
mod run;
mod run_tokens;
mod runs;
mod schedules;

mod cors;
mod failed_visits;
mod fallback;
mod gateway;
mod imports;
mod modules;
mod standard_library;
mod streams;
mod visits;
mod web_sockets;

mod blob;
mod email;
mod incoming_email;
mod sqlite;
mod sqlite_limits;

mod instance;
mod openapi;

mod command_line;
mod listen;

mod floods;
mod jsr;
mod rebinding;
mod remote_modules;
