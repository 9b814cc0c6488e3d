//! Blobs: bytes that an account keeps by key.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{InvalidName, Timestamp};

/// The name of a blob: 1 to 512 characters of any kind but NUL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, min_length = 1, max_length = 512)]
pub struct BlobKey(String);

impl BlobKey {
    /// The most characters that a key may have.
    pub const MAX_CHARS: usize = 512;

    /// The key as its owner wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BlobKey {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for BlobKey {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        if text.is_empty() || text.chars().count() > Self::MAX_CHARS || text.contains('\0') {
            return Err(InvalidName::new(
                "a blob's key has 1 to 512 characters, and no NUL",
            ));
        }
        Ok(Self(text))
    }
}

impl From<BlobKey> for String {
    fn from(key: BlobKey) -> Self {
        key.0
    }
}

/// A blob as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Blob {
    /// What it is called.
    pub key: BlobKey,
    /// Its bytes.
    pub size: u64,
    /// When it was last written.
    pub last_modified: Timestamp,
}

/// Which blobs are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BlobFilter {
    /// Only blobs whose key begins with this.
    #[serde(default)]
    pub prefix: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_nearly_any_text() {
        let longest = "é".repeat(512);
        for good in ["a", "a/b", "../x", " ", "é?#%", longest.as_str()] {
            assert_eq!(good.parse::<BlobKey>().map(String::from), Ok(good.to_owned()));
        }
        for bad in ["", "a\0b", "a".repeat(513).as_str()] {
            assert!(bad.parse::<BlobKey>().is_err(), "{bad:?} must be refused");
        }
    }
}
