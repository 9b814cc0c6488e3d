//! What can go wrong with durable things.

use std::{io, path::PathBuf};

use hamlet_models::VersionNumber;
use sea_orm::{DbErr, RuntimeErr, SqlErr};

use crate::mail_queue::{MAIL_MAX_BYTES, MAIL_MAX_MESSAGES};

/// Why the store didn't do what it was asked to. The refusals (the kinds before [`StoreError::InUse`]) are for the
/// person who asked; the rest is for the log. Each says all there is to say: none has a source, which whoever prints
/// the whole chain would print once more.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is none: the noun says of what.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// Another user, or another val of the same owner, has this name; case does not matter.
    #[error("the name {0} is taken")]
    NameTaken(String),
    /// A val keeps at least one version.
    #[error("a val's only version can't be deleted")]
    LastVersion,
    /// A save expected to follow one version, but the latest is another.
    #[error("the latest version is {latest}")]
    VersionMismatch {
        /// The version that is the latest.
        latest: VersionNumber,
    },
    /// There are as many as there may be.
    #[error("an account has at most {most} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// What is to be kept takes more room than there may be.
    #[error("an account's blobs take at most {} MB: delete some", most_bytes / 1_000_000)]
    Full {
        /// How much there may be.
        most_bytes: u64,
    },
    /// As much mail waits for an account's vals as may.
    #[error(
        "at most {MAIL_MAX_MESSAGES} messages and {} MB wait for an account's vals: try again later",
        MAIL_MAX_BYTES / 1_000_000
    )]
    TooMuchMail,
    /// Another server has the data folder.
    #[error("another server is running with the data folder {}: stop it, or choose another folder", .0.display())]
    InUse(PathBuf),
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
    /// The database failed, or can't be reached.
    #[error("the database failed: {0}")]
    Database(DbErr),
    /// A file or folder could not be used.
    #[error("the data folder can't be used: {0}")]
    Io(io::Error),
    /// The bytes of blobs and mail can't be written or read.
    #[error("{0}")]
    Objects(String),
    /// A row holds what this build can't read: a newer build wrote it, or someone changed it by hand.
    #[error("the database holds what can't be read: {0}")]
    Unreadable(String),
}

impl From<DbErr> for StoreError {
    fn from(error: DbErr) -> Self {
        Self::Database(error)
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl StoreError {
    /// Whether the caller was refused, as opposed to the store having failed.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NotFound(_)
            | Self::NameTaken(_)
            | Self::LastVersion
            | Self::VersionMismatch { .. }
            | Self::TooMany { .. }
            | Self::Full { .. }
            | Self::TooMuchMail => true,
            Self::InUse(_)
            | Self::Closed
            | Self::Database(_)
            | Self::Io(_)
            | Self::Objects(_)
            | Self::Unreadable(_) => false,
        }
    }

    /// The same failure once more, for each of several callers that it met.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::NotFound(what) => Self::NotFound(what),
            Self::NameTaken(name) => Self::NameTaken(name.clone()),
            Self::LastVersion => Self::LastVersion,
            Self::VersionMismatch { latest } => Self::VersionMismatch { latest: *latest },
            Self::TooMany { what, most } => Self::TooMany { what, most: *most },
            Self::Full { most_bytes } => Self::Full {
                most_bytes: *most_bytes,
            },
            Self::TooMuchMail => Self::TooMuchMail,
            Self::InUse(folder) => Self::InUse(folder.clone()),
            Self::Closed => Self::Closed,
            Self::Database(error) => Self::Database(DbErr::Custom(error.to_string())),
            Self::Io(error) => Self::Io(io::Error::new(error.kind(), error.to_string())),
            Self::Objects(what) => Self::Objects(what.clone()),
            Self::Unreadable(what) => Self::Unreadable(what.clone()),
        }
    }
}

/// Whether a statement failed because a row with the same unique key is there.
pub(crate) fn is_unique_conflict(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_)))
}

/// Whether a statement failed because the row that it refers to is gone.
pub(crate) fn is_missing_parent(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(SqlErr::ForeignKeyConstraintViolation(_)))
}

/// Whether the same work may succeed when it is tried again: PostgreSQL ends one of two transactions that wait for
/// each other or that can't be put in an order.
pub(crate) fn is_worth_a_retry(error: &StoreError) -> bool {
    let StoreError::Database(
        DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error)),
    ) = error
    else {
        return false;
    };
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some("40001" | "40P01"))
}
