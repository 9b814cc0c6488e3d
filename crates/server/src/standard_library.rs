//! The standard library: modules that every val may import as `https://esm.town/v/std/…`. They speak to this instance
//! through the interface that everyone uses.

use std::sync::{Arc, LazyLock};

use hamlet_models::ValKind;
use hamlet_runtime::{Program, ProgramKey};

use crate::present::Links;

/// The name in whose place a username would stand; nobody can have it.
pub const OWNER: &str = "std";

macro_rules! modules {
    ($($name:literal),*) => {
        /// The modules: name and code.
        const MODULES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../std/", $name, ".ts")))),*];
    };
}

modules!("blob", "client", "email", "fetch", "rpc", "set", "sqlite");

static CODES: LazyLock<Vec<(&'static str, Arc<str>)>> =
    LazyLock::new(|| MODULES.iter().map(|&(name, code)| (name, code.into())).collect());

/// The code of the module of this name, in any case.
pub fn code(name: &str) -> Option<Arc<str>> {
    let found = CODES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Some(found.1.clone())
}

/// The module of this name as it is run.
pub(crate) fn program(links: &Links, name: &str) -> Option<Program> {
    let code = code(name)?;
    Some(Program {
        key: ProgramKey::Code(code.clone()),
        url: links.to(&format!("/v/{OWNER}/{}", name.to_ascii_lowercase())),
        code,
        kind: ValKind::Script,
    })
}
