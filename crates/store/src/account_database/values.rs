//! Values as JSON writes them, and as SQLite keeps them.

use base64::{Engine, engine::general_purpose::STANDARD};
use hamlet_models::SqlArgs;
use rusqlite::{
    Statement,
    types::{Value as SqlValue, ValueRef},
};
use serde_json::{Number, Value, json};

use super::SqlError;

/// Whole numbers beyond this can't be told apart by a reader whose numbers are doubles.
const SAFE_INTEGER: u64 = (1 << 53) - 1;
/// What a value is counted as beside its text or bytes: it lies in memory until it is sent.
pub(super) const BASE_BYTES: usize = 32;

/// Gives a statement its parameters.
pub(super) fn bind(statement: &mut Statement<'_>, args: &SqlArgs) -> Result<(), SqlError> {
    let count = statement.parameter_count();
    match args {
        SqlArgs::Positional(values) if values.len() != count => Err(SqlError::Refused(format!(
            "the statement has {count} parameters, but {} were given",
            values.len()
        ))),
        SqlArgs::Positional(values) => values
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| bind_one(statement, index + 1, value)),
        SqlArgs::Named(values) => (1..=count).try_for_each(|index| {
            let name = statement.parameter_name(index).unwrap_or("?").to_owned();
            let bare = name.trim_start_matches([':', '@', '$']);
            let value = values.get(bare).or_else(|| values.get(&name));
            let value = value.ok_or_else(|| {
                SqlError::Refused(format!("the statement's parameter {name} was not given"))
            })?;
            bind_one(statement, index, value)
        }),
    }
}

fn bind_one(statement: &mut Statement<'_>, index: usize, value: &Value) -> Result<(), SqlError> {
    statement
        .raw_bind_parameter(index, from_json(value)?)
        .map_err(|error| SqlError::Refused(error.to_string()))
}

fn from_json(value: &Value) -> Result<SqlValue, SqlError> {
    let refused = || {
        SqlError::Refused(
            "a parameter is null, a boolean, a number, a text, or {\"base64\": \"…\"} for bytes".to_owned(),
        )
    };
    Ok(match value {
        Value::Null => SqlValue::Null,
        Value::Bool(yes) => SqlValue::Integer(i64::from(*yes)),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => SqlValue::Integer(whole),
            None => SqlValue::Real(number.as_f64().ok_or_else(refused)?),
        },
        Value::String(text) => SqlValue::Text(text.clone()),
        Value::Object(fields) => match (fields.len(), fields.get("base64")) {
            (1, Some(Value::String(text))) => SqlValue::Blob(STANDARD.decode(text).map_err(|_| refused())?),
            _ => return Err(refused()),
        },
        Value::Array(_) => return Err(refused()),
    })
}

/// A value of a row.
pub(super) fn to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) if whole.unsigned_abs() <= SAFE_INTEGER => Value::from(whole),
        ValueRef::Integer(whole) => Value::from(whole.to_string()),
        ValueRef::Real(real) => Number::from_f64(real).map_or(Value::Null, Value::Number),
        ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => json!({"base64": STANDARD.encode(bytes)}),
    }
}

/// What a value takes of the room for an answer.
pub(super) fn size_of(value: ValueRef<'_>) -> usize {
    let bytes = match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
    };
    bytes + BASE_BYTES
}
