//! A runtime over a folder of its own, vals in memory, and a record of everything that a run does.

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use hamlet_models::{Limits, LogLine, LogStream, RunId, ValId, ValKind};
use hamlet_runtime::{
    ApiChannel, Body, BoxError, Fetched, Input, ModuleSource, Outcome, Program, ProgramKey, RunEvents,
    RunRequest, Runtime, RuntimeConfig, ValReference,
};
use http_body_util::{BodyExt, Full};
use tempfile::TempDir;
use tokio::sync::watch;
use uuid::Uuid;

use crate::deno::deno;

/// Longer than any of these tests takes on a busy machine: what waits so long waits for ever.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const LIMITS: Limits = Limits {
    wall_seconds: 30,
    cpu_seconds: 20,
    memory_mb: 256,
    request_body_mb: 100,
    log_kb: 1000,
    value_kb: 100,
    user_runs: 20,
    instance_runs: 20,
    warm_seconds: 10,
};

/// A runtime that is gone with its folder at the end of the test.
pub(crate) struct Host {
    pub(crate) runtime: Runtime,
    pub(crate) work_dir: PathBuf,
    _dir: TempDir,
}

impl Host {
    pub(crate) async fn new() -> Self {
        Self::limited(LIMITS).await
    }

    pub(crate) async fn limited(limits: Limits) -> Self {
        Self::with(limits, |_| {}).await
    }

    pub(crate) async fn with(limits: Limits, change: impl FnOnce(&mut RuntimeConfig)) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("hamlet")
            .tempdir()
            .expect("a folder");
        let mut config = RuntimeConfig {
            deno: deno(),
            launcher: env!("CARGO_BIN_EXE_hamlet-launcher").into(),
            require_sandbox: false,
            work_dir: dir.path().join("work"),
            cache_dir: dir.path().join("cache"),
            api_url: "http://127.0.0.1:18787/api".into(),
            limits,
            answer_kb: 100,
            blank_workers: 1,
            warm_workers: None,
            module_hosts: vec!["http://hamlet.test".into()],
            other_module_hosts: false,
            module_fallback: None,
        };
        change(&mut config);
        let work_dir = config.work_dir.clone();
        let runtime = Runtime::start(config, Some(Arc::new(Echo)))
            .await
            .expect("a runtime");
        Self {
            runtime,
            work_dir,
            _dir: dir,
        }
    }

    /// Runs a program with an input.
    pub(crate) async fn run(&self, val: &Val, input: Input) -> Ran {
        let request = val.request();
        let outcome = tokio::time::timeout(PATIENCE, self.runtime.run(request, input));
        let outcome = outcome
            .await
            .expect("a run that ends")
            .expect("a run that is carried out");
        Ran {
            outcome,
            record: val.record.clone(),
        }
    }

    /// Runs a script.
    pub(crate) async fn script(&self, code: &str) -> Ran {
        self.run(&Val::new(ValKind::Script, code), Input::Script { args: None })
            .await
    }

    /// Sends a request to an HTTP val, and gives the answer as soon as its head is there.
    pub(crate) async fn fetch(&self, val: &Val, request: http::Request<Body>) -> Fetched {
        let fetched = tokio::time::timeout(PATIENCE, self.runtime.fetch(val.request(), request));
        fetched
            .await
            .expect("an answer")
            .expect("a run that is carried out")
    }

    /// Gets a path of an HTTP val: status and body.
    pub(crate) async fn get(&self, val: &Val, path: &str) -> (u16, String) {
        let response = match self.fetch(val, get(path)).await.response {
            Ok(response) => response,
            Err(outcome) => panic!("no answer: {outcome:?}"),
        };
        let status = response.status().as_u16();
        (status, text(response.into_body()).await)
    }
}

/// A request without a body to the val's public address.
pub(crate) fn get(path: &str) -> http::Request<Body> {
    request("GET", path, "")
}

pub(crate) fn request(method: &str, path: &str, body: &str) -> http::Request<Body> {
    let body = Full::new(Bytes::from(body.to_owned()))
        .map_err(|never| match never {})
        .boxed_unsync();
    http::Request::builder()
        .method(method)
        .uri(format!("https://ada-main.vals.test{path}"))
        .header("host", "ada-main.vals.test")
        .body(body)
        .expect("a request")
}

