//! Secrets: environment variables of accounts. Their values come sealed, and go sealed.

use std::sync::Arc;

use hamlet_models::{Secret, SecretName, UserId, ValId};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter,
    sea_query::OnConflict,
};

use crate::{Store, StoreError, clock::now, entity::secret, rows};

/// The most secrets that an account may have.
pub const SECRETS_MAX: u64 = 200;

/// A secret with its sealed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRecord {
    /// What its owner sees.
    pub secret: Secret,
    /// The value as it was given, sealed.
    pub sealed: Vec<u8>,
}

impl SecretRecord {
    /// Whether this val gets it; code that is no val gets what every val gets.
    pub fn is_for(&self, val: Option<ValId>) -> bool {
        match (&self.secret.val_ids, val) {
            (None, _) => true,
            (Some(vals), Some(val)) => vals.contains(&val),
            (Some(_), None) => false,
        }
    }
}

impl TryFrom<secret::Model> for SecretRecord {
    type Error = StoreError;

    fn try_from(row: secret::Model) -> Result<Self, StoreError> {
        let ids = row
            .val_ids
            .map(|ids| ids.split_whitespace().map(str::parse).collect());
        let val_ids = ids
            .transpose()
            .map_err(|error| StoreError::Unreadable(format!("the vals of a secret: {error}")))?;
        Ok(Self {
            secret: Secret {
                name: rows::name(&row.name)?,
                val_ids,
                created_at: rows::time(row.created_at),
                updated_at: rows::time(row.updated_at),
            },
            sealed: row.sealed,
        })
    }
}

/// What to set of a secret.
struct Change {
    user_id: UserId,
    name: SecretName,
    sealed: Option<Vec<u8>>,
    val_ids: Option<Option<Vec<ValId>>>,
}

impl Store {
    /// All secrets of an account, by name.
    pub async fn list_secrets(&self, user_id: UserId) -> Result<Arc<Vec<SecretRecord>>, StoreError> {
        let secrets = &self.caches().secrets;
        if let Some(found) = secrets.get(&user_id) {
            return Ok(found);
        }
        let ticket = secrets.ticket(&user_id);
        let rows = secret::Entity::find()
            .filter(secret::Column::UserId.eq(user_id.0))
            .all(&self.vals().readers)
            .await?;
        let mut found = rows
            .into_iter()
            .map(SecretRecord::try_from)
            .collect::<Result<Vec<_>, _>>()?;
        found.sort_unstable_by(|one, other| one.secret.name.as_str().cmp(other.secret.name.as_str()));
        let found = Arc::new(found);
        secrets.fill(ticket, user_id, found.clone());
        Ok(found)
    }

    /// Sets what is given of a secret. Refused when there is none and no value is given for it, or when the account has
    /// too many.
    pub async fn set_secret(
        &self,
        user_id: UserId,
        name: &SecretName,
        sealed: Option<Vec<u8>>,
        val_ids: Option<Option<Vec<ValId>>>,
    ) -> Result<Secret, StoreError> {
        let change = Change {
            user_id,
            name: name.clone(),
            sealed,
            val_ids,
        };
        self.change_vals(
            change,
            |change, tx| Box::pin(write(change, tx)),
            move |caches, _| caches.secrets.remove(&user_id),
        )
        .await
    }

    /// Deletes a secret.
    pub async fn delete_secret(&self, user_id: UserId, name: &SecretName) -> Result<(), StoreError> {
        self.change_vals(
            (user_id.0, name.as_str().to_owned()),
            |key, tx| {
                Box::pin(async move {
                    let deleted = secret::Entity::delete_by_id(key.clone()).exec(tx).await?;
                    match deleted.rows_affected {
                        0 => Err(StoreError::NotFound("secret")),
                        _ => Ok(()),
                    }
                })
            },
            move |caches, ()| caches.secrets.remove(&user_id),
        )
        .await
    }
}

async fn write(change: &Change, tx: &DatabaseTransaction) -> Result<Secret, StoreError> {
    let key = (change.user_id.0, change.name.as_str().to_owned());
    let before = secret::Entity::find_by_id(key).one(tx).await?;
    let at = now().as_millis();
    let mut row = match (before, &change.sealed) {
        (Some(row), _) => row,
        (None, None) => return Err(StoreError::NotFound("secret")),
        (None, Some(sealed)) => {
            let of_user = secret::Entity::find().filter(secret::Column::UserId.eq(change.user_id.0));
            if of_user.count(tx).await? >= SECRETS_MAX {
                return Err(StoreError::TooMany {
                    what: "secrets",
                    most: SECRETS_MAX,
                });
            }
            secret::Model {
                user_id: change.user_id.0,
                name: change.name.as_str().to_owned(),
                sealed: sealed.clone(),
                val_ids: None,
                created_at: at,
                updated_at: at,
            }
        }
    };
    if let Some(sealed) = &change.sealed {
        row.sealed = sealed.clone();
    }
    if let Some(val_ids) = &change.val_ids {
        row.val_ids = val_ids.as_ref().map(|ids| {
            let ids: Vec<String> = ids.iter().map(ValId::to_string).collect();
            ids.join(" ")
        });
    }
    row.updated_at = at;
    let instead = OnConflict::columns([secret::Column::UserId, secret::Column::Name])
        .update_columns([
            secret::Column::Sealed,
            secret::Column::ValIds,
            secret::Column::UpdatedAt,
        ])
        .to_owned();
    secret::Entity::insert(row.clone().into_active_model())
        .on_conflict(instead)
        .exec_without_returning(tx)
        .await?;
    Ok(SecretRecord::try_from(row)?.secret)
}
