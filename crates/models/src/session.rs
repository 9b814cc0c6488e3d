//! Signing in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One of the ways to sign in. The answer sets a cookie that only the server reads.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum NewSession {
    /// By name and password.
    Password {
        /// The user's name, in any case.
        username: String,
        /// Their password.
        password: String,
    },
    /// By an API token that has not expired.
    Token {
        /// The whole token, as it was shown once.
        token: String,
    },
    /// By the one-time link that the server printed.
    Link {
        /// The secret part of the link.
        link: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_sign_in_is_told_by_its_fields() {
        let session = |json: &str| serde_json::from_str::<NewSession>(json);
        assert!(matches!(
            session(r#"{"username":"a","password":"b"}"#),
            Ok(NewSession::Password { .. })
        ));
        assert!(matches!(
            session(r#"{"token":"a"}"#),
            Ok(NewSession::Token { .. })
        ));
        assert!(matches!(session(r#"{"link":"a"}"#), Ok(NewSession::Link { .. })));
        assert!(session(r#"{"username":"a"}"#).is_err());
    }
}
