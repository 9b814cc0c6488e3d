//! The vals that a val may import: those that its author may read, and the standard library.

use std::sync::Arc;

use futures_util::{FutureExt, future::BoxFuture};
use hamlet_models::{Privacy, UserId, ValId};
use hamlet_runtime::{BoxError, ImportLock, ModuleSource, Program, ProgramKey, ValReference};
use hamlet_store::{LockRecord, Store, StoreError, ValRecord};

use crate::{present::Links, standard_library};

/// The vals of this instance as one author sees them.
pub(super) struct AuthorModules {
    store: Store,
    links: Links,
    author: UserId,
}

impl AuthorModules {
    pub(super) fn new(store: Store, links: Links, author: UserId) -> Self {
        Self { store, links, author }
    }

    async fn find(&self, reference: &ValReference) -> Result<Option<Program>, StoreError> {
        if reference.username == standard_library::OWNER {
            return Ok(standard_library::program(&self.links, &reference.name));
        }
        let Some(val) = found(self.store.find_val(&reference.username, &reference.name).await)? else {
            return Ok(None);
        };
        if val.privacy == Privacy::Private && val.owner.id != self.author {
            return Ok(None);
        }
        let val = match reference.version {
            Some(version) if version != val.version => found(self.store.get_version(val.id, version).await)?,
            Some(_) | None => Some(val),
        };
        Ok(val.map(|val| program(&self.links, &val)))
    }
}

impl ModuleSource for AuthorModules {
    fn module<'a>(&'a self, reference: &'a ValReference) -> BoxFuture<'a, Result<Option<Program>, BoxError>> {
        self.find(reference)
            .map(|found| found.map_err(Into::into))
            .boxed()
    }

    /// Nobody else is asked for a user's vals where that user has an account: whether one of them is hidden or not there
    /// would show, and who has the name elsewhere may be someone else. The standard library is the instance's own.
    fn may_be_elsewhere<'a>(&'a self, reference: &'a ValReference) -> BoxFuture<'a, Result<bool, BoxError>> {
        let asked = async move {
            if reference.username.eq_ignore_ascii_case(standard_library::OWNER) {
                return Ok(false);
            }
            match self.store.find_user(&reference.username).await {
                Ok(_) => Ok(false),
                Err(StoreError::NotFound(_)) => Ok(true),
                Err(error) => Err(error.into()),
            }
        };
        asked.boxed()
    }

    fn lock<'a>(&'a self, program: &'a ProgramKey) -> BoxFuture<'a, Result<Option<ImportLock>, BoxError>> {
        let ProgramKey::Version(id, version) = program else {
            return async { Ok(None) }.boxed();
        };
        let kept = self.store.version_lock(*id, *version);
        kept.map(|kept| Ok(kept?.map(import_lock))).boxed()
    }

    fn keep_lock<'a>(
        &'a self,
        program: &'a ProgramKey,
        lock: ImportLock,
    ) -> BoxFuture<'a, Result<ImportLock, BoxError>> {
        let ProgramKey::Version(id, version) = program else {
            return async { Ok(lock) }.boxed();
        };
        let record = LockRecord {
            text: lock.text.to_string(),
            complete: lock.complete,
        };
        let kept = self.store.keep_version_lock(*id, *version, record);
        kept.map(|kept| Ok(import_lock(kept?))).boxed()
    }
}

fn import_lock(record: LockRecord) -> ImportLock {
    ImportLock {
        text: record.text.into(),
        complete: record.complete,
    }
}

fn found(val: Result<Arc<ValRecord>, StoreError>) -> Result<Option<Arc<ValRecord>>, StoreError> {
    match val {
        Ok(val) => Ok(Some(val)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A version of a val as it is run. Its address names the version: a stack of an older run still leads to its lines.
pub(super) fn program(links: &Links, val: &ValRecord) -> Program {
    let ValRecord { id, version, .. } = *val;
    Program {
        key: key(id, version),
        url: format!("{}?v={version}", links.module(&val.owner.username, &val.name)),
        code: val.code.clone(),
        kind: val.kind,
    }
}

fn key(id: ValId, version: u32) -> ProgramKey {
    ProgramKey::Version(id, version)
}
