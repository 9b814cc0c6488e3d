//! Everything durable in Hamlet, over SQLite or PostgreSQL; the only crate that knows SQL.
//!
//! A [`Store`] answers records and knows no addresses. A write that was answered is durable. On SQLite, vals and what
//! belongs to them live in `hamlet.db`, runs in `runs.db`; on PostgreSQL both live in the one database that the
//! address names. An [`AccountDatabase`] is a file either way.

mod error;
mod store;

mod runs;
mod schedules;
mod secrets;
mod sessions;
mod tokens;
mod users;
mod vals;
mod versions;

mod account_database;
mod blobs;
mod locks;
mod mail_queue;
mod outbox;

mod beacon;
mod cache;
mod caches;
mod clock;
mod database;
mod diff;
mod entity;
mod migration;
mod objects;
mod rows;
mod turns;
mod writer;

pub use account_database::{
    ANSWER_MAX_BYTES, AccountDatabase, BATCH_MAX_STATEMENTS, SQL_MAX_BYTES, SqlError, SqlLimits,
    VALUE_MAX_BYTES,
};
pub use blobs::{BlobContent, BlobUpload};
pub use error::StoreError;
pub use locks::LockRecord;
pub use mail_queue::{IncomingEmail, MAIL_MAX_BYTES, MAIL_MAX_MESSAGES, QueuedEmail};
pub use objects::Bucket;
pub use outbox::WaitingEmail;
pub use runs::{KeptInput, RunRecord, RunScope, RunWrite};
pub use schedules::{ClaimedTick, DueTick, InvalidSchedule, Ticks};
pub use secrets::{SECRETS_MAX, SecretRecord};
pub use store::{SecretHash, Slice, Store, StoreConfig, StoreRole, hash_secret};
pub use tokens::TokenGrant;
pub use turns::Turns;
pub use users::{NewUser, UserRecord};
pub use vals::{ScheduleRecord, ValRecord, ValScope};
pub use versions::Saved;
