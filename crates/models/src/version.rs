//! What a save leaves behind.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Author, Privacy, Timestamp, ValId, ValKind, ValName};

/// A version's number: 0 for the first, and never given again.
pub type VersionNumber = u32;

/// The most characters that a version's message may have.
pub const MESSAGE_MAX_CHARS: usize = 500;

/// One save of a val, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// The val (snake case is the contract's).
    #[serde(rename = "val_id")]
    pub val_id: ValId,
    /// The number.
    pub version: VersionNumber,
    /// When it was saved.
    pub created_at: Timestamp,
    /// Who saved it (ours).
    #[serde(default)]
    pub author: Option<Author>,
    /// What its author said of it (ours).
    #[serde(default)]
    pub message: Option<String>,
    /// The code's length in bytes (ours).
    #[serde(default)]
    pub size: u64,
    /// Lines that the version before it had not (ours).
    #[serde(default)]
    pub lines_added: u32,
    /// Lines that only the version before it had (ours).
    #[serde(default)]
    pub lines_removed: u32,
}

/// A save: the code, and what to change of the val with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewVersion {
    /// 1 to 256,000 characters.
    #[schema(min_length = 1, max_length = 256000)]
    pub code: String,
    /// A new name for the val.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<ValName>,
    /// A new readme for the val.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readme: Option<String>,
    /// Who may see the val from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privacy: Option<Privacy>,
    /// What starts the val from now on.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ValKind>,
    /// What to say of this version, at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub message: Option<String>,
}

impl NewVersion {
    /// A save of this code alone.
    pub fn of_code(code: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            name: None,
            readme: None,
            privacy: None,
            kind: None,
            message: None,
        }
    }

    /// Each part that breaks a rule: the field's name and a sentence.
    pub fn problems(&self) -> Vec<(&'static str, &'static str)> {
        let message = self
            .message
            .as_ref()
            .filter(|message| message.chars().count() > MESSAGE_MAX_CHARS || message.contains('\0'))
            .map(|_| {
                (
                    "message",
                    "a version's message has at most 500 characters, and no NUL",
                )
            });
        crate::val::text_problems(Some(&self.code), self.readme.as_deref())
            .into_iter()
            .chain(message)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_val_id_is_written_in_snake_case() {
        let version = Version {
            val_id: ValId::from(uuid::Uuid::nil()),
            version: 3,
            created_at: Timestamp::from_millis(0),
            author: None,
            message: None,
            size: 1,
            lines_added: 1,
            lines_removed: 0,
        };
        let json = serde_json::to_value(&version).expect("JSON");
        assert_eq!(json["val_id"], "00000000-0000-0000-0000-000000000000");
        assert!(json.get("valId").is_none());
        assert_eq!(json["createdAt"], "1970-01-01T00:00:00.000Z");
        assert_eq!(
            serde_json::from_value::<Version>(json).expect("a version"),
            version
        );
    }

    #[test]
    fn a_message_has_at_most_500_characters() {
        let save = |chars| NewVersion {
            message: Some("é".repeat(chars)),
            ..NewVersion::of_code("1")
        };
        assert!(save(500).problems().is_empty());
        assert_eq!(save(501).problems()[0].0, "message");
    }
}
