//! The whole of what keeps vals in, tried on this machine: Deno's permissions by a val, the system's lock by a Deno that
//! is allowed everything.

use std::{
    fs,
    net::{TcpListener, UdpSocket},
    path::Path,
    process::{self, Stdio},
    sync::Arc,
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use hamlet_models::{LogLine, RunId, ValKind};
use nix::unistd::Uid;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::{Finding, Layer};
use crate::{
    BoxError, End, Input, ModuleSource, Outcome, Program, ProgramKey, RunEvents, RunRequest, Runtime,
    RuntimeConfig, RuntimeError, ValReference, compile, worker::Purpose,
};

const SCRIPT: &str = include_str!("../../worker/doctor.ts");
/// A library of the system's own, which a process that may load native code can load.
const LIBRARY: &str = "libc.so.6";
/// How long the worker that is allowed everything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was found.
#[derive(Clone, Debug)]
pub struct CheckUp {
    /// As `2.9.6`.
    pub deno_version: String,
    /// Whether Deno's permissions refuse a val everything that they have to refuse.
    pub permissions: Result<String, String>,
    /// The layers of the system's lock.
    pub layers: Vec<Finding>,
    /// What stands in the way of vals that ask the network, if anything does.
    pub network: Option<String>,
    /// Whether workers belong to root, as the server does: more would be lost if all layers failed.
    pub is_root: bool,
}

/// One thing that was tried.
#[derive(Deserialize)]
struct Attempt {
    layer: String,
    what: String,
    /// The error that it met, if it met one.
    refused: Option<String>,
}

/// Tries everything, with workers in a folder that no running server uses.
pub async fn check_up(mut config: RuntimeConfig) -> Result<CheckUp, RuntimeError> {
    config.require_sandbox = false;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let runtime = Runtime::start(config.clone(), None).await?;
    let folder = config.work_dir.join("outside");
    fs::create_dir(&folder)?;
    let given = json!({
        "server": process::id(),
        "folder": folder,
        "cache": config.cache_dir,
        "deno": runtime.launch().deno(),
        "port": listener.local_addr()?.port(),
        "library": LIBRARY,
    })
    .to_string();
    let as_val = as_val(&runtime, given.clone()).await?;
    let allowed_everything = allowed_everything(&runtime, &config.work_dir, given).await?;
    let mut layers = runtime.sandbox().to_vec();
    for layer in &mut layers {
        add_to(layer, &allowed_everything);
    }
    let deno_version = runtime.deno_version().to_owned();
    runtime.shutdown(Duration::ZERO).await;
    Ok(CheckUp {
        deno_version,
        permissions: verdict(&as_val),
        layers,
        network: network(),
        is_root: Uid::effective().is_root(),
    })
}

fn broken(why: impl std::fmt::Display) -> RuntimeError {
    RuntimeError::Sandbox(format!("the trial could not be made: {why}"))
}

/// What a val meets.
async fn as_val(runtime: &Runtime, given: String) -> Result<Vec<Attempt>, RuntimeError> {
    let request = RunRequest {
        id: Uuid::new_v4().into(),
        group: Uuid::nil(),
        program: Program {
            key: ProgramKey::Version(Uuid::new_v4().into(), 0),
            url: "https://esm.town/v/hamlet/doctor".to_owned(),
            code: SCRIPT.into(),
            kind: ValKind::Script,
        },
        environment: vec![("HAMLET_DOCTOR".to_owned(), given)].into(),
        modules: Arc::new(Nothing),
        events: Arc::new(Nothing),
    };
    let outcome = runtime.run(request, Input::Script { args: None }).await?;
    match (outcome.end, outcome.return_value) {
        (End::Ok, Some(found)) => serde_json::from_str(&found).map_err(broken),
        (_, _) => Err(broken(
            outcome.error.map_or_else(String::new, |error| error.message),
        )),
    }
}

/// What a Deno meets that the system alone keeps in.
async fn allowed_everything(
    runtime: &Runtime,
    work_dir: &Path,
    given: String,
) -> Result<Vec<Attempt>, RuntimeError> {
    let scratch = work_dir.join("everything");
    fs::create_dir(&scratch)?;
    fs::write(
        scratch.join("doctor.mjs"),
        compile::strip_types(SCRIPT).map_err(broken)?,
    )?;
    let main = scratch.join("main.mjs");
    fs::write(
        &main,
        "import found from \"./doctor.mjs\"; console.log(JSON.stringify(found)); Deno.exit();",
    )?;
    let launch = runtime.launch();
    let lock = launch.lock(&scratch, None);
    let mut command = launch.command(&lock, &Purpose::Trial(main), Stdio::piped(), Stdio::piped())?;
    let output = tokio::time::timeout(PATIENCE, command.env("HAMLET_DOCTOR", given).output())
        .await
        .map_err(|_| broken("Deno did not end"))??;
    serde_json::from_slice(&output.stdout).map_err(|_| broken(String::from_utf8_lossy(&output.stderr)))
}

/// A layer holds only if nothing of it was allowed to the Deno that may do everything.
fn add_to(finding: &mut Finding, attempts: &[Attempt]) {
    let of_layer = |attempt: &&Attempt| match finding.layer {
        Layer::Files => attempt.layer == "files",
        Layer::Ports => attempt.layer == "ports",
        Layer::Signals => attempt.layer == "signals",
        Layer::Programs => attempt.layer == "programs",
        Layer::Ipv6 => attempt.layer == "ipv6",
        Layer::NewPrivileges | Layer::Limits | Layer::Cgroup => false,
    };
    for attempt in attempts.iter().filter(of_layer) {
        let said = match &attempt.refused {
            Some(why) => format!("; {} is refused: {why}", attempt.what),
            None => format!("; {} is allowed", attempt.what),
        };
        finding.proof.push_str(&said);
        finding.holds &= attempt.refused.is_some();
    }
}

/// Whether Deno itself refused everything.
fn verdict(attempts: &[Attempt]) -> Result<String, String> {
    let (mut refused, mut allowed) = (Vec::new(), Vec::new());
    for attempt in attempts {
        match &attempt.refused {
            Some(why) if why.starts_with("NotCapable: ") => refused.push(attempt.what.as_str()),
            Some(why) => allowed.push(format!("{} ended otherwise: {why}", attempt.what)),
            None => allowed.push(format!("{} is allowed", attempt.what)),
        }
    }
    if allowed.is_empty() {
        return Ok(format!("refused to a val: {}", refused.join(", ")));
    }
    Err(allowed.join("; "))
}

/// Vals have IPv4 alone: a machine that has IPv6 alone is none for vals that ask the network.
fn network() -> Option<String> {
    // Nothing is sent: the system only looks for a route.
    let has_route =
        |from: &str, to: &str| UdpSocket::bind(from).is_ok_and(|socket| socket.connect(to).is_ok());
    if has_route("0.0.0.0:0", "192.0.2.1:9") {
        return None;
    }
    Some(if has_route("[::]:0", "[2001:db8::1]:9") {
        "this machine reaches others by IPv6 alone, and vals have none, because Deno can't refuse them its private \
         ranges: give the machine an IPv4 route, as by NAT64 with a CLAT"
            .to_owned()
    } else {
        "this machine has no route to others".to_owned()
    })
}

/// The trial imports nothing, and what it prints is for nobody.
struct Nothing;

impl ModuleSource for Nothing {
    fn module<'a>(&'a self, _: &'a ValReference) -> BoxFuture<'a, Result<Option<Program>, BoxError>> {
        async { Ok(None) }.boxed()
    }
}

impl RunEvents for Nothing {
    fn started(&self, _: RunId) {}

    fn log(&self, _: RunId, _: LogLine) {}

    fn ended(&self, _: RunId, _: &Outcome) {}
}
