//! What the modules of one worker import from elsewhere, as it was locked for each, and the worker that goes by it.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
};

use futures_util::future::try_join_all;

use super::{Found, LinkError, MOST_MODULES, Modules};
use crate::{
    Program, ProgramKey, RuntimeError, ValReference,
    compile::{Compiled, Form, RemoteImport, ValImport, thrown_at},
    lock::{is_needed, merged},
    pool::Pool,
    worker::{Duty, Worker},
};

/// A module that may import from elsewhere.
struct Importing {
    key: ProgramKey,
    url: String,
    compiled: Arc<Compiled>,
    remote: Vec<RemoteImport>,
}

impl Importing {
    fn new(program: Program, compiled: Arc<Compiled>) -> Self {
        Self {
            key: program.key,
            url: program.url,
            remote: compiled.remote.clone(),
            compiled,
        }
    }
}

impl Modules {
    /// Locks and fetches what the modules import from elsewhere; gives the lock that a worker needs, if it needs one.
    pub(super) async fn locked(&self) -> Result<Option<Arc<str>>, LinkError> {
        let mut importing: Vec<_> = {
            let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
            let importing = loaded.iter().map(|module| Importing {
                key: module.key.clone(),
                url: module.url.clone(),
                remote: module.remote(),
                compiled: module.compiled.clone(),
            });
            importing.collect()
        };
        self.foresee(&mut importing).await;
        importing.retain(|module| !module.remote.is_empty());
        for module in &mut importing {
            module.remote.sort();
            module.remote.dedup();
        }
        let locked = importing
            .iter()
            .map(|module| self.stock.locked(&*self.source, &module.key, &module.remote));
        let locked = try_join_all(locked).await;
        let locked = locked.map_err(|cause| LinkError::Fault(RuntimeError::Modules(cause)))?;
        for (module, locked) in importing.iter().zip(&locked) {
            if let Some(changed) = locked.missing.iter().find(|missing| missing.changed) {
                let why = format!(
                    "{:?} is no longer what it was when this version was saved, and what is there now was never locked: \
                     save a version to take it",
                    changed.specifier
                );
                return Err(LinkError::Broken(thrown_at("TypeError", &why, &module.url, 1, 1)));
            }
        }
        let locks: Vec<_> = locked.iter().filter_map(|locked| locked.lock.clone()).collect();
        Ok(merged(&locks).filter(|lock| is_needed(lock)))
    }

    /// Adds the vals that these name where they import at run time, with all that those import: a worker can be told no
    /// more locks once it runs. What isn't there, or is broken, shows when it is imported.
    async fn foresee(&self, modules: &mut Vec<Importing>) {
        let mut seen: HashMap<ValReference, Option<RemoteImport>> = modules
            .iter()
            .flat_map(|module| references(&module.compiled.imports))
            .map(|reference| (reference, None))
            .collect();
        let first = modules.len();
        let mut next = 0;
        while let Some(module) = modules.get(next) {
            let named = match next < first {
                true => references(&module.compiled.foreseen).collect::<Vec<_>>(),
                false => references(module.compiled.vals()).collect(),
            };
            let mut elsewhere = Vec::new();
            for reference in named {
                if let Some(import) = seen.get(&reference) {
                    elsewhere.extend(import.clone());
                    continue;
                }
                if modules.len() >= MOST_MODULES {
                    continue;
                }
                let import = match self.look_up(&reference).await {
                    Ok(Some(Found::Val(program))) => {
                        if let Ok(compiled) = self.compiler.compile(self.group, &program, Form::Module).await
                        {
                            modules.push(Importing::new(program, compiled));
                        }
                        None
                    }
                    Ok(Some(Found::Elsewhere(address))) => RemoteImport::read(&address, None),
                    Ok(None) | Err(_) => None,
                };
                elsewhere.extend(import.clone());
                seen.insert(reference, import);
            }
            if let Some(module) = modules.get_mut(next) {
                module.remote.extend(elsewhere);
            }
            next += 1;
        }
    }

    /// A worker for these modules and what it is to do with them.
    pub(crate) async fn worker(&self, pool: &Arc<Pool>, duty: Duty) -> Result<Arc<Worker>, RuntimeError> {
        match &self.lock {
            Some(lock) => pool.take_locked(lock, duty).await,
            None => pool.take().await,
        }
    }
}

fn references<'a>(imports: impl IntoIterator<Item = &'a ValImport>) -> impl Iterator<Item = ValReference> {
    imports.into_iter().map(|import| import.reference.clone())
}
