//! API tokens: kept as the hash of their secret.

use std::sync::Arc;

use hamlet_models::{NewToken, PageQuery, Scopes, Token, TokenId, UserId};

use crate::{SecretHash, Slice, Store, StoreError, UserRecord};

/// What a token allows.
#[derive(Clone, Debug)]
pub struct TokenGrant {
    /// The token.
    pub id: TokenId,
    /// Whose it is.
    pub user: Arc<UserRecord>,
    /// What it may do.
    pub scopes: Scopes,
}

impl Store {
    /// Makes a token of which only the secret's hash is kept.
    pub async fn create_token(
        &self,
        user_id: UserId,
        new: &NewToken,
        secret_hash: SecretHash,
    ) -> Result<Token, StoreError> {
        todo!()
    }

    /// A user's tokens, newest first, expired ones too.
    pub async fn list_tokens(&self, user_id: UserId, page: PageQuery) -> Result<Slice<Token>, StoreError> {
        todo!()
    }

    /// Revokes a token of this user.
    pub async fn delete_token(&self, user_id: UserId, id: TokenId) -> Result<(), StoreError> {
        todo!()
    }

    /// Revokes the token whose secret has this hash.
    pub async fn delete_token_by_hash(&self, secret_hash: SecretHash) -> Result<(), StoreError> {
        todo!()
    }

    /// What the token whose secret has this hash allows; nothing if there is none or it has expired. Its use is
    /// noted in the background, at most once a minute.
    pub async fn find_token(&self, secret_hash: SecretHash) -> Result<Option<TokenGrant>, StoreError> {
        todo!()
    }
}
