//! Starting the worker of an HTTP val.

use std::{sync::Arc, time::Instant};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared as SharedFuture},
};
use hamlet_models::RunError;
use serde_json::Value;

use super::warm::WarmWorker;
use crate::{
    End, RunRequest, RuntimeError,
    compile::Form,
    evaluate::api_address,
    live_run::LiveRun,
    modules::{LinkError, Modules},
    shared::Shared,
    worker::{Answer, Doom, Duty, Job, error},
};

/// Why a worker did not come to serve.
#[derive(Clone)]
pub(crate) enum Unready {
    /// The val's own doing.
    Broken(End, RunError),
    /// Ours.
    Fault(Arc<RuntimeError>),
}

/// A start that any number of requests wait for.
pub(super) type Starting = SharedFuture<BoxFuture<'static, Result<Arc<WarmWorker>, Unready>>>;

/// Starts a worker in a task of its own: whoever asked first may leave, others wait for it too.
pub(super) fn start_detached(shared: &Arc<Shared>, request: &RunRequest, run: &Arc<LiveRun>) -> Starting {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let starting: Starting = receiver
        .map(|made| made.unwrap_or_else(|_| Err(Unready::Fault(Arc::new(RuntimeError::ShuttingDown)))))
        .boxed()
        .shared();
    let (shared, request, run, ours) = (shared.clone(), request.clone(), run.clone(), starting.clone());
    tokio::spawn(async move {
        let made = start(&shared, &request, &run).await;
        shared.warm.settle(&request.program.key, &ours, &made);
        let _ = sender.send(made);
    });
    starting
}

async fn start(
    shared: &Arc<Shared>,
    request: &RunRequest,
    run: &Arc<LiveRun>,
) -> Result<Arc<WarmWorker>, Unready> {
    let fault = |cause: RuntimeError| Unready::Fault(Arc::new(cause));
    let limits = &shared.config.limits;
    let linked = Modules::link(shared, request, Form::Module).await;
    let modules = Arc::new(linked.map_err(|error| match error {
        LinkError::Broken(error) => Unready::Broken(End::Threw, error),
        LinkError::Fault(cause) => fault(cause),
    })?);
    let worker = modules.worker(&shared.pool, Duty::Serving).await.map_err(fault)?;
    let entry = modules
        .install(&worker.dir)
        .await
        .map_err(|cause| fault(cause.into()))?;

    let given = Instant::now();
    let socket = worker.dir.join("api");
    let job = Job {
        key: worker.key(),
        kind: "http",
        entry: &entry,
        args: None,
        input: Value::Null,
        env: request
            .environment
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect(),
        run: run.id,
        logs: limits.log_kb * 1000,
        value: 0,
        error: limits.value_kb * 1000,
        api: api_address(shared, &socket, &modules),
        failure_header: worker.failure_header.as_str(),
    };
    run.begin(shared.wall(), worker.cpu_time());
    let answer = worker
        .give(Duty::Serving, &job, modules.clone(), run.clone())
        .await;
    shared.work.notify_one();
    let doom = match answer {
        Err(_) => Doom::Unreadable,
        Ok(mut answer) => tokio::select! {
            biased;
            answer = &mut answer => match answer {
                Ok(Answer::Ready) => {
                    worker.runs().end(run.id);
                    return Ok(Arc::new(WarmWorker::new(worker, modules, given)));
                }
                Ok(Answer::End(report)) => {
                    worker.drain_whole();
                    worker.runs().end(run.id);
                    // Nothing that it still does is of use: it serves nobody.
                    worker.kill(Doom::Finished);
                    let thrown = report.error.map(|thrown| thrown.into_error());
                    let thrown = thrown.unwrap_or_else(|| error("Error", "the val did not start".into()));
                    return Err(Unready::Broken(End::Threw, modules.clean_error(thrown)));
                }
                Err(_) => Doom::Unreadable,
            },
            exit = worker.exited() => {
                worker.runs().end(run.id);
                let (end, error) = exit.verdict(limits);
                return Err(Unready::Broken(end, error));
            }
            () = tokio::time::sleep(shared.wall()) => Doom::WallTime,
        },
    };
    worker.kill(doom);
    let (end, error) = worker.exited().await.verdict(limits);
    worker.runs().end(run.id);
    Err(Unready::Broken(end, error))
}
