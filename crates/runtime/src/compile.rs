//! From a val's code to what Deno runs: types and JSX become JavaScript, imports of vals become files beside it, and a
//! source map leads every stack back to the val's own lines.

mod readdress;
mod rewrite;
mod specifier;

use std::{path::Path, sync::Arc};

use hamlet_models::RunError;
use moka::future::Cache;
use oxc_allocator::Allocator;
use oxc_ast::ast::{Program as Ast, Statement};
use oxc_ast_visit::VisitMut;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_sourcemap::{SourceMap, SourceMapParts, Token};
use oxc_span::{GetSpan, SourceType};
use oxc_transformer::{JsxRuntime, TransformOptions, Transformer};
use tokio::sync::Semaphore;

use crate::{Program, ProgramKey};
use readdress::Readdress;
use rewrite::Rewrite;
pub(crate) use rewrite::{ValImport, import_mark, module_file};
pub(crate) use specifier::{Hosts, PUBLIC_ORIGIN, Package, RemoteImport, Specifier, read_specifier};

/// Before an expression, so that it can be an export: a line of its own, which the source map takes away again.
const EXPRESSION_START: &str = "export default (\n";
const EXPRESSION_END: &str = "\n);\n";

/// How many bytes of code and compiled code are kept for the next run.
const CACHE_BYTES: u64 = 64 << 20;

/// A program as Deno takes it, but for the files of the vals that it imports.
#[derive(Debug)]
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
    map: SourceMap<'static>,
}

impl Compiled {
    /// The vals that it names where it imports.
    pub(crate) fn vals(&self) -> impl Iterator<Item = &ValImport> {
        self.imports.iter().chain(&self.foreseen)
    }

    /// The place in the val's code that a place in the compiled code came from; all from 1.
    pub(crate) fn original(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let table = self.map.generate_lookup_table();
        let token = self
            .map
            .lookup_token(&table, line.checked_sub(1)?, column.checked_sub(1)?)?;
        Some((token.get_src_line() + 1, token.get_src_col() + 1))
    }
}

/// Whether the code is a module, or may be an expression too.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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

/// Compiles programs and keeps what it made.
#[derive(Clone)]
pub(crate) struct Compiler {
    cache: Cache<CacheKey, Made>,
    hosts: Arc<Hosts>,
    /// As many at once as the machine has cores: more would only take more memory.
    turns: Arc<Semaphore>,
}

impl Compiler {
    pub(crate) fn new(hosts: Hosts) -> Self {
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
            turns: Arc::new(Semaphore::new(
                std::thread::available_parallelism().map_or(1, usize::from),
            )),
        }
    }

    /// Where vals of this instance are.
    pub(crate) fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// The compiled program, or the syntax error that it has.
    pub(crate) async fn compile(&self, program: &Program, form: Form) -> Made {
        let key = (program.key.clone(), program.url.clone(), form);
        if let Some(made) = self.cache.get(&key).await {
            return made;
        }
        let (code, url, hosts) = (program.code.clone(), program.url.clone(), self.hosts.clone());
        let turns = self.turns.clone();
        let make = async move {
            let _turn = turns.acquire().await;
            on_deep_stack(code, url, hosts, form).await
        };
        self.cache.get_with(key, make).await
    }
}

/// Stack that one byte of source may need, as deeply nested code does: parser and printer go down with it. The worst
/// that was found took 1 kB in a release build.
const STACK_PER_BYTE: usize = if cfg!(debug_assertions) { 24 << 10 } else { 2 << 10 };

async fn on_deep_stack(code: Arc<str>, url: String, hosts: Arc<Hosts>, form: Form) -> Made {
    let thread_url = url.clone();
    let made = deeply(code.len(), move || compile(&code, &thread_url, &hosts, form)).await;
    made.unwrap_or_else(|| Err(uncompiled(&url)))
        .map(Arc::new)
        .map_err(Arc::new)
}

