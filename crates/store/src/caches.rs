//! What a server keeps in memory, and finding out when something outside it has changed that.

use std::sync::Arc;

use hamlet_models::{UserId, ValId};

use crate::{
    SecretHash, SecretRecord, UserRecord, ValRecord, beacon::Lookout, cache::Cache, sessions::Session,
    tokens::KnownToken,
};

/// Bytes of vals, by far the largest things here.
const VALS_BYTES: u64 = 64 << 20;
/// Bytes of everything else, each.
const OTHER_BYTES: u64 = 4 << 20;
/// What an entry takes beside its texts, about.
const ENTRY_BYTES: usize = 512;

pub(crate) struct Caches {
    pub(crate) users: Cache<UserId, Arc<UserRecord>>,
    pub(crate) tokens: Cache<SecretHash, Arc<KnownToken>>,
    /// All of an account's, since a run needs them all.
    pub(crate) secrets: Cache<UserId, Arc<Vec<SecretRecord>>>,
    pub(crate) sessions: Cache<SecretHash, Session>,
    pub(crate) vals: Cache<ValId, Arc<ValRecord>>,
    /// Where a user or val of some name was last seen: a hint to be checked against the record, so that nobody has
    /// to take it back when a name moves on.
    pub(crate) usernames: Cache<String, UserId>,
    pub(crate) val_names: Cache<String, ValId>,
    lookout: Option<Lookout>,
}

impl Caches {
    /// The caches of the one server of a folder.
    pub(crate) fn on(lookout: Lookout) -> Self {
        Self {
            users: Cache::new(OTHER_BYTES, |user| ENTRY_BYTES + user.texts_len()),
            tokens: Cache::new(OTHER_BYTES, |_| ENTRY_BYTES),
            secrets: Cache::new(OTHER_BYTES, |secrets| {
                ENTRY_BYTES
                    + secrets
                        .iter()
                        .map(|secret| ENTRY_BYTES + secret.sealed.len())
                        .sum::<usize>()
            }),
            sessions: Cache::new(OTHER_BYTES, |_| ENTRY_BYTES),
            vals: Cache::new(VALS_BYTES, |val| ENTRY_BYTES + val.texts_len()),
            usernames: Cache::new(OTHER_BYTES, |_| ENTRY_BYTES),
            val_names: Cache::new(OTHER_BYTES, |_| ENTRY_BYTES),
            lookout: Some(lookout),
        }
    }

    /// No caches: others may change what is stored at any time.
    pub(crate) fn off() -> Self {
        Self {
            users: Cache::off(),
            tokens: Cache::off(),
            secrets: Cache::off(),
            sessions: Cache::off(),
            vals: Cache::off(),
            usernames: Cache::off(),
            val_names: Cache::off(),
            lookout: None,
        }
    }

    /// Forgets everything if the command line has changed something since the last look.
    pub(crate) fn refresh(&self) {
        if let Some(lookout) = &self.lookout {
            lookout.look(|| self.forget());
        }
    }

    /// Forgets everything; the hints are checked whenever they are used.
    pub(crate) fn forget(&self) {
        self.users.clear();
        self.tokens.clear();
        self.secrets.clear();
        self.sessions.clear();
        self.vals.clear();
    }
}
