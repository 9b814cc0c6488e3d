//! The tables, a module each. Ids are UUIDs, times are milliseconds since 1970, and enums are their words on the wire.
#![expect(unreachable_pub, reason = "the derive macros write `pub`")]

pub(crate) mod blob;
pub(crate) mod claimed_tick;
pub(crate) mod deleted_val;
pub(crate) mod last_run;
pub(crate) mod outbox;
pub(crate) mod queued_email;
pub(crate) mod run;
pub(crate) mod run_log;
pub(crate) mod schedule_hold;
pub(crate) mod secret;
pub(crate) mod session;
pub(crate) mod sign_in_link;
pub(crate) mod token;
pub(crate) mod user;
pub(crate) mod val;
pub(crate) mod version;
pub(crate) mod version_lock;
