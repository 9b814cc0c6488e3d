//! Where the store is, for the commands that work beside the server.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use hamlet_models::Username;
use hamlet_store::{Store, StoreError, StoreRole, UserRecord};

use crate::config::{Config, Settings};

/// Where the store is: as `hamlet serve` is told.
#[derive(Args)]
pub(super) struct StoreArgs {
    /// File of settings [default: ./hamlet.toml if there is one]
    #[arg(long, env = "HAMLET_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// The server's data folder [default: ./hamlet-data]
    #[arg(long, env = "HAMLET_DATA_DIR", value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// The server's PostgreSQL, if it uses one
    #[arg(long, env = "HAMLET_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: Option<String>,
}

impl StoreArgs {
    /// Opens the store beside a server that may be running.
    pub(super) async fn open(self) -> anyhow::Result<Store> {
        let settings = Settings {
            data_dir: self.data_dir,
            database_url: self.database_url,
            ..Settings::default()
        };
        let config = Config::try_from(settings.over_file(self.config.as_deref())?)?;
        Store::open(&config.store(StoreRole::Tool))
            .await
            .with_context(|| format!("can't open the store in {}", config.data_dir.display()))
    }
}

/// The account of this name, or a sentence that says how to make one.
pub(super) async fn find_user(store: &Store, name: &Username) -> anyhow::Result<std::sync::Arc<UserRecord>> {
    match store.find_user(name.as_str()).await {
        Err(StoreError::NotFound(_)) => bail!(
            "there is no user {name} here: make one with hamlet user create {name}, or name the right folder with \
             --data-dir"
        ),
        found => Ok(found?),
    }
}
