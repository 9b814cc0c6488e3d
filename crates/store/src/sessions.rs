//! Sessions of the web app and one-time sign-in links: kept as the hash of their secret.

use std::sync::Arc;

use hamlet_models::{Timestamp, UserId};

use crate::{SecretHash, Store, StoreError, UserRecord};

impl Store {
    /// Starts a session that ends by itself at `expires_at`.
    pub async fn create_session(
        &self,
        user_id: UserId,
        secret_hash: SecretHash,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        todo!()
    }

    /// Whose session this is; nobody's if there is none or it is over.
    pub async fn find_session(&self, secret_hash: SecretHash) -> Result<Option<Arc<UserRecord>>, StoreError> {
        todo!()
    }

    /// Ends a session; one that is over already is no failure.
    pub async fn delete_session(&self, secret_hash: SecretHash) -> Result<(), StoreError> {
        todo!()
    }

    /// Ends every session of a user.
    pub async fn delete_sessions(&self, user_id: UserId) -> Result<(), StoreError> {
        todo!()
    }

    /// Keeps a link by which a user signs in once, before `expires_at`.
    pub async fn create_sign_in_link(
        &self,
        user_id: UserId,
        secret_hash: SecretHash,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        todo!()
    }

    /// Whose link this is; it works once, so of several callers at most one is told.
    pub async fn take_sign_in_link(&self, secret_hash: SecretHash) -> Result<Option<UserId>, StoreError> {
        todo!()
    }
}
