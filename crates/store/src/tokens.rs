//! API tokens: kept as the hash of their secret.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use hamlet_models::{NewToken, PageQuery, Scopes, Timestamp, Token, TokenId, UserId};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, ExprTrait, IntoActiveModel, QueryFilter, QueryOrder,
    QuerySelect,
    sea_query::{Condition, Expr},
};

use crate::{
    SecretHash, Slice, Store, StoreError, UserRecord,
    clock::{new_id, now},
    entity::token,
    error::is_missing_parent,
    rows,
};

/// How long a token's use isn't noted again.
const TOUCH_MS: i64 = 60_000;

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

/// A token as it is found by its hash.
pub(crate) struct KnownToken {
    id: TokenId,
    user_id: UserId,
    scopes: Scopes,
    expires_at: Option<Timestamp>,
    /// When its use was last noted, in milliseconds.
    touched: AtomicI64,
}

impl KnownToken {
    /// Whether a use at this time is to be noted; told to one of those who ask at once.
    fn touch(&self, now: Timestamp) -> bool {
        let touched = self.touched.load(Ordering::Relaxed);
        let now = now.as_millis();
        now.saturating_sub(touched) >= TOUCH_MS
            && self
                .touched
                .compare_exchange(touched, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

impl TryFrom<token::Model> for KnownToken {
    type Error = StoreError;

    fn try_from(row: token::Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            user_id: row.user_id.into(),
            scopes: rows::scopes(&row.scopes)?,
            expires_at: row.expires_at.map(rows::time),
            touched: AtomicI64::new(row.last_used_at.unwrap_or(0)),
        })
    }
}

fn listed(row: token::Model) -> Result<Token, StoreError> {
    Ok(Token {
        id: row.id.into(),
        name: rows::name(&row.name)?,
        scopes: rows::scopes(&row.scopes)?,
        created_at: rows::time(row.created_at),
        expires_at: row.expires_at.map(rows::time),
        last_used_at: row.last_used_at.map(rows::time),
    })
}

impl Store {
    /// Makes a token of which only the secret's hash is kept.
    pub async fn create_token(
        &self,
        user_id: UserId,
        new: &NewToken,
        secret_hash: SecretHash,
    ) -> Result<Token, StoreError> {
        let (id, created_at) = new_id();
        let row = token::Model {
            id,
            user_id: user_id.0,
            name: new.name.to_string(),
            scopes: rows::scopes_text(new.scopes),
            secret_hash: secret_hash.to_vec(),
            created_at: created_at.as_millis(),
            expires_at: new.expires_at.map(Timestamp::as_millis),
            last_used_at: None,
        };
        let row = self
            .change_vals(row, |row, tx| Box::pin(insert_token(row, tx)), |_, _| ())
            .await?;
        listed(row)
    }

    /// A user's tokens, newest first, expired ones too.
    pub async fn list_tokens(&self, user_id: UserId, page: PageQuery) -> Result<Slice<Token>, StoreError> {
        let rows = token::Entity::find()
            .filter(token::Column::UserId.eq(user_id.0))
            .order_by_desc(token::Column::CreatedAt)
            .order_by_desc(token::Column::Id)
            .offset(page.offset)
            .limit(page.limit + 1)
            .all(&self.vals().readers)
            .await?;
        Slice::cut(rows, page.limit).try_map(listed)
    }

    /// Revokes a token of this user.
    pub async fn delete_token(&self, user_id: UserId, id: TokenId) -> Result<(), StoreError> {
        let which = token::Column::Id
            .eq(id.0)
            .and(token::Column::UserId.eq(user_id.0));
        self.delete_token_where(which).await
    }

    /// Revokes the token whose secret has this hash.
    pub async fn delete_token_by_hash(&self, secret_hash: SecretHash) -> Result<(), StoreError> {
        self.delete_token_where(token::Column::SecretHash.eq(secret_hash.to_vec()))
            .await
    }

