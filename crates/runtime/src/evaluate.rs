//! Runs that evaluate a module once: scripts, functions, evaluations, ticks and e-mails.

use std::{sync::Arc, time::Instant};

use hamlet_models::{RunError, RunPhases, Truncated};
use serde_json::Value;

use crate::{
    End, Input, Outcome, Place, RunRequest, RuntimeConfig, RuntimeError,
    compile::Form,
    live_run::LiveRun,
    modules::{LinkError, Modules},
    outcome::{cut_error, cut_text, millis},
    shared::Shared,
    worker::{Answer, ApiAddress, Doom, Duty, Exit, Job, Worker},
};

/// One run, from its place to its outcome; it waits for one if it has none yet.
pub(crate) async fn run(
    shared: Arc<Shared>,
    request: RunRequest,
    input: Input,
    place: Option<Place>,
) -> Result<Outcome, RuntimeError> {
    let run = Arc::new(LiveRun::new(&request, shared.config.limits.log_kb));
    let _known = shared.know(&run);
    let _place = match place {
        Some(place) => place,
        None => tokio::select! {
            place = shared.admission.admit(request.group) => place?,
            doom = run.stopped() => return Ok(verdict(&shared, &run, doom)),
        },
    };
    run.events.started(run.id);
    let mut phases = RunPhases {
        waited_ms: Some(millis(run.asked.elapsed())),
        ..RunPhases::default()
    };
    let attempted = attempt(&shared, &request, input, &run, &mut phases).await;
    let (mut outcome, fault) = match attempted {
        Ok(outcome) => (outcome, None),
        Err(fault) => (
            Outcome::new(
                End::Lost,
                Some(crate::worker::error("LostError", fault.to_string())),
            ),
            Some(fault),
        ),
    };
    outcome.phases = phases;
    outcome.truncated.logs = run.tell_cut();
    outcome.duration_ms = millis(run.asked.elapsed());
    run.events.ended(run.id, &outcome);
    fault.map_or(Ok(outcome), Err)
}

fn verdict(shared: &Shared, run: &LiveRun, doom: Doom) -> Outcome {
    let (end, error) = doom.verdict(&shared.config.limits);
    Outcome {
        duration_ms: millis(run.asked.elapsed()),
        ..Outcome::new(end, Some(error))
    }
}

async fn attempt(
    shared: &Arc<Shared>,
    request: &RunRequest,
    input: Input,
    run: &Arc<LiveRun>,
    phases: &mut RunPhases,
) -> Result<Outcome, RuntimeError> {
    let admitted = Instant::now();
    let form = if matches!(input, Input::Eval { .. }) {
        Form::Eval
    } else {
        Form::Module
    };
    let linked = tokio::select! {
        linked = Modules::link(shared, request, form) => linked,
        doom = run.stopped() => return Ok(verdict(shared, run, doom)),
    };
    let modules = match linked {
        Ok(modules) => Arc::new(modules),
        Err(LinkError::Broken(error)) => return Ok(failed(shared, End::Threw, error)),
        Err(LinkError::Fault(fault)) => return Err(fault),
    };
    let worker = tokio::select! {
        worker = modules.worker(&shared.pool, Duty::Evaluating) => worker?,
        doom = run.stopped() => return Ok(verdict(shared, run, doom)),
    };
    let entry = tokio::select! {
        entry = modules.install(&worker.dir) => entry?,
        doom = run.stopped() => {
            worker.kill(Doom::Finished);
            return Ok(verdict(shared, run, doom));
        }
    };
    phases.worker_ms = Some(millis(admitted.elapsed()));

    let began = Instant::now();
    let answer = answer_of(shared, request, input, run, &worker, &modules, &entry).await;
    let spent = began.elapsed();
    let cpu = worker.cpu_time().saturating_sub(run.cpu_began());
    let memory = worker.peak_bytes();
    worker.drain_whole();
    worker.runs().end(run.id);
    let (mut outcome, module_ms) = match answer {
        Ok((mut outcome, module_ms)) => {
            outcome.error = outcome.error.map(|error| modules.clean_error(error));
            (outcome, module_ms)
        }
        Err((end, error)) => (failed(shared, end, error), None),
    };
    // What the worker says of its time can't be longer than the time it had.
    let module = module_ms.map(|module| module.clamp(0.0, millis(spent)));
    phases.module_ms = module;
    phases.ran_ms = Some(millis(spent) - module.unwrap_or_default());
    outcome.cpu_ms = Some(millis(cpu));
    outcome.memory_bytes = memory;
    Ok(outcome)
}

