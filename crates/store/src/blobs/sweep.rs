//! Deleting what a crash left behind: objects that no row names.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

use super::FOLDER;
use crate::{
    Store, StoreError,
    entity::{self, blob, queued_email},
    mail_queue, outbox,
};

/// Younger files may belong to a write that goes on.
const OLD_ENOUGH: Duration = Duration::from_secs(24 * 60 * 60);

impl Store {
    /// Deletes the bytes of blobs that were never finished; answers how many files that were.
    pub async fn sweep_blobs(&self) -> Result<usize, StoreError> {
        let folder = self.data_dir().join(FOLDER);
        let mut swept = 0;
        for (user_id, folder) in aside(move || folders(&folder)).await? {
            let rows = blob::Entity::find()
                .filter(blob::Column::UserId.eq(user_id))
                .all(&self.vals().readers)
                .await?;
            let kept: HashSet<String> = rows.iter().map(|row| row.object_id.to_string()).collect();
            swept += aside(move || sweep(&folder, &kept)).await?;
        }
        for (name, kept) in [
            (mail_queue::FOLDER, ids_of_mail(self).await?),
            (outbox::FOLDER, ids_of_outbox(self).await?),
        ] {
            let folder = folder_of(self, name);
            swept += aside(move || sweep(&folder, &kept)).await?;
        }
        Ok(swept)
    }
}

fn folder_of(store: &Store, name: &str) -> PathBuf {
    store.data_dir().join(FOLDER).join(name)
}

async fn ids_of_mail(store: &Store) -> Result<HashSet<String>, StoreError> {
    let rows = queued_email::Entity::find().all(&store.vals().readers).await?;
    Ok(rows.iter().map(|row| row.id.to_string()).collect())
}

async fn ids_of_outbox(store: &Store) -> Result<HashSet<String>, StoreError> {
    use entity::outbox::{Column, Entity};
    let ids: Vec<Uuid> = Entity::find()
        .select_only()
        .column(Column::Id)
        .into_tuple()
        .all(&store.vals().readers)
        .await?;
    Ok(ids.iter().map(Uuid::to_string).collect())
}

/// The folders of accounts.
fn folders(folder: &Path) -> io::Result<Vec<(Uuid, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) {
            found.push((id, entry.path()));
        }
    }
    Ok(found)
}

/// Deletes old files that are not kept: unfinished ones have names of their own.
fn sweep(folder: &Path, kept: &HashSet<String>) -> io::Result<usize> {
    let mut swept = 0;
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let is_kept = entry.file_name().to_str().is_some_and(|name| kept.contains(name));
        let age = SystemTime::now().duration_since(entry.metadata()?.modified()?);
        if !is_kept && age.is_ok_and(|age| age > OLD_ENOUGH) {
            fs::remove_file(entry.path())?;
            swept += 1;
        }
    }
    Ok(swept)
}

async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(io::Error::other)??)
}
