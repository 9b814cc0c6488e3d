//! A store to test, with what most tests need of it.

use std::{ops::Deref, path::Path, sync::Arc};

use hamlet_models::{
    LogLevel, LogLine, LogStream, MeUpdate, NewVal, NewVersion, PageQuery, Privacy, RunId, RunStatus,
    Timestamp, Trigger, UserId, ValFilter, ValId,
};
use hamlet_store::{
    NewUser, RunRecord, RunWrite, Store, StoreConfig, StoreError, StoreRole, UserRecord, ValRecord, ValScope,
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::postgres;

/// Makes a test of this function on each kind of database.
macro_rules! both {
    ($name:ident) => {
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                super::$name(crate::harness::TestStore::on_sqlite().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                if let Some(store) = crate::harness::TestStore::on_postgres().await {
                    super::$name(store).await;
                }
            }
        }
    };
}

/// A server's store in a folder, or a schema, of its own.
pub(crate) struct TestStore {
    store: Store,
    config: StoreConfig,
    folder: TempDir,
}

impl Deref for TestStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl TestStore {
    pub(crate) async fn on_sqlite() -> Self {
        Self::open(None).await
    }

    /// None where PostgreSQL isn't installed.
    pub(crate) async fn on_postgres() -> Option<Self> {
        let url = postgres::new_schema().await?;
        Some(Self::open(Some(url)).await)
    }

    async fn open(database_url: Option<String>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = StoreConfig {
            data_dir: folder.path().join("data"),
            database_url,
            bucket: None,
            role: StoreRole::Server,
        };
        let store = Store::open(&config).await.expect("a store");
        Self {
            store,
            config,
            folder,
        }
    }

    /// The folder of the store.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.config.data_dir
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self.config.database_url.is_none()
    }

    /// The same store, closed and opened again.
    pub(crate) async fn reopened(self) -> Self {
        self.store.close().await.expect("closed");
        let store = Store::open(&self.config).await.expect("opened again");
        Self { store, ..self }
    }

    /// What a command line opens beside this server.
    pub(crate) async fn tool(&self) -> Store {
        let config = StoreConfig {
            role: StoreRole::Tool,
            ..self.config.clone()
        };
        Store::open(&config).await.expect("a tool's store")
    }

    /// What a second server would get.
    pub(crate) async fn second_server(&self) -> Result<Store, StoreError> {
        Store::open(&self.config).await
    }

    /// Gives the folder up to whoever looks at its files next.
    pub(crate) async fn into_folder(self) -> TempDir {
        self.store.close().await.expect("closed");
        self.folder
    }

    pub(crate) async fn user(&self, name: &str) -> UserRecord {
        let new = NewUser {
            username: name.parse().expect("a username"),
            admin: false,
            password_hash: None,
        };
        self.create_user(&new).await.expect("a user")
    }

    pub(crate) async fn val(&self, owner: &UserRecord, name: &str, privacy: Privacy) -> Arc<ValRecord> {
        let new = NewVal {
            privacy: Some(privacy),
            ..new_val(name, "1")
        };
        self.create_val(owner.id, &new).await.expect("a val")
    }

    pub(crate) async fn save(&self, val: &ValRecord, code: &str) -> Arc<ValRecord> {
        let saved = self
            .create_version(val.id, val.owner.id, &NewVersion::of_code(code), None)
            .await;
        saved.expect("a version").val
    }

    pub(crate) async fn rename(&self, user: UserId, name: &str) -> Result<Arc<UserRecord>, StoreError> {
        let update = MeUpdate {
            username: Some(name.parse().expect("a username")),
            ..MeUpdate::default()
        };
        self.update_user(user, &update).await
    }

    /// The names of the first hundred vals of a list.
    pub(crate) async fn names(&self, scope: ValScope, filter: &ValFilter) -> Vec<String> {
        let vals = self
            .list_vals(&scope, filter, page(0, 100))
            .await
            .expect("a list");
        vals.items.iter().map(|val| val.name.to_string()).collect()
    }

    pub(crate) async fn write(&self, record: RunRecord, logs: &[&str]) {
        let logs = logs.iter().map(|message| line(message)).collect();
        let write = RunWrite {
            record: Arc::new(record),
            logs,
            input: None,
        };
        self.write_runs(vec![write]).await.expect("written");
    }
}

pub(crate) fn new_val(name: &str, code: &str) -> NewVal {
    NewVal {
        name: Some(name.parse().expect("a val's name")),
        ..NewVal::of_code(code)
    }
}

/// A val that nobody made.
pub(crate) fn no_val() -> ValId {
    Uuid::now_v7().into()
}

pub(crate) fn page(offset: u64, limit: u64) -> PageQuery {
    PageQuery { offset, limit }
}

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + millis)
}

/// A time that no test lives to see.
pub(crate) fn far_future() -> Timestamp {
    Timestamp::from_millis(i64::MAX)
}

pub(crate) fn long_ago() -> Timestamp {
    Timestamp::from_millis(0)
}

pub(crate) fn line(message: &str) -> LogLine {
    LogLine {
        time: at(0),
        level: LogLevel::Info,
        message: message.to_owned(),
        stream: LogStream::Console,
    }
}

/// A run of this val that began then and ended well.
pub(crate) fn run_of(val: &ValRecord, started_at: Timestamp) -> RunRecord {
    let id = RunId(Uuid::now_v7());
    RunRecord {
        val_id: Some(val.id),
        val_name: Some(val.name.clone()),
        version: Some(val.version),
        status: RunStatus::Ok,
        ended_at: Some(started_at),
        duration_ms: Some(1.5),
        ..RunRecord::queued(id, val.owner.clone(), Trigger::Run, started_at)
    }
}