    async fn delete_token_where(&self, which: Expr) -> Result<(), StoreError> {
        self.change_vals(
            which,
            |which, tx| Box::pin(remove_token(which, tx)),
            |caches, hash| caches.tokens.remove(hash),
        )
        .await?;
        Ok(())
    }

    /// What the token whose secret has this hash allows; nothing if there is none or it has expired. Its use is
    /// noted in the background, at most once a minute.
    pub async fn find_token(&self, secret_hash: SecretHash) -> Result<Option<TokenGrant>, StoreError> {
        let Some(token) = self.known_token(secret_hash).await? else {
            return Ok(None);
        };
        let now = now();
        if token.expires_at.is_some_and(|end| end <= now) {
            return Ok(None);
        }
        let user = match self.get_user(token.user_id).await {
            Ok(user) => user,
            Err(StoreError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        if token.touch(now) {
            let (store, id) = (self.clone(), token.id);
            tokio::spawn(async move {
                if let Err(error) = store.note_token_use(id, now).await {
                    tracing::warn!(%error, token.id = %id, "the use of a token could not be noted");
                }
            });
        }
        Ok(Some(TokenGrant {
            id: token.id,
            user,
            scopes: token.scopes,
        }))
    }

    async fn known_token(&self, secret_hash: SecretHash) -> Result<Option<Arc<KnownToken>>, StoreError> {
        let tokens = &self.caches().tokens;
        if let Some(token) = tokens.get(&secret_hash) {
            return Ok(Some(token));
        }
        let ticket = tokens.ticket(&secret_hash);
        let row = token::Entity::find()
            .filter(token::Column::SecretHash.eq(secret_hash.to_vec()))
            .one(&self.vals().readers)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let token = Arc::new(KnownToken::try_from(row)?);
        tokens.fill(ticket, secret_hash, token.clone());
        Ok(Some(token))
    }

    async fn note_token_use(&self, id: TokenId, at: Timestamp) -> Result<(), StoreError> {
        self.change_vals(
            (id, at),
            |(id, at), tx| {
                Box::pin(async move {
                    let earlier = Condition::any()
                        .add(token::Column::LastUsedAt.is_null())
                        .add(token::Column::LastUsedAt.lt(at.as_millis()));
                    token::Entity::update_many()
                        .col_expr(token::Column::LastUsedAt, Expr::value(at.as_millis()))
                        .filter(token::Column::Id.eq(id.0))
                        .filter(earlier)
                        .exec(tx)
                        .await?;
                    Ok(())
                })
            },
            |_, ()| (),
        )
        .await
    }
}

async fn insert_token(row: &token::Model, tx: &DatabaseTransaction) -> Result<token::Model, StoreError> {
    match token::Entity::insert(row.clone().into_active_model())
        .exec_without_returning(tx)
        .await
    {
        Ok(_) => Ok(row.clone()),
        Err(error) if is_missing_parent(&error) => Err(StoreError::NotFound("user")),
        Err(error) => Err(error.into()),
    }
}

/// The hash of the token that is gone.
async fn remove_token(which: &Expr, tx: &DatabaseTransaction) -> Result<SecretHash, StoreError> {
    let row = token::Entity::find()
        .filter(which.clone())
        .lock_exclusive()
        .one(tx)
        .await?;
    let row = row.ok_or(StoreError::NotFound("token"))?;
    token::Entity::delete_by_id(row.id).exec(tx).await?;
    let hash = SecretHash::try_from(row.secret_hash);
    hash.map_err(|hash| StoreError::Unreadable(format!("a hash of {} bytes", hash.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_noted_once_a_minute() {
        let token = KnownToken {
            id: TokenId(uuid::Uuid::nil()),
            user_id: UserId(uuid::Uuid::nil()),
            scopes: Scopes::all(),
            expires_at: None,
            touched: AtomicI64::new(0),
        };
        let at = |millis| Timestamp::from_millis(1_000_000 + millis);
        assert!(token.touch(at(0)));
        assert!(!token.touch(at(TOUCH_MS - 1)));
        assert!(token.touch(at(TOUCH_MS)));
    }
}
