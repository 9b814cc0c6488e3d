//! Browser tests: components against made-up values, pages against a server that is made up too.

#![cfg(target_arch = "wasm32")]

mod fixtures;
mod harness;
mod server;

mod failures;
mod frame;
mod home;
mod login;
mod outbox;
mod settings;
mod ui;
mod user;

mod code;
mod new_page;
mod outcome;
mod val_page;

mod logs;
mod run_parts;
mod run_picture;

mod run;
mod runs;
mod versions;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
