//! Where the bytes of blobs and mail are: in a folder, or in a bucket.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use object_store::{
    BackoffConfig, ClientOptions, ObjectStore, ObjectStoreExt, RetryConfig,
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    buffered::BufWriter,
    local::LocalFileSystem,
    path::Path as ObjectPath,
    prefix::PrefixStore,
};
use tokio::io::AsyncWriteExt;
use uuid::Uuid;

use crate::StoreError;

/// The folder of the objects in the data folder.
const FOLDER: &str = "blobs";
/// Bytes that are written to a file at a time.
const FILE_PART_BYTES: usize = 1 << 20;
/// Bytes that are sent to a bucket at a time; it takes no parts of less than 5 MiB.
const BUCKET_PART_BYTES: usize = 8 << 20;
/// How many such parts may be under way.
const PARTS_UNDER_WAY: usize = 2;
/// How often, and for how long, what a bucket did not answer is tried again.
const RETRIES: usize = 4;
const RETRY_FOR: Duration = Duration::from_secs(30);
/// How long a bucket may say nothing.
const SILENCE: Duration = Duration::from_secs(30);

/// A bucket that is spoken to as S3, or a folder of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Bucket {
    name: String,
    /// May be empty.
    folder: ObjectPath,
    /// How it is reached: `AWS_ENDPOINT` and the like.
    variables: Vec<(String, String)>,
}

impl Bucket {
    /// The bucket of an address like `s3://bucket/folder`, reached as those of the variables say whose names begin with
    /// `AWS_`; none for another address.
    pub fn parse(url: &str, variables: impl IntoIterator<Item = (String, String)>) -> Option<Self> {
        let place = url.strip_prefix("s3://")?;
        let (name, folder) = place.split_once('/').unwrap_or((place, ""));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if name.is_empty() || !name.chars().all(plain) {
            return None;
        }
        let ours = |(variable, _): &(String, String)| variable.starts_with("AWS_");
        Some(Self {
            name: name.to_owned(),
            folder: ObjectPath::parse(folder).ok()?,
            variables: variables.into_iter().filter(ours).collect(),
        })
    }

    /// Writes an object to the bucket, reads it and deletes it again, to see that this can be done.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.open()?.check(self).await
    }

    fn open(&self) -> Result<Objects, StoreError> {
        // That of the rest of the server; it is there already where something else has set it.
        let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let client = ClientOptions::new()
            // An answer may be large, and who reads it slow.
            .with_timeout_disabled()
            .with_read_timeout(SILENCE);
        let retries = RetryConfig {
            backoff: BackoffConfig::default(),
            max_retries: RETRIES,
            retry_timeout: RETRY_FOR,
        };
        let usual = AmazonS3Builder::new()
            .with_client_options(client)
            .with_retry(retries)
            // Not everything that speaks S3 knows how to delete several at once.
            .with_config(AmazonS3ConfigKey::DisableBulkDelete, "true");
        let known = |(variable, value): &(String, String)| {
            let key: AmazonS3ConfigKey = variable.to_ascii_lowercase().parse().ok()?;
            Some((key, value.clone()))
        };
        let bucket = self
            .variables
            .iter()
            .filter_map(known)
            .fold(usual, |builder, (key, value)| builder.with_config(key, value))
            .with_bucket_name(&self.name)
            .build()
            .map_err(|error| self.failed(&error))?;
        Ok(Objects {
            store: Arc::new(PrefixStore::new(bucket, self.folder.clone())),
            part_bytes: BUCKET_PART_BYTES,
            folder: None,
        })
    }

    fn failed(&self, cause: &object_store::Error) -> StoreError {
        StoreError::Objects(format!("the bucket {self} can't be used: {cause}"))
    }
}

/// Without the variables, which hold a key.
impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.name)?;
        if !self.folder.is_root() {
            write!(f, "/{}", self.folder)?;
        }
        Ok(())
    }
}

/// All objects.
pub(crate) struct Objects {
    pub(crate) store: Arc<dyn ObjectStore>,
    part_bytes: usize,
    /// Where they are files.
    pub(crate) folder: Option<PathBuf>,
}

impl Objects {
    /// Opens this bucket, or else the folder in the data folder, which is made if it isn't there.
    pub(crate) fn open(bucket: Option<&Bucket>, data_dir: &Path) -> Result<Self, StoreError> {
        if let Some(bucket) = bucket {
            return bucket.open();
        }
        let folder = data_dir.join(FOLDER);
        std::fs::create_dir_all(&folder)?;
        let files = LocalFileSystem::new_with_prefix(&folder).map_err(failed)?;
        Ok(Self {
            store: Arc::new(files.with_fsync(true)),
            part_bytes: FILE_PART_BYTES,
            folder: Some(folder),
        })
    }

    /// Begins to write an object.
    pub(crate) fn begin(&self, path: ObjectPath) -> Upload {
        let writer = BufWriter::with_capacity(self.store.clone(), path, self.part_bytes);
        Upload(Some(writer.with_max_concurrency(PARTS_UNDER_WAY)))
    }

    /// See [`Bucket::check`].
    pub(crate) async fn check(&self, bucket: &Bucket) -> Result<(), StoreError> {
        let path = ObjectPath::from_iter(["check".to_owned(), Uuid::now_v7().to_string()]);
        let tried = async {
            self.store
                .put(&path, Bytes::from_static(b"hamlet").into())
                .await?;
            self.store.get(&path).await?.bytes().await?;
            self.store.delete(&path).await
        };
        tried.await.map_err(|error| bucket.failed(&error))
    }
}

/// An object that is being written: there once it is finished, and given up, nothing is left of it.
pub(crate) struct Upload(Option<BufWriter>);

impl Upload {
    /// Adds bytes.
    pub(crate) async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
        match &mut self.0 {
            Some(writer) => writer.put(bytes).await.map_err(failed),
            None => Err(StoreError::Closed),
        }
    }

    /// Keeps what was written.
    pub(crate) async fn finish(mut self) -> Result<(), StoreError> {
        // From here on, what fails cleans up after itself.
        match self.0.take() {
            Some(mut writer) => writer.shutdown().await.map_err(failed),
            None => Err(StoreError::Closed),
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Some(mut writer) = self.0.take() else { return };
        // Without a runtime the process ends.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = writer.abort().await {
                    tracing::warn!(%error, "what was written of an unfinished blob could not be deleted");
                }
            });
        }
    }
}

pub(crate) fn failed(error: impl fmt::Display) -> StoreError {
    StoreError::Objects(format!("the bytes of blobs can't be used: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_bucket_and_a_folder_in_it() {
        let shown = |url: &str| Some(Bucket::parse(url, [])?.to_string());
        for url in ["s3://vals", "s3://my.vals/a/b"] {
            assert_eq!(shown(url).as_deref(), Some(url));
        }
        assert_eq!(shown("s3://vals/a/").as_deref(), Some("s3://vals/a"));
        for bad in [
            "",
            "vals",
            "s3://",
            "s3:///a",
            "https://vals.s3.amazonaws.com",
            "s3://a:b@vals",
        ] {
            assert_eq!(shown(bad), None, "{bad:?} must be refused");
        }
    }

    #[test]
    fn what_a_bucket_shows_of_itself_holds_no_key() {
        let variables = [
            ("AWS_SECRET_ACCESS_KEY", "sesame"),
            ("HAMLET_MAIL_RELAY", "other"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let bucket = Bucket::parse("s3://vals", variables).expect("a bucket");
        assert_eq!(bucket.variables.len(), 1);
        assert!(!format!("{bucket:?} {bucket}").contains("sesame"));
    }
}
