//! Sessions of the web app and one-time sign-in links: kept as the hash of their secret.

use std::sync::Arc;

use hamlet_models::{Timestamp, UserId};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect};

use crate::{
    SecretHash, Store, StoreError, UserRecord,
    clock::now,
    entity::{session, sign_in_link},
    error::is_missing_parent,
    rows,
};

/// A session as it is found by its hash.
#[derive(Clone, Copy)]
pub(crate) struct Session {
    user_id: UserId,
    expires_at: Timestamp,
}

impl Store {
    /// Starts a session that ends by itself at `expires_at`.
    pub async fn create_session(
        &self,
        user_id: UserId,
        secret_hash: SecretHash,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = session::Model {
            secret_hash: secret_hash.to_vec(),
            user_id: user_id.0,
            created_at: now().as_millis(),
            expires_at: expires_at.as_millis(),
        };
        self.change_vals(row, |row, tx| Box::pin(insert_session(row, tx)), |_, ()| ())
            .await
    }

    /// Whose session this is; nobody's if there is none or it is over.
    pub async fn find_session(&self, secret_hash: SecretHash) -> Result<Option<Arc<UserRecord>>, StoreError> {
        let sessions = &self.caches().sessions;
        let session = match sessions.get(&secret_hash) {
            Some(session) => session,
            None => {
                let ticket = sessions.ticket(&secret_hash);
                let row = session::Entity::find_by_id(secret_hash.to_vec())
                    .one(&self.vals().readers)
                    .await?;
                let Some(row) = row else { return Ok(None) };
                let session = Session {
                    user_id: row.user_id.into(),
                    expires_at: rows::time(row.expires_at),
                };
                sessions.fill(ticket, secret_hash, session);
                session
            }
        };
        if session.expires_at <= now() {
            return Ok(None);
        }
        match self.get_user(session.user_id).await {
            Ok(user) => Ok(Some(user)),
            Err(StoreError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Ends a session; one that is over already is no failure.
    pub async fn delete_session(&self, secret_hash: SecretHash) -> Result<(), StoreError> {
        self.change_vals(
            secret_hash,
            |secret_hash, tx| {
                Box::pin(async move {
                    session::Entity::delete_by_id(secret_hash.to_vec())
                        .exec(tx)
                        .await?;
                    Ok(())
                })
            },
            move |caches, ()| caches.sessions.remove(&secret_hash),
        )
        .await
    }

    /// Ends every session of a user.
    pub async fn delete_sessions(&self, user_id: UserId) -> Result<(), StoreError> {
        self.change_vals(
            user_id,
            |user_id, tx| {
                Box::pin(async move {
                    session::Entity::delete_many()
                        .filter(session::Column::UserId.eq(user_id.0))
                        .exec(tx)
                        .await?;
                    Ok(())
                })
            },
            |caches, ()| caches.sessions.clear(),
        )
        .await
    }

    /// Keeps a link by which a user signs in once, before `expires_at`.
    pub async fn create_sign_in_link(
        &self,
        user_id: UserId,
        secret_hash: SecretHash,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = sign_in_link::Model {
            secret_hash: secret_hash.to_vec(),
            user_id: user_id.0,
            created_at: now().as_millis(),
            expires_at: expires_at.as_millis(),
        };
        self.change_vals(row, |row, tx| Box::pin(insert_link(row, tx)), |_, ()| ())
            .await
    }

    /// Whose link this is; it works once, so of several callers at most one is told.
    pub async fn take_sign_in_link(&self, secret_hash: SecretHash) -> Result<Option<UserId>, StoreError> {
        self.change_vals(secret_hash, |hash, tx| Box::pin(take_link(hash, tx)), |_, _| ())
            .await
    }
}

/// Adds the session, and sweeps out those of the same user that are over.
async fn insert_session(row: &session::Model, tx: &DatabaseTransaction) -> Result<(), StoreError> {
    match session::Entity::insert(row.clone().into_active_model())
        .exec_without_returning(tx)
        .await
    {
        Ok(_) => {}
        Err(error) if is_missing_parent(&error) => return Err(StoreError::NotFound("user")),
        Err(error) => return Err(error.into()),
    }
    session::Entity::delete_many()
        .filter(session::Column::UserId.eq(row.user_id))
        .filter(session::Column::ExpiresAt.lte(row.created_at))
        .exec(tx)
        .await?;
    Ok(())
}

/// Adds the link, and sweeps out those of the same user that are over.
async fn insert_link(row: &sign_in_link::Model, tx: &DatabaseTransaction) -> Result<(), StoreError> {
    match sign_in_link::Entity::insert(row.clone().into_active_model())
        .exec_without_returning(tx)
        .await
    {
        Ok(_) => {}
        Err(error) if is_missing_parent(&error) => return Err(StoreError::NotFound("user")),
        Err(error) => return Err(error.into()),
    }
    sign_in_link::Entity::delete_many()
        .filter(sign_in_link::Column::UserId.eq(row.user_id))
        .filter(sign_in_link::Column::ExpiresAt.lte(row.created_at))
        .exec(tx)
        .await?;
    Ok(())
}

async fn take_link(hash: &SecretHash, tx: &DatabaseTransaction) -> Result<Option<UserId>, StoreError> {
    let row = sign_in_link::Entity::find_by_id(hash.to_vec())
        .lock_exclusive()
        .one(tx)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let deleted = sign_in_link::Entity::delete_by_id(hash.to_vec()).exec(tx).await?;
    let taken = deleted.rows_affected == 1 && rows::time(row.expires_at) > now();
    Ok(taken.then(|| row.user_id.into()))
}
