//! What the imports of versions were locked to, as the runtime wrote it.

use hamlet_models::{ValId, VersionNumber};
use sea_orm::{
    DatabaseTransaction, EntityTrait, IntoActiveModel,
    sea_query::{Expr, ExprTrait, OnConflict},
};

use crate::{
    Store, StoreError,
    entity::{version, version_lock},
    error::is_missing_parent,
};

/// What one version's imports were locked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRecord {
    /// The text of the lock.
    pub text: String,
    /// Whether it has everything that the version imports.
    pub complete: bool,
}

impl From<version_lock::Model> for LockRecord {
    fn from(row: version_lock::Model) -> Self {
        Self {
            text: row.lock,
            complete: row.complete,
        }
    }
}

impl Store {
    /// What this version's imports are locked to; nothing if they never were.
    pub async fn version_lock(
        &self,
        val_id: ValId,
        version: VersionNumber,
    ) -> Result<Option<LockRecord>, StoreError> {
        let row = version_lock::Entity::find_by_id((val_id.0, i64::from(version)))
            .one(&self.vals().readers)
            .await?;
        Ok(row.map(Into::into))
    }

    /// Keeps a lock for as long as there is its version, unless a complete one is kept already; gives the one that is in
    /// force.
    pub async fn keep_version_lock(
        &self,
        val_id: ValId,
        version: VersionNumber,
        lock: LockRecord,
    ) -> Result<LockRecord, StoreError> {
        let row = version_lock::Model {
            val_id: val_id.0,
            version: version.into(),
            lock: lock.text.clone(),
            complete: lock.complete,
        };
        let kept = self
            .change_vals(row, |row, tx| Box::pin(keep(row, tx)), |_, _| ())
            .await?;
        Ok(kept.unwrap_or(lock))
    }
}

async fn keep(row: &version_lock::Model, tx: &DatabaseTransaction) -> Result<Option<LockRecord>, StoreError> {
    use version_lock::{Column, Entity};
    let id = (row.val_id, row.version);
    if version::Entity::find_by_id(id).one(tx).await?.is_none() {
        return Ok(None);
    }
    let incomplete = Expr::col((Entity, Column::Complete)).eq(false);
    let unless_complete = OnConflict::columns([Column::ValId, Column::Version])
        .update_columns([Column::Lock, Column::Complete])
        .action_and_where(incomplete)
        .to_owned();
    let inserted = Entity::insert(row.clone().into_active_model())
        .on_conflict(unless_complete)
        .exec_without_returning(tx)
        .await;
    match inserted {
        // Deleted in between.
        Err(error) if is_missing_parent(&error) => Err(StoreError::NotFound("version")),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(Entity::find_by_id(id).one(tx).await?.map(Into::into)),
    }
}
