//! What all parts of a runtime share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hamlet_models::RunId;
use tokio::sync::Notify;

use crate::{
    Finding, RuntimeConfig,
    admission::Admission,
    compile::{Compiler, Compilers, Hosts},
    http_val::WarmWorkers,
    live_run::LiveRun,
    pool::Pool,
    stock::Stock,
    worker::Nursery,
};

/// The insides of a [`Runtime`](crate::Runtime).
pub(crate) struct Shared {
    pub(crate) config: RuntimeConfig,
    pub(crate) deno_version: String,
    pub(crate) findings: Vec<Finding>,
    /// The origins of the instance, by each of which vals reach it.
    pub(crate) api_origins: Vec<String>,
    pub(crate) compiler: Compiler,
    pub(crate) stock: Arc<Stock>,
    pub(crate) nursery: Arc<Nursery>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) admission: Admission,
    pub(crate) warm: WarmWorkers,
    /// Runs that have no worker yet or one of their own, to be cancelled.
    runs: Mutex<HashMap<RunId, Arc<LiveRun>>>,
    /// Wakes the monitor when there is something to watch.
    pub(crate) work: Notify,
}

impl Shared {
    pub(crate) fn new(
        config: RuntimeConfig,
        deno_version: String,
        findings: Vec<Finding>,
        nursery: Arc<Nursery>,
        warm_workers: usize,
    ) -> Self {
        let names = std::iter::once(&config.api_url).chain(&config.module_hosts);
        let origins =
            names.filter_map(|name| Some(url::Url::parse(name).ok()?.origin().ascii_serialization()));
        Self {
            deno_version,
            findings,
            api_origins: origins.collect(),
            compiler: Compiler::new(
                Hosts::new(&config.module_hosts, config.other_module_hosts),
                Compilers::new(config.launcher.clone(), config.require_sandbox),
            ),
            stock: Arc::new(Stock::new(
                nursery.launch.clone(),
                nursery.cgroups.clone(),
                config.work_dir.join("stock"),
            )),
            pool: Arc::new(Pool::new(nursery.clone(), config.blank_workers)),
            nursery,
            admission: Admission::new(config.limits.user_runs, config.limits.instance_runs),
            warm: WarmWorkers::new(warm_workers),
            runs: Mutex::default(),
            work: Notify::new(),
            config,
        }
    }

    pub(crate) fn wall(&self) -> Duration {
        Duration::from_secs(self.config.limits.wall_seconds)
    }

    /// The run can be cancelled for as long as what this returns is kept.
    pub(crate) fn know(self: &Arc<Self>, run: &Arc<LiveRun>) -> Known {
        self.runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(run.id, run.clone());
        Known {
            shared: self.clone(),
            id: run.id,
        }
    }

    /// The run of that id, wherever it is.
    pub(crate) fn find_run(&self, id: RunId) -> Option<Arc<LiveRun>> {
        let known = self
            .runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .cloned();
        known.or_else(|| {
            self.nursery
                .living()
                .iter()
                .find_map(|worker| worker.runs().find_active(id))
        })
    }
}

/// A run that [`Shared::find_run`] finds until this is dropped.
pub(crate) struct Known {
    shared: Arc<Shared>,
    id: RunId,
}

impl Drop for Known {
    fn drop(&mut self) {
        self.shared
            .runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.id);
    }
}
