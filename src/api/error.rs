//! Why a request to the server came to nothing.

use std::fmt;

use hamlet_models::{Problem, ProblemCode};

/// Why a request to the server came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientError {
    /// No answer came: the network or the server is down.
    Offline,
    /// The server answered, and said no.
    Refused {
        /// The answer's HTTP status.
        status: u16,
        /// What the server said.
        problem: Problem,
    },
    /// An answer came that this app can't read: the server is of another version, or it isn't Hamlet.
    Unreadable,
}

impl ClientError {
    /// There is no such thing: for an address that can't name one.
    pub fn not_found() -> Self {
        Self::refused(Problem::new(
            ProblemCode::NotFound,
            "there is nothing at this address",
        ))
    }

    /// Nobody is signed in: for a page that needs someone to be.
    pub fn signed_out() -> Self {
        Self::refused(Problem::new(ProblemCode::SignedOut, "sign in first"))
    }

    fn refused(problem: Problem) -> Self {
        Self::Refused {
            status: problem.code.status(),
            problem,
        }
    }

    /// The stable word for what went wrong, if the server gave one.
    pub fn code(&self) -> Option<ProblemCode> {
        match self {
            Self::Refused { problem, .. } => Some(problem.code),
            Self::Offline | Self::Unreadable => None,
        }
    }

    /// The answer's HTTP status, if one came.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            Self::Offline | Self::Unreadable => None,
        }
    }

    /// Whether no answer came at all.
    pub fn is_offline(&self) -> bool {
        *self == Self::Offline
    }

    /// Whether the thing isn't there, or may not be seen.
    pub fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }

    /// Whether someone must sign in first.
    pub fn is_signed_out(&self) -> bool {
        self.status() == Some(401)
    }

    /// What is wrong with this field of what was sent, if the server named it.
    pub fn field(&self, path: &str) -> Option<String> {
        let Self::Refused { problem, .. } = self else {
            return None;
        };
        let detail = problem.details.iter().find(|detail| detail.path == path)?;
        Some(sentence(&detail.message))
    }

    /// Whether all that is wrong is with some of these fields.
    pub fn is_about(&self, fields: &[&str]) -> bool {
        let Self::Refused { problem, .. } = self else {
            return false;
        };
        let mut details = problem.details.iter();
        !problem.details.is_empty() && details.all(|detail| fields.contains(&detail.path.as_str()))
    }

    /// What went wrong and what to do next, for a person.
    pub fn sentence(&self) -> String {
        match self {
            Self::Offline => "Can’t reach the server.".to_owned(),
            Self::Refused { problem, .. } => sentence(&problem.message),
            Self::Unreadable => {
                "The server’s answer can’t be read. It may have been updated: reload the page.".to_owned()
            }
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())
    }
}

impl std::error::Error for ClientError {}

/// A message of the server's as a sentence: with a capital and an end.
pub fn sentence(message: &str) -> String {
    let message = message.trim();
    let mut chars = message.chars();
    let Some(first) = chars.next() else {
        return String::new();
    };
    let mut text: String = first.to_uppercase().collect();
    text.push_str(chars.as_str());
    if !text.ends_with(['.', '!', '?', '…']) {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use hamlet_models::ProblemDetail;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn a_message_becomes_a_sentence_once() {
        for (message, expected) in [
            ("no such val", "No such val."),
            ("Done.", "Done."),
            ("is it?", "Is it?"),
            (" épée ", "Épée."),
            ("", ""),
        ] {
            assert_eq!(sentence(message), expected);
        }
    }

    #[wasm_bindgen_test]
    fn a_field_says_what_is_wrong_with_it_alone() {
        let mut problem = Problem::new(ProblemCode::Invalid, "the val is not valid");
        problem.details.push(ProblemDetail {
            path: "name".into(),
            message: "too long".into(),
        });
        let error = ClientError::Refused { status: 400, problem };
        assert_eq!(error.field("name").as_deref(), Some("Too long."));
        assert_eq!(error.field("code"), None);
        assert_eq!(ClientError::Offline.field("name"), None);
        assert!(error.is_about(&["code", "name"]) && !error.is_about(&["code"]));
        assert!(!ClientError::not_found().is_about(&["name"]), "it names no field");
    }

    #[wasm_bindgen_test]
    fn only_silence_is_offline() {
        assert!(ClientError::Offline.is_offline());
        assert!(!ClientError::not_found().is_offline() && ClientError::not_found().is_not_found());
        assert!(ClientError::signed_out().is_signed_out());
        assert_eq!(ClientError::Unreadable.status(), None);
    }
}
