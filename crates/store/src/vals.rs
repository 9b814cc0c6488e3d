//! Vals: what there is to say of them beside the code of their older versions.

use std::sync::Arc;

use hamlet_models::{
    Author, NewVal, PageQuery, Privacy, PutVal, Timestamp, UserId, ValFilter, ValId, ValKind, ValName, ValUpdate,
    VersionNumber,
};

use crate::{Slice, Store, StoreError};

/// A val with the code of one of its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValRecord {
    /// Names the val for ever.
    pub id: ValId,
    /// Whose it is.
    pub owner: Author,
    /// What its owner calls it.
    pub name: ValName,
    /// What starts it.
    pub kind: ValKind,
    /// Who may see it.
    pub privacy: Privacy,
    /// A text about it, in Markdown.
    pub readme: Option<String>,
    /// Whether others may call it through `/v1/run`.
    pub callable: bool,
    /// When it runs; vals of kind interval only.
    pub schedule: Option<ScheduleRecord>,
    /// The version whose code this is.
    pub version: VersionNumber,
    /// The latest version.
    pub latest: VersionNumber,
    /// The code of `version`.
    pub code: Arc<str>,
    /// When the val was made.
    pub created_at: Timestamp,
    /// When the val was last changed.
    pub updated_at: Timestamp,
    /// When `version` was saved.
    pub version_created_at: Timestamp,
}

/// When a val runs by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRecord {
    /// A cron expression or an interval, as its owner wrote it.
    pub cron: String,
    /// The IANA name of the time zone in which it is read.
    pub timezone: String,
    /// Whether it is held back.
    pub paused: bool,
    /// When it last ran; none before the first time.
    pub last_run_at: Option<Timestamp>,
}

/// Which vals a list may show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValScope {
    /// Only vals of this user.
    pub owner: Option<UserId>,
    /// Who looks: they find all of their own vals, and the public ones of others.
    pub viewer: Option<UserId>,
}

impl Store {
    /// Makes a val with version 0; refused when its owner has one of that name. Without a name, a readable one is
    /// made up.
    pub async fn create_val(&self, owner: UserId, new: &NewVal) -> Result<Arc<ValRecord>, StoreError> {
        todo!()
    }

    /// The val of this id, with its latest code.
    pub async fn get_val(&self, id: ValId) -> Result<Arc<ValRecord>, StoreError> {
        todo!()
    }

    /// The val of this owner and name, in any case, with its latest code.
    pub async fn find_val(&self, username: &str, name: &str) -> Result<Arc<ValRecord>, StoreError> {
        todo!()
    }

    /// Makes a val of this name, or saves a new version of the one there is.
    pub async fn put_val(&self, owner: UserId, put: &PutVal) -> Result<Arc<ValRecord>, StoreError> {
        todo!()
    }

    /// Changes what is given of a val; refused when its owner has another of the new name.
    pub async fn update_val(&self, id: ValId, update: &ValUpdate) -> Result<Arc<ValRecord>, StoreError> {
        todo!()
    }

    /// Notes when a scheduled val last ran.
    pub async fn set_schedule_ran(&self, id: ValId, at: Timestamp) -> Result<(), StoreError> {
        todo!()
    }

    /// Deletes a val with its versions; its runs follow soon after.
    pub async fn delete_val(&self, id: ValId) -> Result<(), StoreError> {
        todo!()
    }

    /// The vals that the scope shows, newest first.
    pub async fn list_vals(
        &self,
        scope: &ValScope,
        filter: &ValFilter,
        page: PageQuery,
    ) -> Result<Slice<Arc<ValRecord>>, StoreError> {
        todo!()
    }

    /// The vals that the scope shows and that were made before this time, newest first. Vals made in the same
    /// millisecond come together, so that the last one's `created_at` is where the next call goes on: that may make
    /// the slice shorter than `limit`, or longer when more vals than that share one millisecond.
    pub async fn list_vals_before(
        &self,
        scope: &ValScope,
        filter: &ValFilter,
        before: Option<Timestamp>,
        limit: u64,
    ) -> Result<Slice<Arc<ValRecord>>, StoreError> {
        todo!()
    }
}