pub(crate) async fn text(body: Body) -> String {
    let bytes = tokio::time::timeout(PATIENCE, body.collect())
        .await
        .expect("a body that ends");
    String::from_utf8(bytes.expect("a whole body").to_bytes().to_vec()).expect("text")
}

/// A run that is over.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) record: Arc<Record>,
}

impl Ran {
    pub(crate) fn error(&self) -> &hamlet_models::RunError {
        self.outcome
            .error
            .as_ref()
            .unwrap_or_else(|| panic!("an error, not {:?}", self.outcome))
    }
}

/// A program of Ada's, the vals around it, and the record of its runs.
#[derive(Clone)]
pub(crate) struct Val {
    pub(crate) id: ValId,
    pub(crate) version: u32,
    pub(crate) kind: ValKind,
    pub(crate) code: Arc<str>,
    pub(crate) environment: Arc<[(String, String)]>,
    pub(crate) vals: Arc<Vals>,
    pub(crate) record: Arc<Record>,
    pub(crate) group: Uuid,
    /// Of the next run; a new one each time if there is none.
    pub(crate) run: Option<RunId>,
}

impl Val {
    pub(crate) fn new(kind: ValKind, code: &str) -> Self {
        Self {
            id: Uuid::new_v4().into(),
            version: 1,
            kind,
            code: code.into(),
            environment: Arc::from([]),
            vals: Arc::default(),
            record: Arc::default(),
            group: Uuid::nil(),
            run: None,
        }
    }

    pub(crate) fn http(code: &str) -> Self {
        Self::new(ValKind::Http, code)
    }

    /// The same val with new code, as the next version.
    pub(crate) fn saved(&self, code: &str) -> Self {
        Self {
            version: self.version + 1,
            code: code.into(),
            ..self.clone()
        }
    }

    /// The same val with a record of its own, to tell requests apart.
    pub(crate) fn apart(&self) -> Self {
        Self {
            record: Arc::default(),
            ..self.clone()
        }
    }

    pub(crate) fn request(&self) -> RunRequest {
        RunRequest {
            id: self.run.unwrap_or_else(|| Uuid::new_v4().into()),
            group: self.group,
            program: Program {
                key: ProgramKey::Version(self.id, self.version),
                url: format!("https://esm.town/v/ada/main?v={}", self.version),
                code: self.code.clone(),
                kind: self.kind,
            },
            environment: self.environment.clone(),
            modules: self.vals.clone(),
            events: self.record.clone(),
        }
    }
}

/// The vals that others import: by user and name in lower case, each with its versions.
#[derive(Default)]
pub(crate) struct Vals(Mutex<HashMap<(String, String), Vec<Saved>>>);

#[derive(Clone)]
struct Saved {
    id: ValId,
    version: u32,
    address: String,
    code: Arc<str>,
}

impl Vals {
    pub(crate) fn save(&self, username: &str, name: &str, code: &str) {
        let mut vals = self.0.lock().expect("vals");
        let versions = vals.entry(folded(username, name)).or_default();
        let id = versions
            .first()
            .map_or_else(|| Uuid::new_v4().into(), |first| first.id);
        let version = u32::try_from(versions.len()).expect("few versions") + 1;
        versions.push(Saved {
            id,
            version,
            address: format!("https://esm.town/v/{username}/{name}?v={version}"),
            code: code.into(),
        });
    }
}

fn folded(username: &str, name: &str) -> (String, String) {
    (username.to_lowercase(), name.to_lowercase())
}

impl ModuleSource for Vals {
    fn module<'a>(&'a self, reference: &'a ValReference) -> BoxFuture<'a, Result<Option<Program>, BoxError>> {
        let vals = self.0.lock().expect("vals");
        let versions = vals.get(&folded(&reference.username, &reference.name));
        let found = versions.and_then(|versions| match reference.version {
            Some(version) => versions.iter().find(|saved| saved.version == version),
            None => versions.last(),
        });
        let program = found.map(|saved| Program {
            key: ProgramKey::Version(saved.id, saved.version),
            url: saved.address.clone(),
            code: saved.code.clone(),
            kind: ValKind::Script,
        });
        async { Ok(program) }.boxed()
    }
}

/// Everything that the runs of a val did.
pub(crate) struct Record(watch::Sender<Recorded>);

