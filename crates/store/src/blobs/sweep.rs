//! Deleting what a crash left behind: objects that no row names.

use std::{
    collections::HashSet,
    fs, io,
    path::Path,
    time::{Duration, SystemTime},
};

use futures_util::TryStreamExt;
use object_store::{ObjectMeta, ObjectStoreExt};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

use crate::{
    Store, StoreError,
    entity::{self, blob, queued_email},
    mail_queue,
    objects::failed,
    outbox,
};

/// Younger objects may belong to a write that goes on.
const OLD_ENOUGH: Duration = Duration::from_secs(24 * 60 * 60);

/// What is kept of a folder of objects.
struct Kept {
    folder: String,
    names: HashSet<String>,
}

impl Store {
    /// Deletes the bytes of blobs that were never finished; answers how many objects that were.
    pub async fn sweep_blobs(&self) -> Result<usize, StoreError> {
        let mut swept = 0;
        let mut kept: Option<Kept> = None;
        let mut objects = self.objects().list(None);
        while let Some(object) = objects.try_next().await.map_err(failed)? {
            let parts: Vec<String> = object
                .location
                .parts()
                .map(|part| part.as_ref().to_owned())
                .collect();
            // Of what is elsewhere, someone else knows what it is.
            let [folder, name] = parts.as_slice() else {
                continue;
            };
            if kept.as_ref().is_none_or(|kept| kept.folder != *folder) {
                let Some(names) = self.names_in(folder).await? else {
                    continue;
                };
                let folder = folder.clone();
                kept = Some(Kept { folder, names });
            }
            let is_kept = kept.as_ref().is_some_and(|kept| kept.names.contains(name));
            if !is_kept && is_old(&object) {
                self.objects().delete(&object.location).await.map_err(failed)?;
                swept += 1;
            }
        }
        if let Some(folder) = self.objects_folder() {
            let folder = folder.to_owned();
            let done = tokio::task::spawn_blocking(move || sweep_unfinished(&folder)).await;
            swept += done.map_err(io::Error::other)??;
        }
        Ok(swept)
    }

    /// The objects that a folder should have; none for a folder that isn't ours.
    async fn names_in(&self, folder: &str) -> Result<Option<HashSet<String>>, StoreError> {
        let ids = match folder {
            mail_queue::FOLDER => {
                let rows = queued_email::Entity::find()
                    .select_only()
                    .column(queued_email::Column::Id);
                rows.into_tuple().all(&self.vals().readers).await?
            }
            outbox::FOLDER => {
                use entity::outbox::{Column, Entity};
                let rows = Entity::find()
                    .select_only()
                    .column(Column::Id)
                    .filter(Column::SentAt.is_null());
                rows.into_tuple().all(&self.vals().readers).await?
            }
            user => {
                let Ok(user) = user.parse::<Uuid>() else {
                    return Ok(None);
                };
                let rows = blob::Entity::find()
                    .select_only()
                    .column(blob::Column::ObjectId)
                    .filter(blob::Column::UserId.eq(user));
                rows.into_tuple().all(&self.vals().readers).await?
            }
        };
        Ok(Some(ids.iter().map(Uuid::to_string).collect()))
    }
}

fn is_old(object: &ObjectMeta) -> bool {
    let age = SystemTime::now().duration_since(object.last_modified.into());
    age.is_ok_and(|age| age > OLD_ENOUGH)
}

/// Deletes old files that were never finished: they are no objects yet, and have names that no object has.
fn sweep_unfinished(objects: &Path) -> io::Result<usize> {
    let mut swept = 0;
    for folder in fs::read_dir(objects)? {
        let folder = folder?;
        if !folder.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(folder.path())? {
            let file = file?;
            let age = SystemTime::now().duration_since(file.metadata()?.modified()?);
            let is_unfinished = file.file_name().to_string_lossy().contains('#');
            if is_unfinished && age.is_ok_and(|age| age > OLD_ENOUGH) {
                fs::remove_file(file.path())?;
                swept += 1;
            }
        }
    }
    Ok(swept)
}