/// The outcome of a run that did not come to its end.
fn failed(shared: &Shared, end: End, error: RunError) -> Outcome {
    let mut outcome = Outcome::new(end, None);
    let (error, cut) = cut_error(error, shared.config.limits.value_kb);
    outcome.truncated.error = cut;
    outcome.error = Some(error);
    outcome
}

/// What the val answered and how long its module took to load, or the end that it met before.
async fn answer_of(
    shared: &Arc<Shared>,
    request: &RunRequest,
    input: Input,
    run: &Arc<LiveRun>,
    worker: &Arc<Worker>,
    modules: &Arc<Modules>,
    entry: &str,
) -> Result<(Outcome, Option<f64>), (End, RunError)> {
    let limits = &shared.config.limits;
    let id = run.id.to_string();
    let socket = worker.dir.join("api");
    let (kind, args, input) = match input {
        Input::Script { args } => ("script", args, Value::Null),
        Input::Eval { args } => ("eval", Some(args), Value::Null),
        Input::Interval { last_run_at } => (
            "interval",
            None,
            last_run_at.map_or(Value::Null, |time| time.as_millis().into()),
        ),
        Input::Email(message) => ("email", None, message),
    };
    let own = [("HAMLET_RUN_ID", id.as_str())];
    let job = Job {
        key: worker.key(),
        kind,
        entry,
        args: args.as_deref(),
        input,
        env: request
            .environment
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .chain(own)
            .collect(),
        run: run.id,
        logs: limits.log_kb * 1000,
        value: shared.config.answer_kb * 1000,
        error: limits.value_kb * 1000,
        api: api_address(shared, &socket, modules),
        failure_header: worker.failure_header.as_str(),
    };
    run.begin(shared.wall(), worker.cpu_time());
    let last_moment = Instant::now() + shared.wall();
    let _ = worker.last_moment.set(last_moment);
    let Ok(mut answer) = worker
        .give(Duty::Evaluating, &job, modules.clone(), run.clone())
        .await
    else {
        return Err(after_death(shared, worker).await);
    };
    // A message with its attachments may be large, and the worker has it now.
    drop(job);
    shared.work.notify_one();
    let doom = tokio::select! {
        biased;
        answer = &mut answer => match answer {
            Ok(Answer::End(report)) => return Ok(outcome_of(report, &shared.config)),
            _ => Doom::Unreadable,
        },
        exit = worker.exited() => return Err(exit.verdict(limits)),
        doom = run.stopped() => doom,
        () = tokio::time::sleep_until(last_moment.into()) => Doom::WallTime,
    };
    worker.kill(doom);
    // Its last lines come before its end does.
    let exit: Exit = worker.exited().await;
    Err(exit.verdict(limits))
}

async fn after_death(shared: &Shared, worker: &Worker) -> (End, RunError) {
    worker.kill(Doom::Unreadable);
    worker.exited().await.verdict(&shared.config.limits)
}

/// How the worker reaches the instance, if it has an address and someone answers.
pub(crate) fn api_address<'a>(
    shared: &'a Shared,
    socket: &'a std::path::Path,
    modules: &Modules,
) -> Option<ApiAddress<'a>> {
    shared.nursery.api.as_ref()?;
    Some(ApiAddress {
        origins: &shared.api_origins,
        socket: socket.to_str()?,
        by_node: modules.may_use_node_network(),
    })
}

fn outcome_of(report: crate::worker::Report, config: &RuntimeConfig) -> (Outcome, Option<f64>) {
    let module_ms = report.module_ms.filter(|time| time.is_finite());
    if let Some(thrown) = report.error {
        let was_cut = thrown.cut;
        let (error, cut) = cut_error(thrown.into_error(), config.limits.value_kb);
        let truncated = Truncated {
            error: was_cut || cut,
            ..Truncated::default()
        };
        return (
            Outcome {
                truncated,
                ..Outcome::new(End::Threw, Some(error))
            },
            module_ms,
        );
    }
    let mut outcome = Outcome::new(End::Ok, None);
    if let Some(mut value) = report.value {
        outcome.truncated.return_value = report.cut | cut_text(&mut value, config.answer_kb);
        outcome.return_value = Some(value);
    }
    (outcome, module_ms)
}