#[derive(Clone, Default)]
pub(crate) struct Recorded {
    pub(crate) started: usize,
    pub(crate) logs: Vec<(RunId, LogLine)>,
    pub(crate) ended: Vec<(RunId, Outcome)>,
}

impl Default for Record {
    fn default() -> Self {
        Self(watch::Sender::new(Recorded::default()))
    }
}

impl Record {
    pub(crate) fn now(&self) -> Recorded {
        self.0.borrow().clone()
    }

    /// Each line's text, in order.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0
            .borrow()
            .logs
            .iter()
            .map(|(_, line)| line.message.clone())
            .collect()
    }

    /// The lines that Hamlet itself added.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let recorded = self.0.borrow();
        let ours = recorded
            .logs
            .iter()
            .filter(|(_, line)| line.stream == LogStream::Hamlet);
        ours.map(|(_, line)| line.message.clone()).collect()
    }

    /// Waits until the record is so.
    pub(crate) async fn until(&self, what: &str, is_so: impl FnMut(&Recorded) -> bool) -> Recorded {
        let mut receiver = self.0.subscribe();
        let waited = tokio::time::timeout(PATIENCE, receiver.wait_for(is_so)).await;
        waited
            .unwrap_or_else(|_| panic!("waited in vain until {what}"))
            .expect("a record")
            .clone()
    }

    /// Waits until a line has this text in it.
    pub(crate) async fn until_line(&self, text: &str) -> Recorded {
        self.until(text, |record| {
            record.logs.iter().any(|(_, line)| line.message.contains(text))
        })
        .await
    }

    /// Waits until so many runs are over.
    pub(crate) async fn until_ended(&self, count: usize) -> Vec<(RunId, Outcome)> {
        self.until("runs are over", |record| record.ended.len() >= count)
            .await
            .ended
    }
}

impl RunEvents for Record {
    fn started(&self, _: RunId) {
        self.0.send_modify(|record| record.started += 1);
    }

    fn log(&self, run: RunId, line: LogLine) {
        self.0.send_modify(|record| record.logs.push((run, line)));
    }

    fn ended(&self, run: RunId, outcome: &Outcome) {
        self.0
            .send_modify(|record| record.ended.push((run, outcome.clone())));
    }
}

/// The instance's own interface: says what it was asked, or leads elsewhere.
struct Echo;

impl ApiChannel for Echo {
    fn call(&self, request: http::Request<Body>) -> BoxFuture<'static, http::Response<Body>> {
        async move {
            if let Some(port) = request.uri().path().strip_prefix("/redirect/") {
                return redirect(302, &format!("http://127.0.0.1:{port}/"));
            }
            if let Some(status) = request.uri().path().strip_prefix("/led/") {
                let to = request.uri().query().unwrap_or_default();
                return redirect(status.parse().expect("a status"), to);
            }
            let (parts, body) = request.into_parts();
            let token = parts
                .headers
                .get("authorization")
                .and_then(|value| value.to_str().ok())
                .unwrap_or("no token");
            let said = format!(
                "{} {} {token} {}",
                parts.method,
                parts.uri.path(),
                text(body).await
            );
            let body = Full::new(Bytes::from(said))
                .map_err(|never| match never {})
                .boxed_unsync();
            http::Response::new(body)
        }
        .boxed()
    }
}

fn redirect(status: u16, to: &str) -> http::Response<Body> {
    let empty = Full::new(Bytes::new())
        .map_err(|never| match never {})
        .boxed_unsync();
    http::Response::builder()
        .status(status)
        .header("location", to)
        .body(empty)
        .expect("a response")
}

/// Waits until a look at the system says so; there is no event for what a process of others does.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("waited in vain until {what}"));
}

/// The processes that were started for workers of this folder.
pub(crate) fn workers_of(work_dir: &Path) -> Vec<u32> {
    let mark = format!("--allow-write={}/", work_dir.display());
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    processes
        .filter_map(|process| {
            let pid = process.file_name().to_str()?.parse().ok()?;
            let command = fs::read(process.path().join("cmdline")).ok()?;
            command
                .split(|byte| *byte == 0)
                .any(|part| part.starts_with(mark.as_bytes()))
                .then_some(pid)
        })
        .collect()
}
