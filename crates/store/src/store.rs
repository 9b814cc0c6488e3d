//! The store: opening, looking after and closing it.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use object_store::{ObjectStore, path::Path as ObjectPath};
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, EntityTrait, TransactionTrait};
use sea_orm_migration::MigratorTrait;
use sha2::{Digest, Sha256};

use crate::{
    StoreError,
    beacon::{Beacon, Lookout},
    caches::Caches,
    database::{SqliteFile, connect_postgres},
    entity::{run, user},
    migration::{RunsMigrator, ValsMigrator},
    objects::{Bucket, Objects, Upload},
    writer::{BoxFuture, Results, Writer},
};

/// The key of the lock under which PostgreSQL's schema is changed: one node at a time.
const MIGRATION_LOCK: i64 = 0x6861_6d6c_6574;

/// Where the store is and what it is opened for.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// The folder of everything durable; made if it isn't there.
    pub data_dir: PathBuf,
    /// A PostgreSQL database (`postgres://…`) to use instead of SQLite files in `data_dir`.
    pub database_url: Option<String>,
    /// A bucket to keep the bytes of blobs and mail in, instead of files in `data_dir`.
    pub bucket: Option<Bucket>,
    /// What opens it.
    pub role: StoreRole,
}

/// What opens a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreRole {
    /// A server. On SQLite it is the only one of its folder, and keeps what it reads in memory.
    Server,
    /// The command line, also beside a running server, which sees what it changed at once.
    Tool,
}

/// A handle on everything durable; cheap to clone.
#[derive(Clone)]
pub struct Store {
    parts: Arc<Parts>,
}

struct Parts {
    vals: Side,
    runs: Side,
    caches: Caches,
    objects: Objects,
    /// Held by the one server of a folder.
    lock: Mutex<Option<File>>,
}

/// One database, or on PostgreSQL one half of it.
pub(crate) struct Side {
    pub(crate) readers: DatabaseConnection,
    pub(crate) writer: Writer,
}

/// Part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice<T> {
    /// The items.
    pub items: Vec<T>,
    /// Whether more follow.
    pub more: bool,
}

impl<T> Slice<T> {
    /// Cuts the one item that was fetched too many to see whether there is more.
    pub(crate) fn cut(mut items: Vec<T>, limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        Self { items, more }
    }

    /// Makes each item into another, or fails with the first that can't be.
    pub(crate) fn try_map<U>(
        self,
        make: impl FnMut(T) -> Result<U, StoreError>,
    ) -> Result<Slice<U>, StoreError> {
        let items = self.items.into_iter().map(make).collect::<Result<_, _>>()?;
        Ok(Slice {
            items,
            more: self.more,
        })
    }
}

/// The SHA-256 of a token's, session's or link's secret: all that is kept of it.
pub type SecretHash = [u8; 32];

/// The hash under which a secret is kept and found.
pub fn hash_secret(secret: &str) -> SecretHash {
    Sha256::digest(secret.as_bytes()).into()
}

impl Store {
    /// Opens the store, making the folder (for its owner alone), the files and the tables that are missing.
    ///
    /// A server's bucket has to be there and to take what is written to it.
    pub async fn open(config: &StoreConfig) -> Result<Self, StoreError> {
        make_folder(&config.data_dir)?;
        let objects = Objects::open(config.bucket.as_ref(), &config.data_dir)?;
        if let (StoreRole::Server, Some(bucket)) = (config.role, &config.bucket) {
            objects.check(bucket).await?;
        }
        let parts = match &config.database_url {
            Some(url) => open_postgres(url, objects).await?,
            None => open_sqlite(&config.data_dir, config.role, objects).await?,
        };
        Ok(Self {
            parts: Arc::new(parts),
        })
    }

