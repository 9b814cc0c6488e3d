//! API tokens.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Scopes, Timestamp, TokenId, TokenName, both::Both};

/// A token as its owner sees it later; the secret is never shown again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Names the token.
    pub id: TokenId,
    /// What the owner calls it.
    pub name: TokenName,
    /// What it may do.
    pub scopes: Scopes,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working; never if `null`.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to about a minute; `null` before its first use.
    pub last_used_at: Option<Timestamp>,
}

/// A token to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewToken {
    /// What to call it.
    pub name: TokenName,
    /// What it may do; everything if left out.
    #[serde(default = "Scopes::all")]
    pub scopes: Scopes,
    /// When it shall stop working; never if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A token just made: the only answer that ever holds the secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", from = "Both<Token, OfCreatedToken>")]
pub struct CreatedToken {
    /// The token as it will be listed.
    #[serde(flatten)]
    pub token: Token,
    /// The secret to send as `Authorization: Bearer …`; begins with `hmlt_`.
    pub secret: String,
}

/// What is told only once.
#[derive(Deserialize)]
struct OfCreatedToken {
    secret: String,
}

impl From<Both<Token, OfCreatedToken>> for CreatedToken {
    fn from(Both(token, OfCreatedToken { secret }): Both<Token, OfCreatedToken>) -> Self {
        Self { token, secret }
    }
}
