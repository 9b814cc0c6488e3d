//! What is changed of a val's own code: its imports of vals, its own address, and imports that show at run time.

use oxc_allocator::{Allocator, ArenaVec};
use oxc_ast::{
    ast::{
        Argument, ExportAllDeclaration, ExportFromDeclaration, Expression, ImportAttributeKey,
        ImportDeclaration, ImportExpression, ObjectPropertyKind, Program, Statement, StringLiteral,
        WithClause,
    },
    builder::AstBuilder,
};
use oxc_ast_visit::{VisitMut, walk_mut};
use oxc_span::{GetSpan, SPAN};
use oxc_str::Str;
use serde::{Deserialize, Serialize};

use super::specifier::{Hosts, RemoteImport, Specifier, read_specifier};
use crate::ValReference;

/// The name under which the worker offers imports at run time.
const IMPORT_FUNCTION: &str = "__hamletImport";
/// The name under which the worker offers to make `import.meta` that of a module with a public address.
const META_FUNCTION: &str = "__hamletMeta";

/// An import of a val.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ValImport {
    /// The val.
    pub(crate) reference: ValReference,
    /// The import as its author wrote it.
    pub(crate) specifier: String,
    /// Where it stands in the source, in bytes.
    pub(crate) offset: u32,
}

/// What stands in compiled code for the file of the nth imported val; as long as [`module_file`], so that columns
/// stay what the source map says.
pub(crate) fn import_mark(index: usize) -> String {
    format!("./hamlet-import-{index:05}.mjs")
}

/// The file of the nth module of a worker, as an import names it.
pub(crate) fn module_file(index: usize) -> String {
    format!("./hamlet-module-{index:05}.mjs")
}

/// Walks a program that is JavaScript already.
pub(crate) struct Rewrite<'a, 'c> {
    builder: AstBuilder<'a>,
    allocator: &'a Allocator,
    url: &'a str,
    hosts: &'c Hosts,
    /// The vals that it imports, in order.
    pub(crate) imports: Vec<ValImport>,
    /// The vals that it names where it imports at run time.
    pub(crate) foreseen: Vec<ValImport>,
    /// What it imports that is not of this instance.
    pub(crate) remote: Vec<RemoteImport>,
    /// The first import that no val may have: where, and why.
    pub(crate) refused: Option<(u32, String)>,
    /// Whether it asks `import.meta` for more than its address.
    asks_meta: bool,
}

impl<'a, 'c> Rewrite<'a, 'c> {
    pub(crate) fn new(allocator: &'a Allocator, url: &'a str, hosts: &'c Hosts) -> Self {
        Self {
            builder: AstBuilder::new(allocator),
            allocator,
            url,
            hosts,
            imports: Vec::new(),
            foreseen: Vec::new(),
            remote: Vec::new(),
            refused: None,
            asks_meta: false,
        }
    }

    fn set(&self, literal: &mut StringLiteral<'a>, text: &str) {
        literal.value = Str::from_str_in(text, &self.allocator);
        literal.raw = None;
    }

    fn rewrite_source(&mut self, literal: &mut StringLiteral<'a>, attributes: Option<&WithClause<'a>>) {
        match read_specifier(literal.value.as_str(), self.url, self.hosts) {
            Specifier::Val(reference) => {
                let specifier = literal.value.to_string();
                self.set(literal, &import_mark(self.imports.len()));
                self.imports.push(ValImport {
                    reference,
                    specifier,
                    offset: literal.span.start,
                });
            }
            Specifier::Direct(text) => {
                self.remote
                    .extend(RemoteImport::read(&text, attributes.and_then(type_attribute)));
                if text != literal.value.as_str() {
                    self.set(literal, &text);
                }
            }
            Specifier::Refused(why) => {
                self.refused.get_or_insert((literal.span.start, why));
            }
        }
    }

    /// Whether Deno may load a dynamic import itself: only where the text alone says that it is no val.
    fn is_direct(&mut self, import: &ImportExpression<'a>) -> bool {
        let Expression::StringLiteral(literal) = &import.source else {
            return false;
        };
        let text = literal.value.as_str();
        let direct = match read_specifier(text, self.url, self.hosts) {
            Specifier::Direct(direct) => direct == text,
            Specifier::Val(reference) => {
                self.foreseen.push(ValImport {
                    reference,
                    specifier: text.to_owned(),
                    offset: literal.span.start,
                });
                false
            }
            Specifier::Refused(_) => false,
        };
        if direct {
            let kind = import
                .options
                .as_ref()
                .and_then(|options| property(options, "with"))
                .and_then(|attributes| property(attributes, "type"));
            let kind = match kind {
                Some(Expression::StringLiteral(kind)) => Some(kind.value.as_str()),
                _ => None,
            };
            self.remote.extend(RemoteImport::read(text, kind));
        }
        direct
    }