/// Works on a thread whose stack is as deep as code of this length could be nested. The stack is address space until it
/// is used, and code that nests so deeply as to use it is an attempt to break the server.
async fn deeply<T: Send + 'static>(code_len: usize, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let stack = (4 << 20) + code_len * STACK_PER_BYTE;
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("compile".into())
        .stack_size(stack)
        .spawn(move || {
            // Whoever waited may have gone.
            let _ = sender.send(work());
        });
    match thread {
        Ok(_) => receiver.await.ok(),
        Err(_) => None,
    }
}

fn uncompiled(url: &str) -> RunError {
    syntax_error(url, 1, 1, "the code could not be compiled")
}

/// A val's code as JavaScript, for who takes no types: its imports of vals lead to this instance, which is at `origin`
/// for whoever asked, and the others stay as they are.
pub async fn javascript(code: Arc<str>, url: String, origin: String) -> Result<String, RunError> {
    static TURNS: Semaphore = Semaphore::const_new(2);
    let _turn = TURNS.acquire().await;
    let thread_url = url.clone();
    let made = deeply(code.len(), move || without_types(&code, &thread_url, &origin)).await;
    made.unwrap_or_else(|| Err(uncompiled(&url)))
}

/// Compiles one program.
pub(crate) fn compile(code: &str, url: &str, hosts: &Hosts, form: Form) -> Result<Compiled, RunError> {
    if form == Form::Eval
        && let Some(source) = as_expression(code)
    {
        return compile_source(&source, url, hosts, 1);
    }
    compile_source(code, url, hosts, 0)
}

/// The code as a module that exports its value, if it is one expression.
fn as_expression(code: &str) -> Option<String> {
    let source = format!("{EXPRESSION_START}{code}{EXPRESSION_END}");
    let allocator = Allocator::default();
    let (program, error) = parse(&allocator, &source);
    let [Statement::ExportDefaultDeclaration(export)] = program.body.as_slice() else {
        return None;
    };
    // `1), (2` would be one statement too, but not one pair of parentheses.
    let whole = export.declaration.span().end as usize == source.len() - ";\n".len();
    let single = matches!(
        &export.declaration,
        oxc_ast::ast::ExportDefaultDeclarationKind::ParenthesizedExpression(_)
    );
    (error.is_none() && whole && single).then_some(source)
}

/// A fault in the code: where it is in bytes, and what it is.
type Fault = (usize, String);

/// Parses as TypeScript, and with JSX where that fails; of two failures, the one that came further counts.
fn parse<'a>(allocator: &'a Allocator, source: &'a str) -> (Ast<'a>, Option<Fault>) {
    let attempt = |source_type: SourceType| {
        let parsed = Parser::new(allocator, source, source_type).parse();
        let fault = parsed.diagnostics.errors().next().map(fault_of);
        (parsed.program, fault)
    };
    let plain = attempt(SourceType::ts().with_module(true));
    let Some((plain_offset, _)) = &plain.1 else {
        return plain;
    };
    let plain_offset = *plain_offset;
    let jsx = attempt(SourceType::tsx().with_module(true));
    match &jsx.1 {
        Some((offset, _)) if *offset < plain_offset => plain,
        _ => jsx,
    }
}

fn fault_of(diagnostic: &oxc_diagnostics::OxcDiagnostic) -> Fault {
    let offset = diagnostic.labels.first().map_or(0, |label| label.offset());
    (offset as usize, diagnostic.message.to_string())
}

fn compile_source(source: &str, url: &str, hosts: &Hosts, lines_before: u32) -> Result<Compiled, RunError> {
    let allocator = Allocator::default();
    let place = |offset: usize| {
        let (line, column) = line_and_column(source, offset);
        (line.saturating_sub(lines_before as usize).max(1), column)
    };
    let refuse = |(offset, message): Fault| {
        let (line, column) = place(offset);
        syntax_error(url, line, column, &message)
    };

    let mut program = plain(&allocator, source).map_err(refuse)?;
    let mut rewrite = Rewrite::new(&allocator, allocator.alloc_str(url), hosts);
    rewrite.visit_program(&mut program);
    let Rewrite {
        imports,
        foreseen,
        mut remote,
        refused,
        ..
    } = rewrite;
    remote.sort();
    remote.dedup();
    if let Some((offset, why)) = refused {
        let (line, column) = place(offset as usize);
        return Err(thrown_at("TypeError", &why, url, line, column));
    }

    let printed = Codegen::new()
        .with_options(CodegenOptions {
            source_map_path: Some(url.into()),
            comments: CommentOptions::disabled(),
            // Indented, code that is nested deeply would grow with the square of its depth.
            indent_width: 0,
            ..CodegenOptions::default()
        })
        .build(&program);
    let map = printed.map.expect("a source map was asked for");
    let map = point_at(map, url, lines_before);
    let positions = imports
        .iter()
        .map(|import| place(import.offset as usize))
        .collect();
    let code = format!("{}\n//# sourceMappingURL={}\n", printed.code, map.to_data_url());
    Ok(Compiled {
        code,
        imports,
        positions,
        foreseen,
        remote,
        map,
    })
}

