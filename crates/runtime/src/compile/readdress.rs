//! Imports of vals in code that is run elsewhere: wherever it says that they are, they lead to this instance.

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    ExportAllDeclaration, ExportFromDeclaration, Expression, ImportDeclaration, ImportExpression,
    StringLiteral,
};
use oxc_ast_visit::{VisitMut, walk_mut};
use oxc_str::Str;

use super::specifier::{Hosts, Specifier, read_specifier};

/// Walks a program that is JavaScript already.
pub(super) struct Readdress<'a, 'c> {
    pub(super) allocator: &'a Allocator,
    /// Where the program is.
    pub(super) url: &'c str,
    /// The origin of this instance, as whoever asked for the program reaches it.
    pub(super) origin: &'c str,
    /// That origin once more.
    pub(super) hosts: &'c Hosts,
}

impl<'a> Readdress<'a, '_> {
    fn readdress(&self, literal: &mut StringLiteral<'a>) {
        let Specifier::Val(val) = read_specifier(literal.value.as_str(), self.url, self.hosts) else {
            return;
        };
        let version = val
            .version
            .map_or_else(String::new, |version| format!("?v={version}"));
        // Whoever takes this as JavaScript takes nothing else there either.
        let address = format!("{}/v/{}/{}.js{version}", self.origin, val.username, val.name);
        literal.value = Str::from_str_in(&address, &self.allocator);
        literal.raw = None;
    }
}

impl<'a> VisitMut<'a> for Readdress<'a, '_> {
    fn visit_import_declaration(&mut self, import: &mut ImportDeclaration<'a>) {
        self.readdress(&mut import.source);
    }

    fn visit_export_from_declaration(&mut self, export: &mut ExportFromDeclaration<'a>) {
        self.readdress(&mut export.source);
    }

    fn visit_export_all_declaration(&mut self, export: &mut ExportAllDeclaration<'a>) {
        self.readdress(&mut export.source);
    }

    fn visit_import_expression(&mut self, import: &mut ImportExpression<'a>) {
        walk_mut::walk_import_expression(self, import);
        if let Expression::StringLiteral(literal) = &mut import.source {
            self.readdress(literal);
        }
    }
}
