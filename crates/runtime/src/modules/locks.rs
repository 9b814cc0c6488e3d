//! What the modules of one worker import from elsewhere, as it was locked for each, and the worker that goes by it.

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError},
};

use futures_util::future::try_join_all;

use super::{LinkError, MOST_MODULES, Modules};
use crate::{
    ProgramKey, RuntimeError, ValReference,
    compile::{Compiled, Form, thrown_at},
    lock::{has_packages, merged},
    pool::Pool,
    worker::{Duty, Worker},
};

impl Modules {
    /// Locks and fetches what the modules import from elsewhere; gives the lock that a worker needs, if it needs one.
    pub(super) async fn locked(&self) -> Result<Option<Arc<str>>, LinkError> {
        let mut importing: Vec<_> = {
            let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
            loaded
                .iter()
                .map(|module| (module.key.clone(), module.url.clone(), module.compiled.clone()))
                .collect()
        };
        self.foresee(&mut importing).await;
        importing.retain(|(_, _, compiled)| !compiled.remote.is_empty());
        let locked = importing
            .iter()
            .map(|(key, _, compiled)| self.stock.locked(&*self.source, key, &compiled.remote));
        let locked = try_join_all(locked).await;
        let locked = locked.map_err(|cause| LinkError::Fault(RuntimeError::Modules(cause)))?;
        for ((_, url, _), locked) in importing.iter().zip(&locked) {
            if let Some(changed) = locked.missing.iter().find(|missing| missing.changed) {
                let why = format!(
                    "{:?} is no longer what it was when this version was saved, and what is there now was never locked: \
                     save a version to take it",
                    changed.specifier
                );
                return Err(LinkError::Broken(thrown_at("TypeError", &why, url, 1, 1)));
            }
        }
        let locks: Vec<_> = locked.iter().filter_map(|locked| locked.lock.clone()).collect();
        Ok(merged(&locks).filter(|lock| has_packages(lock)))
    }

    /// Adds the vals that these name where they import at run time, with all that those import: a worker can be told no
    /// more locks once it runs. What isn't there, or is broken, shows when it is imported.
    async fn foresee(&self, modules: &mut Vec<(ProgramKey, String, Arc<Compiled>)>) {
        let mut seen: HashSet<ValReference> = modules
            .iter()
            .flat_map(|module| static_imports(&module.2))
            .collect();
        let first = modules.len();
        let mut next = 0;
        while let Some((_, _, compiled)) = modules.get(next) {
            let mut named = compiled.foreseen.clone();
            if next >= first {
                named.extend(static_imports(compiled));
            }
            next += 1;
            for reference in named {
                if modules.len() >= MOST_MODULES || !seen.insert(reference.clone()) {
                    continue;
                }
                let Ok(Some(program)) = self.source.module(&reference).await else {
                    continue;
                };
                if let Ok(compiled) = self.compiler.compile(&program, Form::Module).await {
                    modules.push((program.key, program.url, compiled));
                }
            }
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

fn static_imports(compiled: &Compiled) -> impl Iterator<Item = ValReference> {
    compiled.imports.iter().map(|import| import.reference.clone())
}
