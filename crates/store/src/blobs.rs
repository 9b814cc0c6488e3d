//! Blobs: their keys and sizes are rows, their bytes are objects.
//!
//! Every write makes an object of its own, which the row then names: a reader never sees half of one, and no key has
//! to be a path.

mod sweep;

use std::io;

use bytes::Bytes;
use futures_util::{StreamExt, stream::BoxStream};
use hamlet_models::{Blob, BlobKey, UserId};
use object_store::{ObjectStoreExt, path::Path as ObjectPath};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
    sea_query::{Expr, ExprTrait, Func, OnConflict},
};
use uuid::Uuid;

use crate::{
    Store, StoreError,
    clock::{new_id, now},
    entity::blob,
    objects::{Upload, failed},
    rows,
};

/// A blob to read.
pub struct BlobContent {
    /// Its key, size and time.
    pub blob: Blob,
    /// Its bytes, as they are read.
    pub bytes: BoxStream<'static, Result<Bytes, io::Error>>,
}

/// A blob that is being written; given up, nothing is left of it.
pub struct BlobUpload {
    store: Store,
    user_id: UserId,
    object_id: Uuid,
    size: u64,
    upload: Upload,
}

impl Store {
    /// An account's blobs whose keys begin with `prefix`, by key.
    pub async fn list_blobs(&self, user_id: UserId, prefix: &str) -> Result<Vec<Blob>, StoreError> {
        // PostgreSQL refuses this character, which is in no key.
        if prefix.contains('\0') {
            return Ok(Vec::new());
        }
        let length = i32::try_from(prefix.chars().count()).unwrap_or(i32::MAX);
        // Not LIKE, which SQLite compares without regard to case.
        let beginning = Func::cust("substr")
            .arg(Expr::col(blob::Column::Key))
            .arg(1)
            .arg(length);
        let rows = blob::Entity::find()
            .filter(blob::Column::UserId.eq(user_id.0))
            .filter(Expr::expr(beginning).eq(prefix))
            .all(&self.vals().readers)
            .await?;
        let mut blobs = rows.iter().map(listed).collect::<Result<Vec<_>, _>>()?;
        blobs.sort_unstable_by(|one, other| one.key.as_str().cmp(other.key.as_str()));
        Ok(blobs)
    }

    /// An account's blob of this key, to be read.
    pub async fn get_blob(&self, user_id: UserId, key: &BlobKey) -> Result<BlobContent, StoreError> {
        loop {
            let row = find(user_id, key).one(&self.vals().readers).await?;
            let row = row.ok_or(StoreError::NotFound("blob"))?;
            match self.objects().get(&path(user_id, row.object_id)).await {
                Ok(object) => {
                    return Ok(BlobContent {
                        blob: listed(&row)?,
                        bytes: object
                            .into_stream()
                            .map(|bytes| bytes.map_err(io::Error::from))
                            .boxed(),
                    });
                }
                // Written anew in between: the row leads to another object now.
                Err(object_store::Error::NotFound { .. })
                    if find(user_id, key)
                        .one(&self.vals().readers)
                        .await?
                        .is_none_or(|latest| latest.object_id != row.object_id) => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Begins to write a blob of this account.
    pub fn begin_blob(&self, user_id: UserId) -> BlobUpload {
        let (object_id, _) = new_id();
        BlobUpload {
            store: self.clone(),
            user_id,
            object_id,
            size: 0,
            upload: self.begin_object(path(user_id, object_id)),
        }
    }

    /// Deletes an account's blob of this key.
    pub async fn delete_blob(&self, user_id: UserId, key: &BlobKey) -> Result<(), StoreError> {
        let object_id = self
            .change_vals(
                (user_id, key.clone()),
                |(user_id, key), tx| Box::pin(remove(*user_id, key, tx)),
                |_, _| (),
            )
            .await?;
        self.drop_object(user_id, object_id).await;
        Ok(())
    }

    async fn drop_object(&self, user_id: UserId, object_id: Uuid) {
        // No row leads to it any more: what stays behind goes with the next sweep.
        if let Err(error) = self.objects().delete(&path(user_id, object_id)).await {
            tracing::warn!(%error, "the bytes of a blob could not be deleted");
        }
    }
}

impl BlobUpload {
    /// Adds bytes.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        self.size += bytes.len() as u64;
        self.upload.write(bytes).await
    }

    /// How many bytes were added.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Keeps what was written under this key, in place of what was there. Refused where the account's blobs would take
    /// more than so many bytes with it.
    pub async fn keep(self, key: &BlobKey, most_bytes: u64) -> Result<(), StoreError> {
        self.upload.finish().await?;
        let row = blob::Model {
            user_id: self.user_id.0,
            key: key.as_str().to_owned(),
            object_id: self.object_id,
            size: i64::try_from(self.size).unwrap_or(i64::MAX),
            modified_at: now().as_millis(),
        };
        let replaced = self
            .store
            .change_vals(
                (row, most_bytes),
                |(row, most), tx| Box::pin(replace(row, *most, tx)),
                |_, _| (),
            )
            .await;
        match replaced {
            Ok(Some(object_id)) => self.store.drop_object(self.user_id, object_id).await,
            Ok(None) => {}
            Err(error) => {
                self.store.drop_object(self.user_id, self.object_id).await;
                return Err(error);
            }
        }
        Ok(())
    }
}

async fn replace(
    row: &blob::Model,
    most_bytes: u64,
    tx: &DatabaseTransaction,
) -> Result<Option<Uuid>, StoreError> {
    use blob::Column;
    let others: Option<Option<i64>> = blob::Entity::find()
        .select_only()
        // PostgreSQL's sum of such numbers is of another type.
        .column_as(Expr::cust("CAST(SUM(size) AS BIGINT)"), "size")
        .filter(Column::UserId.eq(row.user_id))
        .filter(Column::Key.ne(row.key.as_str()))
        .into_tuple()
        .one(tx)
        .await?;
    let size = others.flatten().unwrap_or(0).saturating_add(row.size);
    if u64::try_from(size).unwrap_or(u64::MAX) > most_bytes {
        return Err(StoreError::Full { most_bytes });
    }
    let before = blob::Entity::find_by_id((row.user_id, row.key.clone()))
        .one(tx)
        .await?;
    let instead = OnConflict::columns([Column::UserId, Column::Key])
        .update_columns([Column::ObjectId, Column::Size, Column::ModifiedAt])
        .to_owned();
    blob::Entity::insert(row.clone().into_active_model())
        .on_conflict(instead)
        .exec_without_returning(tx)
        .await?;
    Ok(before.map(|before| before.object_id))
}

async fn remove(user_id: UserId, key: &BlobKey, tx: &DatabaseTransaction) -> Result<Uuid, StoreError> {
    let row = find(user_id, key)
        .one(tx)
        .await?
        .ok_or(StoreError::NotFound("blob"))?;
    blob::Entity::delete_by_id((row.user_id, row.key))
        .exec(tx)
        .await?;
    Ok(row.object_id)
}

fn find(user_id: UserId, key: &BlobKey) -> sea_orm::Select<blob::Entity> {
    blob::Entity::find_by_id((user_id.0, key.as_str().to_owned()))
}

fn listed(row: &blob::Model) -> Result<Blob, StoreError> {
    Ok(Blob {
        key: rows::name(&row.key)?,
        size: u64::try_from(row.size).unwrap_or_default(),
        last_modified: rows::time(row.modified_at),
    })
}

fn path(user_id: UserId, object_id: Uuid) -> ObjectPath {
    ObjectPath::from_iter([user_id.to_string(), object_id.to_string()])
}
