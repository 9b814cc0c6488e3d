//! Versions: what each save left behind.

use std::sync::Arc;

use hamlet_models::{NewVersion, PageQuery, UserId, ValId, Version, VersionNumber};

use crate::{Slice, Store, StoreError, ValRecord};

/// What a save came to.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The val as it is now.
    pub val: Arc<ValRecord>,
    /// Whether there is a new version: none is made when nothing changed.
    pub created: bool,
}

impl Store {
    /// Saves a version; nothing happens when neither the code nor anything given with it differs from what there is.
    /// With `expected`, refused unless that is the latest version.
    pub async fn create_version(
        &self,
        val_id: ValId,
        author: UserId,
        new: &NewVersion,
        expected: Option<VersionNumber>,
    ) -> Result<Saved, StoreError> {
        todo!()
    }

    /// The val with the code of this version.
    pub async fn get_version(&self, val_id: ValId, version: VersionNumber) -> Result<Arc<ValRecord>, StoreError> {
        todo!()
    }

    /// A val's versions, newest first.
    pub async fn list_versions(&self, val_id: ValId, page: PageQuery) -> Result<Slice<Version>, StoreError> {
        todo!()
    }

    /// Deletes a version; the highest that remains becomes the latest. Refused when it is the only one.
    pub async fn delete_version(&self, val_id: ValId, version: VersionNumber) -> Result<(), StoreError> {
        todo!()
    }
}
