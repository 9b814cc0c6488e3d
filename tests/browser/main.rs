//! Browser tests: components against made-up values, pages against a server that is made up too.

#![cfg(target_arch = "wasm32")]

mod fixtures;
mod harness;
mod server;

mod ui;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