/// The code without types and JSX, or its first fault.
fn plain<'a>(allocator: &'a Allocator, source: &'a str) -> Result<Ast<'a>, Fault> {
    let (mut program, fault) = parse(allocator, source);
    if let Some(fault) = fault {
        return Err(fault);
    }
    let semantic = SemanticBuilder::new_compiler()
        .with_excess_capacity(2.0)
        .with_enum_eval(true)
        .build(&program);
    if let Some(diagnostic) = semantic.diagnostics.errors().next() {
        return Err(fault_of(diagnostic));
    }
    let scoping = semantic.semantic.into_scoping();
    let mut options = TransformOptions::default();
    options.typescript.allow_namespaces = true;
    // As Deno has it: the classic form, until a pragma names where the automatic one comes from.
    if !source.contains("@jsxImportSource") {
        options.jsx.runtime = JsxRuntime::Classic;
    }
    let transformed =
        Transformer::new(allocator, Path::new("val.tsx"), &options).build_with_scoping(scoping, &mut program);
    match transformed.diagnostics.errors().next() {
        Some(diagnostic) => Err(fault_of(diagnostic)),
        None => Ok(program),
    }
}

fn without_types(source: &str, url: &str, origin: &str) -> Result<String, RunError> {
    let allocator = Allocator::default();
    let mut program = plain(&allocator, source).map_err(|(offset, message)| {
        let (line, column) = line_and_column(source, offset);
        syntax_error(url, line, column, &message)
    })?;
    let mut readdress = Readdress {
        allocator: &allocator,
        url,
        origin,
        hosts: &Hosts::new(&[origin.to_owned()], false),
    };
    readdress.visit_program(&mut program);
    Ok(Codegen::new().build(&program).code)
}

/// The workers' own modules as JavaScript: without types, and otherwise as they are.
pub(crate) fn strip_types(source: &str) -> Result<String, String> {
    let allocator = Allocator::default();
    let (mut program, fault) = parse(&allocator, source);
    if let Some((_, message)) = fault {
        return Err(message);
    }
    let scoping = SemanticBuilder::new_compiler()
        .build(&program)
        .semantic
        .into_scoping();
    Transformer::new(&allocator, Path::new("worker.ts"), &TransformOptions::default())
        .build_with_scoping(scoping, &mut program);
    Ok(Codegen::new().build(&program).code)
}

/// The map with the public address as its source, without the source itself, and without lines put before it.
fn point_at(map: SourceMap<'_>, url: &str, lines_before: u32) -> SourceMap<'static> {
    let moved = |token: Token| {
        Token::new(
            token.get_dst_line(),
            token.get_dst_col(),
            token.get_src_line().saturating_sub(lines_before),
            token.get_src_col(),
            token.get_source_id(),
            token.get_name_id(),
        )
    };
    let tokens: Vec<Token> = map.get_tokens().map(moved).collect();
    let mut parts: SourceMapParts<'static> = map.into_owned().into_parts();
    parts.tokens = tokens.into();
    let mut map = SourceMap::from_parts(parts);
    map.set_sources([url]);
    map.set_source_contents(vec![None]);
    map
}

/// Line and column of a byte, from 1; columns are counted as the engine does, in UTF-16 units.
fn line_and_column(source: &str, offset: usize) -> (usize, usize) {
    let before = &source[..source.floor_char_boundary(offset)];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    (line, before[line_start..].encode_utf16().count() + 1)
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
