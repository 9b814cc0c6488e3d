//! An account's own SQLite database, as `/v1/sqlite` speaks of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A statement to run.
#[derive(Clone, Debug, PartialEq, Deserialize, ToSchema)]
pub struct NewSqlExecution {
    /// The statement.
    pub statement: SqlStatement,
}

/// Statements to run in one transaction: all of them, or none.
#[derive(Clone, Debug, PartialEq, Deserialize, ToSchema)]
pub struct NewSqlBatch {
    /// The statements, in order.
    pub statements: Vec<SqlStatement>,
    /// How the transaction locks the database.
    #[serde(default)]
    pub mode: SqlMode,
}

/// SQL, alone or with its parameters.
#[derive(Clone, Debug, PartialEq, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum SqlStatement {
    /// `"select 1"`
    Bare(String),
    /// `{"sql": "select ?", "args": [1]}`
    WithArgs {
        /// The SQL, one statement.
        sql: String,
        /// Its parameters.
        #[serde(default)]
        args: SqlArgs,
    },
}

impl SqlStatement {
    /// The SQL.
    pub fn sql(&self) -> &str {
        match self {
            Self::Bare(sql) | Self::WithArgs { sql, .. } => sql,
        }
    }
}

/// Parameters of a statement. A value is `null`, a boolean, a number, a text, or `{"base64": "…"}` for bytes.
#[derive(Clone, Debug, PartialEq, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum SqlArgs {
    /// By position.
    Positional(Vec<Value>),
    /// By name, without the `:`, `@` or `$` before it (with it is understood too).
    Named(BTreeMap<String, Value>),
}

impl Default for SqlArgs {
    fn default() -> Self {
        Self::Positional(Vec::new())
    }
}

/// How a transaction locks the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SqlMode {
    /// At once, for writing.
    Write,
    /// Not for writing: a statement that writes fails.
    Read,
    /// When a statement first needs it.
    #[default]
    Deferred,
}

/// What a statement answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SqlResult {
    /// The columns' names.
    pub columns: Vec<String>,
    /// The columns' declared types; empty for an expression.
    pub column_types: Vec<String>,
    /// The rows, each a list of values. Whole numbers that JavaScript can't hold exactly are texts; bytes are
    /// `{"base64": "…"}`.
    pub rows: Vec<Vec<Value>>,
    /// How many rows the statement inserted, changed or deleted.
    pub rows_affected: u64,
    /// The id of the row that was inserted last on this connection; `null` if none was.
    pub last_insert_rowid: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_comes_bare_or_with_args_by_position_or_name() {
        let statement = |json: &str| {
            serde_json::from_str::<NewSqlExecution>(json)
                .expect("a statement")
                .statement
        };
        assert_eq!(
            statement(r#"{"statement":"select 1"}"#),
            SqlStatement::Bare("select 1".into())
        );
        let positional = statement(r#"{"statement":{"sql":"select ?","args":[1]}}"#);
        assert!(
            matches!(positional, SqlStatement::WithArgs { args: SqlArgs::Positional(ref args), .. } if args.len() == 1)
        );
        let named = statement(r#"{"statement":{"sql":"select :a","args":{"a":1}}}"#);
        assert!(
            matches!(named, SqlStatement::WithArgs { args: SqlArgs::Named(ref args), .. } if args.contains_key("a"))
        );
        assert_eq!(statement(r#"{"statement":{"sql":"select 2"}}"#).sql(), "select 2");
    }

    #[test]
    fn a_batch_defers_its_lock_unless_it_says_otherwise() {
        let batch: NewSqlBatch = serde_json::from_str(r#"{"statements":["select 1"]}"#).expect("a batch");
        assert_eq!(batch.mode, SqlMode::Deferred);
        assert!(serde_json::from_str::<NewSqlBatch>(r#"{"statements":[],"mode":"exclusive"}"#).is_err());
    }
}
