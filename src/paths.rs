//! The address of every page; no link is written anywhere else.
//!
//! Usernames, names of vals and ids are made of characters that an address takes as they are.

use hamlet_models::{RunId, VersionNumber};

/// The home page.
pub fn home() -> String {
    "/".to_owned()
}

/// The page to sign in, and where to go after it.
pub fn login(next: Option<&str>) -> String {
    match next {
        Some(next) => format!("/login?next={}", String::from(js_sys::encode_uri_component(next))),
        None => "/login".to_owned(),
    }
}

/// Profile, password, tokens, limits.
pub fn settings() -> String {
    "/settings".to_owned()
}

/// Mail that could not be sent.
pub fn outbox() -> String {
    "/outbox".to_owned()
}

/// The page to write a new val, empty or from one of the starters.
pub fn new_val(starter: Option<&str>) -> String {
    match starter {
        Some(starter) => format!("/new?starter={starter}"),
        None => "/new".to_owned(),
    }
}

/// A user and their vals.
pub fn user(username: &str) -> String {
    format!("/u/{username}")
}

/// A val: its code.
pub fn val(username: &str, val: &str) -> String {
    format!("/v/{username}/{val}")
}

/// A val's settings.
pub fn val_settings(username: &str, name: &str) -> String {
    format!("{}/settings", val(username, name))
}

/// A val's history.
pub fn versions(username: &str, name: &str) -> String {
    format!("{}/versions", val(username, name))
}

/// One version of a val.
pub fn version(username: &str, name: &str, number: VersionNumber) -> String {
    format!("{}/versions/{number}", val(username, name))
}

/// A val's runs.
pub fn runs(username: &str, name: &str) -> String {
    format!("{}/runs", val(username, name))
}

/// One run.
pub fn run(id: RunId) -> String {
    format!("/runs/{id}")
}

/// One run beside an earlier one.
pub fn run_beside(id: RunId, earlier: RunId) -> String {
    format!("/runs/{id}?beside={earlier}")
}
