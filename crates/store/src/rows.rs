//! Reading rows: what is in a column, as the type that it stands for.

use hamlet_models::{Privacy, RunStatus, Scopes, Timestamp, Trigger, ValKind, VersionNumber};

use crate::StoreError;

/// What `text` stands for among `words`.
fn word<T: Copy>(all: &[T], as_str: fn(T) -> &'static str, text: &str) -> Result<T, StoreError> {
    let found = all.iter().copied().find(|&word| as_str(word) == text);
    found.ok_or_else(|| StoreError::Unreadable(format!("the word {text:?}")))
}

pub(crate) fn privacy(text: &str) -> Result<Privacy, StoreError> {
    word(&Privacy::ALL, Privacy::as_str, text)
}

pub(crate) fn kind(text: &str) -> Result<ValKind, StoreError> {
    word(&ValKind::ALL, ValKind::as_str, text)
}

pub(crate) fn status(text: &str) -> Result<RunStatus, StoreError> {
    word(&RunStatus::ALL, RunStatus::as_str, text)
}

pub(crate) fn trigger(text: &str) -> Result<Trigger, StoreError> {
    word(&Trigger::ALL, Trigger::as_str, text)
}

/// A name that was checked when it was written.
pub(crate) fn name<T: std::str::FromStr>(text: &str) -> Result<T, StoreError> {
    text.parse()
        .map_err(|_| StoreError::Unreadable(format!("the name {text:?}")))
}

pub(crate) fn scopes(text: &str) -> Result<Scopes, StoreError> {
    text.split_whitespace().map(name).collect()
}

/// Scopes as they are kept: words with a space between.
pub(crate) fn scopes_text(scopes: Scopes) -> String {
    let words: Vec<_> = scopes.iter().map(|scope| scope.to_string()).collect();
    words.join(" ")
}

pub(crate) fn version(number: i64) -> Result<VersionNumber, StoreError> {
    number
        .try_into()
        .map_err(|_| StoreError::Unreadable(format!("the version {number}")))
}

pub(crate) fn time(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Unreadable(error.to_string()))
}

pub(crate) fn json_text<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unreadable(error.to_string()))
}

/// A count as SQL has them.
pub(crate) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Rows per statement, largest first: few sizes, so that the databases know the statements, and none with more
/// values than SQLite takes in one (32,766).
const ROWS: [usize; 7] = [64, 32, 16, 8, 4, 2, 1];

/// The rows in portions, each for a statement of its own.
pub(crate) fn portions<T>(rows: Vec<T>) -> impl Iterator<Item = Vec<T>> {
    let mut rows = rows.into_iter();
    std::iter::from_fn(move || {
        let size = ROWS.into_iter().find(|size| *size <= rows.len())?;
        Some(rows.by_ref().take(size).collect())
    })
}

#[cfg(test)]
mod tests {
    use sea_orm::Iterable;

    use super::*;
    use crate::entity::{run, val};

    #[test]
    fn portions_are_of_few_sizes_and_lose_nothing() {
        for count in [0, 1, 7, 8, 9, 64, 65, 200] {
            let portions: Vec<Vec<usize>> = portions((0..count).collect()).collect();
            assert!(portions.iter().all(|portion| ROWS.contains(&portion.len())));
            assert_eq!(portions.concat(), (0..count).collect::<Vec<_>>());
        }
        for columns in [run::Column::iter().count(), val::Column::iter().count()] {
            assert!(
                ROWS[0] * columns <= 32_766,
                "SQLite takes no more values in a statement"
            );
        }
    }

    #[test]
    fn every_word_and_scope_is_read_back() {
        for privacy_ in Privacy::ALL {
            assert_eq!(privacy(privacy_.as_str()).expect("a word"), privacy_);
        }
        for status_ in RunStatus::ALL {
            assert_eq!(status(status_.as_str()).expect("a word"), status_);
        }
        for scopes_ in [Scopes::all(), Scopes::default()] {
            assert_eq!(scopes(&scopes_text(scopes_)).expect("scopes"), scopes_);
        }
    }

    #[test]
    fn what_nobody_wrote_is_unreadable() {
        for result in [
            privacy("secret").map(drop),
            kind("").map(drop),
            trigger("magic").map(drop),
            scopes("val:fly").map(drop),
            version(-1).map(drop),
            name::<hamlet_models::ValName>("a b").map(drop),
        ] {
            assert!(matches!(result, Err(StoreError::Unreadable(_))), "{result:?}");
        }
    }
}