    /// What comes before all else in a module that asks `import.meta`, which knows a file of the worker's by itself.
    fn describe_meta(&self) -> Statement<'a> {
        let mut arguments = ArenaVec::new_in(&self.builder);
        arguments.push(Argument::from(Expression::new_import_meta(SPAN, &self.builder)));
        let url = Expression::new_string_literal(SPAN, self.url, None, &self.builder);
        arguments.push(Argument::from(url));
        let callee = Expression::new_identifier(SPAN, META_FUNCTION, &self.builder);
        let call = Expression::new_call_expression(SPAN, callee, None, arguments, false, &self.builder);
        Statement::new_expression_statement(SPAN, call, &self.builder)
    }

    fn import_call(&self, import: &mut ImportExpression<'a>) -> Expression<'a> {
        let url = Expression::new_string_literal(SPAN, self.url, None, &self.builder);
        let placeholder = || Expression::new_null_literal(SPAN, &self.builder);
        let source = std::mem::replace(&mut import.source, placeholder());
        let mut arguments = ArenaVec::new_in(&self.builder);
        arguments.push(Argument::from(url));
        arguments.push(Argument::from(source));
        arguments.extend(import.options.take().map(Argument::from));
        let callee = Expression::new_identifier(import.span, IMPORT_FUNCTION, &self.builder);
        Expression::new_call_expression(import.span, callee, None, arguments, false, &self.builder)
    }
}

/// The kind of module that the import's attributes ask for.
fn type_attribute<'c>(attributes: &'c WithClause<'_>) -> Option<&'c str> {
    let named_type = |key: &ImportAttributeKey<'_>| match key {
        ImportAttributeKey::Identifier(name) => name.name == "type",
        ImportAttributeKey::StringLiteral(name) => name.value == "type",
    };
    let attribute = attributes
        .with_entries
        .iter()
        .find(|entry| named_type(&entry.key));
    attribute.map(|attribute| attribute.value.value.as_str())
}

/// The property of that name, if the expression is an object that has it.
fn property<'c, 'a>(object: &'c Expression<'a>, name: &str) -> Option<&'c Expression<'a>> {
    let Expression::ObjectExpression(object) = object else {
        return None;
    };
    object.properties.iter().find_map(|property| match property {
        ObjectPropertyKind::ObjectProperty(property) if property.key.is_specific_static_name(name) => {
            Some(&property.value)
        }
        _ => None,
    })
}

impl<'a> VisitMut<'a> for Rewrite<'a, '_> {
    fn visit_program(&mut self, program: &mut Program<'a>) {
        walk_mut::walk_program(self, program);
        if self.asks_meta {
            program.body.insert(0, self.describe_meta());
        }
    }

    fn visit_import_declaration(&mut self, import: &mut ImportDeclaration<'a>) {
        self.rewrite_source(&mut import.source, import.with_clause.as_deref());
    }

    fn visit_export_from_declaration(&mut self, export: &mut ExportFromDeclaration<'a>) {
        self.rewrite_source(&mut export.source, export.with_clause.as_deref());
    }

    fn visit_export_all_declaration(&mut self, export: &mut ExportAllDeclaration<'a>) {
        self.rewrite_source(&mut export.source, export.with_clause.as_deref());
    }

    fn visit_expression(&mut self, expression: &mut Expression<'a>) {
        let is_address = matches!(expression, Expression::StaticMemberExpression(member)
            if member.property.name == "url" && matches!(&member.object, Expression::ImportMeta(_)));
        if is_address {
            *expression = Expression::new_string_literal(expression.span(), self.url, None, &self.builder);
            return;
        }
        walk_mut::walk_expression(self, expression);
        match expression {
            Expression::ImportExpression(import) if import.phase.is_none() && !self.is_direct(import) => {
                *expression = self.import_call(import);
            }
            Expression::ImportMeta(_) => self.asks_meta = true,
            _ => {}
        }
    }
}