    /// Asks each database a question, to see that it answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        user::Entity::find().one(&self.vals().readers).await?;
        run::Entity::find().one(&self.runs().readers).await?;
        Ok(())
    }

    /// Waits for the writes under way and closes the files; what is asked of the store afterwards fails.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.parts.caches.forget();
        for side in [self.vals(), self.runs()] {
            side.writer.close().await?;
            side.readers.clone().close().await?;
        }
        self.parts
            .lock
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        Ok(())
    }

    /// Users, tokens, sessions, vals and versions.
    pub(crate) fn vals(&self) -> &Side {
        &self.parts.vals
    }

    /// Runs and their logs.
    pub(crate) fn runs(&self) -> &Side {
        &self.parts.runs
    }

    /// The bytes of blobs and mail.
    pub(crate) fn objects(&self) -> &dyn ObjectStore {
        &*self.parts.objects.store
    }

    /// Begins to write such bytes.
    pub(crate) fn begin_object(&self, path: ObjectPath) -> Upload {
        self.parts.objects.begin(path)
    }

    /// The folder of those bytes, where they are files.
    pub(crate) fn objects_folder(&self) -> Option<&Path> {
        self.parts.objects.folder.as_deref()
    }

    /// What is kept in memory, right now.
    pub(crate) fn caches(&self) -> &Caches {
        self.parts.caches.refresh();
        &self.parts.caches
    }

    /// Changes vals and what belongs to them; see [`Writer::write`]. `committed` brings the caches up to date.
    pub(crate) async fn change_vals<I, T, W, C>(
        &self,
        input: I,
        work: W,
        committed: C,
    ) -> Result<T, StoreError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        W: for<'a> Fn(&'a I, &'a DatabaseTransaction) -> BoxFuture<'a, Result<T, StoreError>>
            + Send
            + Sync
            + 'static,
        C: FnOnce(&Caches, &T) + Send + 'static,
    {
        let committed = self.on_caches(committed);
        self.vals().writer.write(input, work, committed).await
    }

    /// As [`Store::change_vals`], together with other such changes; see [`Writer::write_shared`].
    pub(crate) async fn change_vals_shared<I, T, W, C>(
        &self,
        input: I,
        work: W,
        committed: C,
    ) -> Result<T, StoreError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        W: for<'a> Fn(&'a [I], &'a DatabaseTransaction) -> BoxFuture<'a, Results<T>>
            + Clone
            + Send
            + Sync
            + 'static,
        C: FnOnce(&Caches, &T) + Send + 'static,
    {
        let committed = self.on_caches(committed);
        self.vals().writer.write_shared(input, work, committed).await
    }

    fn on_caches<T>(
        &self,
        committed: impl FnOnce(&Caches, &T) + Send + 'static,
    ) -> impl FnOnce(&T) + Send + 'static {
        let parts = Arc::downgrade(&self.parts);
        move |value: &T| {
            // Without a store there are no caches to be wrong.
            if let Some(parts) = parts.upgrade() {
                committed(&parts.caches, value);
            }
        }
    }

    /// Changes runs; see [`Writer::write`].
    pub(crate) async fn change_runs<I, T, W>(&self, input: I, work: W) -> Result<T, StoreError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        W: for<'a> Fn(&'a I, &'a DatabaseTransaction) -> BoxFuture<'a, Result<T, StoreError>>
            + Send
            + Sync
            + 'static,
    {
        self.runs().writer.write(input, work, |_| ()).await
    }
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    Ok(builder.create(path)?)
}

async fn open_sqlite(data_dir: &Path, role: StoreRole, objects: Objects) -> Result<Parts, StoreError> {
    let lock = match role {
        StoreRole::Server => Some(lock_folder(data_dir)?),
        StoreRole::Tool => None,
    };
    let beacon = Beacon::open(data_dir)?;
    let vals = SqliteFile {
        path: data_dir.join("hamlet.db"),
        durable: true,
        shrinks: false,
        readers: 4,
    };
    let runs = SqliteFile {
        path: data_dir.join("runs.db"),
        durable: false,
        shrinks: true,
        readers: 2,
    };
    let (vals_writer, runs_writer) = connect_and_migrate(data_dir, &vals, &runs).await?;
    let (caches, beacon) = match role {
        StoreRole::Server => (Caches::on(Lookout::new(beacon)), None),
        StoreRole::Tool => (Caches::off(), Some(beacon)),
    };
    Ok(Parts {
        vals: Side {
            readers: vals.connect_readers().await?,
            writer: Writer::grouped(vals_writer, beacon)?,
        },
        runs: Side {
            readers: runs.connect_readers().await?,
            writer: Writer::grouped(runs_writer, None)?,
        },
        caches,
        objects,
        lock: Mutex::new(lock),
    })
}

async fn open_postgres(url: &str, objects: Objects) -> Result<Parts, StoreError> {
    let pool = connect_postgres(url).await?;
    let transaction = pool.begin().await?;
    transaction
        .execute_unprepared(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
        .await?;
    ValsMigrator::up(&transaction, None).await?;
    RunsMigrator::up(&transaction, None).await?;
    transaction.commit().await?;
    let side = || Side {
        readers: pool.clone(),
        writer: Writer::pooled(pool.clone()),
    };
    Ok(Parts {
        vals: side(),
        runs: side(),
        caches: Caches::off(),
        objects,
        lock: Mutex::new(None),
    })
}

/// Makes this process the folder's one server, for as long as the file is open.
fn lock_folder(data_dir: &Path) -> Result<File, StoreError> {
    let file = open_lock(data_dir, "server.lock")?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(data_dir.to_owned())),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Makes both files or brings them up to date. A server and a command line that start at once do so one after the other:
/// also the journal that a new file is given can't be set by two.
async fn connect_and_migrate(
    data_dir: &Path,
    vals: &SqliteFile,
    runs: &SqliteFile,
) -> Result<(DatabaseConnection, DatabaseConnection), StoreError> {
    let file = open_lock(data_dir, "migration.lock")?;
    let locked = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await;
    let _held = locked.map_err(std::io::Error::other)??;
    let (vals, runs) = (vals.connect_writer().await?, runs.connect_writer().await?);
    ValsMigrator::up(&vals, None).await?;
    RunsMigrator::up(&runs, None).await?;
    Ok((vals, runs))
}

fn open_lock(data_dir: &Path, name: &str) -> Result<File, StoreError> {
    let path = data_dir.join(name);
    Ok(File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_by_its_sha_256() {
        let hex: String = hash_secret("abc")
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            hex,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn a_slice_says_whether_more_follows() {
        assert_eq!(
            Slice::cut(vec![1, 2, 3], 2),
            Slice {
                items: vec![1, 2],
                more: true
            }
        );
        assert_eq!(
            Slice::cut(vec![1, 2], 2),
            Slice {
                items: vec![1, 2],
                more: false
            }
        );
    }
}
