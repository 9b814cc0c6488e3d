//! What callers may rely on, on SQLite always and on PostgreSQL where its programs are installed.
//!
//! `both!(name)` makes two tests of a function that takes a [`TestStore`](harness::TestStore).

#[macro_use]
mod harness;
mod postgres;

mod users;

mod sessions;
mod tokens;

mod vals;
mod versions;

mod runs;

mod account_database;
mod blobs;
mod locks;
mod mail;
mod schedules;
mod secrets;

mod concurrency;
mod crash;
mod crash_ticks;
mod opening;
