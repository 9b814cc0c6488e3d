//! The web app: every page of Hamlet, over the `/v1` interface and nothing else.
//!
//! `app` has every route, `paths` every address. Pages fetch through `api`; `components` show plain values; `ui` holds
//! primitives that know nothing of Hamlet; `hooks` are the small tools that pages share.

// The router's types nest one level a route.
#![recursion_limit = "256"]

pub mod app;
pub mod paths;

pub mod api;
pub mod components;
pub mod hooks;
pub mod pages;
pub mod ui;

#[cfg(test)]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
