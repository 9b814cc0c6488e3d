//! From a val's code to what Deno runs: types and JSX become JavaScript, imports of vals become files beside it, and a
//! source map leads every stack back to the val's own lines.

mod compilers;
mod readdress;
mod rewrite;
mod serve;
mod specifier;
mod translate;
mod words;

use std::sync::{Arc, OnceLock};

use base64::{Engine, prelude::BASE64_STANDARD};
use hamlet_models::RunError;
use moka::future::Cache;
use oxc_sourcemap::SourceMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::{
    compilers::Compilers,
    serve::{COMPILE, serve_compiler},
};
use self::{compilers::told_of, words::Ask};
pub(crate) use self::{
    rewrite::{ValImport, import_mark, module_file},
    specifier::{Hosts, PUBLIC_ORIGIN, Package, RemoteImport, Specifier, read_specifier},
    translate::strip_types,
};
use crate::{GaveUp, Program, ProgramKey};

/// How many bytes of code and compiled code are kept for the next run.
const CACHE_BYTES: u64 = 64 << 20;
/// What the source map comes after.
const MAP_START: &str = "\n//# sourceMappingURL=";

/// A program as Deno takes it, but for the files of the vals that it imports.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Compiled {
    /// JavaScript with [`import_mark`]s and an inline source map.
    pub(crate) code: String,
    /// The vals that it imports, in the order of their marks.
    pub(crate) imports: Vec<ValImport>,
    /// Where each import stands: line and column from 1.
    pub(crate) positions: Vec<(usize, usize)>,
    /// The vals that it names where it imports at run time.
    pub(crate) foreseen: Vec<ValImport>,
    /// What it imports from elsewhere, each once and in order.
    pub(crate) remote: Vec<RemoteImport>,
    /// Whether it names a module of node's that reaches for the network.
    pub(crate) uses_node_network: bool,
    /// The source map, once a stack was led back.
    #[serde(skip)]
    map: OnceLock<Option<SourceMap<'static>>>,
}

impl Compiled {
    /// The vals that it names where it imports.
    pub(crate) fn vals(&self) -> impl Iterator<Item = &ValImport> {
        self.imports.iter().chain(&self.foreseen)
    }

    /// The place in the val's code that a place in the compiled code came from; all from 1.
    pub(crate) fn original(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let map = self.map.get_or_init(|| read_map(&self.code)).as_ref()?;
        let table = map.generate_lookup_table();
        let token = map.lookup_token(&table, line.checked_sub(1)?, column.checked_sub(1)?)?;
        Some((token.get_src_line() + 1, token.get_src_col() + 1))
    }
}

/// The source map at the end of compiled code.
fn read_map(code: &str) -> Option<SourceMap<'static>> {
    let (_, address) = code.rsplit_once(MAP_START)?;
    let (_, map) = address.trim_end().split_once("base64,")?;
    let map = BASE64_STANDARD.decode(map).ok()?;
    let map = SourceMap::from_json_string(str::from_utf8(&map).ok()?).ok()?;
    Some(map.into_owned())
}

/// Whether the code is a module, or may be an expression too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Form {
    /// A module.
    Module,
    /// An expression, whose value becomes the default export, else a module.
    Eval,
}

/// What is compiled, under which address, and as what.
type CacheKey = (ProgramKey, String, Form);
/// The compiled program, or the error that its code has.
type Made = Result<Arc<Compiled>, Arc<RunError>>;

/// Has programs compiled and keeps what was made.
#[derive(Clone)]
pub(crate) struct Compiler {
    cache: Cache<CacheKey, Made>,
    hosts: Arc<Hosts>,
    compilers: Compilers,
}

impl Compiler {
    pub(crate) fn new(hosts: Hosts, compilers: Compilers) -> Self {
        let cache = Cache::builder()
            .max_capacity(CACHE_BYTES)
            .weigher(|(_, url, _): &CacheKey, made: &Made| {
                let size = made.as_ref().map_or(0, |compiled| compiled.code.len() * 3);
                u32::try_from(size + url.len() + 512).unwrap_or(u32::MAX)
            })
            .build();
        Self {
            cache,
            hosts: Arc::new(hosts),
            compilers,
        }
    }

    /// Where vals of this instance are.
    pub(crate) fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// What compiles.
    pub(crate) fn compilers(&self) -> &Compilers {
        &self.compilers
    }

    /// The compiled program, or the error that its code has; `group` is who has it compiled.
    pub(crate) async fn compile(&self, group: Uuid, program: &Program, form: Form) -> Made {
        let key = (program.key.clone(), program.url.clone(), form);
        if let Some(made) = self.cache.get(&key).await {
            return made;
        }
        let make = async {
            let ask = Ask::Module {
                code: &*program.code,
                url: &program.url,
                hosts: Hosts::clone(&self.hosts),
                form,
            };
            match self.compilers.ask(group, &ask).await {
                Ok(made) => Ok(made.map(Arc::new).map_err(Arc::new)),
                // It takes too much at every try.
                Err(why @ GaveUp::TooMuch) => Ok(Err(Arc::new(told_of(&why, &program.url)))),
                Err(why) => Err(told_of(&why, &program.url)),
            }
        };
        let made = self.cache.try_get_with(key, make).await;
        made.unwrap_or_else(Err)
    }
}

fn syntax_error(url: &str, line: usize, column: usize, message: &str) -> RunError {
    thrown_at("SyntaxError", message, url, line, column)
}

/// An error as if it had been thrown at a place of a val.
pub(crate) fn thrown_at(name: &str, message: &str, url: &str, line: usize, column: usize) -> RunError {
    RunError {
        name: name.to_owned(),
        message: message.to_owned(),
        stack: format!("{name}: {message}\n    at {url}:{line}:{column}"),
    }
}

#[cfg(test)]
mod tests;
