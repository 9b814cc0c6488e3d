//! The translation itself, which takes as much memory and time as code makes it take: only a process of its own does
//! this with a val's code.

use std::{path::Path, sync::OnceLock};

use hamlet_models::RunError;
use oxc_allocator::Allocator;
use oxc_ast::ast::{Program as Ast, Statement};
use oxc_ast_visit::VisitMut;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_sourcemap::{SourceMap, SourceMapParts, Token};
use oxc_span::{GetSpan, SourceType};
use oxc_transformer::{JsxRuntime, TransformOptions, Transformer};

use super::{
    Compiled, Form, Hosts, MAP_START, readdress::Readdress, rewrite::Rewrite, syntax_error, thrown_at,
};

/// Before an expression, so that it can be an export: a line of its own, which the source map takes away again.
const EXPRESSION_START: &str = "export default (\n";
const EXPRESSION_END: &str = "\n);\n";

/// What the names of node's modules for the network begin with.
const NODE_NETWORK: [&str; 2] = ["node:http", "node:net"];

/// Compiles one program.
pub(super) fn compile(code: &str, url: &str, hosts: &Hosts, form: Form) -> Result<Compiled, RunError> {
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
    let uses_node_network = NODE_NETWORK.iter().any(|name| printed.code.contains(name));
    let code = format!("{}{MAP_START}{}\n", printed.code, map.to_data_url());
    Ok(Compiled {
        code,
        imports,
        positions,
        foreseen,
        remote,
        uses_node_network,
        map: OnceLock::new(),
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

pub(super) fn without_types(source: &str, url: &str, origin: &str) -> Result<String, RunError> {
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
