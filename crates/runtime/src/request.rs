//! What a run is asked for with: the program, its input, and who provides modules and listens to events.

use std::{fmt, sync::Arc};

use futures_util::{FutureExt, future::BoxFuture};
use hamlet_models::{LogLine, RunId, Timestamp, ValId, ValKind, VersionNumber};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{BoxError, ImportLock, Outcome};

/// One run, whatever starts it.
#[derive(Clone)]
pub struct RunRequest {
    /// Names the run; events carry it.
    pub id: RunId,
    /// Who shares the limit of runs at once.
    pub group: Uuid,
    /// What to run.
    pub program: Program,
    /// The environment variables that the val sees, and no others but `HAMLET_RUN_ID`, the run that the code belongs to
    /// that asks. A warm HTTP worker is used again only for the same environment, so it must not differ by request.
    pub environment: Arc<[(String, String)]>,
    /// Where imports of vals come from, bound to who asks.
    pub modules: Arc<dyn ModuleSource>,
    /// Who hears of logs and of the end.
    pub events: Arc<dyn RunEvents>,
}

/// A val's code, ready to be compiled.
#[derive(Clone, Debug)]
pub struct Program {
    /// Identifies the code for caches.
    pub key: ProgramKey,
    /// The public module address, which stacks and `import.meta.url` show.
    pub url: String,
    /// The code as its author wrote it.
    pub code: Arc<str>,
    /// What starts it.
    pub kind: ValKind,
}

/// Two programs of the same key have the same code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProgramKey {
    /// A version of a val; its code never changes.
    Version(ValId, VersionNumber),
    /// Code that is kept nowhere, as of an evaluation.
    Code(Arc<str>),
}

/// What a fresh evaluation is given.
#[derive(Clone, Debug)]
pub enum Input {
    /// A script; with arguments its default export is called if it is a function.
    Script {
        /// The arguments; `None` calls nothing.
        args: Option<Vec<Value>>,
    },
    /// An expression, a function expression or a module; a function is called with the arguments.
    Eval {
        /// The arguments; empty if there are none.
        args: Vec<Value>,
    },
    /// A tick of a schedule.
    Interval {
        /// When it ran before.
        last_run_at: Option<Timestamp>,
    },
    /// A message, in the shape that email vals get; attachments are `{name, type, content}` with base64 content and
    /// reach the val as `File`s.
    Email(Value),
}

/// A val as an import names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ValReference {
    /// Whose val, without a leading `@`.
    pub username: String,
    /// Which val.
    pub name: String,
    /// Which version; `None` is the latest.
    pub version: Option<VersionNumber>,
    /// The address that the import says, if it may be another host's: a module of that one, where this instance has no
    /// user of this name.
    pub otherwise: Option<String>,
}

impl ValReference {
    /// Its address at the instance of this origin; `None` if its names could not be a val's.
    pub(crate) fn address_at(&self, origin: &str) -> Option<String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let is_name = |text: &str| !text.is_empty() && text.bytes().all(plain);
        (is_name(&self.username) && is_name(&self.name)).then(|| format!("{origin}/v/{self}"))
    }
}

impl fmt::Display for ValReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.username, self.name)?;
        self.version.map_or(Ok(()), |version| write!(f, "?v={version}"))
    }
}

/// Where the vals that a val imports come from.
pub trait ModuleSource: Send + Sync {
    /// The val that `reference` names; `None` if there is none that the one who asks may read. An error is our own
    /// fault and fails the run as such.
    fn module<'a>(&'a self, reference: &'a ValReference) -> BoxFuture<'a, Result<Option<Program>, BoxError>>;

    /// Whether another instance may be asked for a val that [`ModuleSource::module`] does not give: not if it may be a
    /// val that is only hidden from the one who asks.
    fn may_be_elsewhere<'a>(&'a self, _reference: &'a ValReference) -> BoxFuture<'a, Result<bool, BoxError>> {
        async { Ok(false) }.boxed()
    }

    /// What the imports of a program from elsewhere were locked to; `None` if they never were.
    fn lock<'a>(&'a self, _program: &'a ProgramKey) -> BoxFuture<'a, Result<Option<ImportLock>, BoxError>> {
        async { Ok(None) }.boxed()
    }

    /// Keeps what they were locked to, unless a complete lock is kept already; gives the one that is in force.
    fn keep_lock<'a>(
        &'a self,
        _program: &'a ProgramKey,
        lock: ImportLock,
    ) -> BoxFuture<'a, Result<ImportLock, BoxError>> {
        async { Ok(lock) }.boxed()
    }
}

/// Who hears of what a run does. Called from the tasks that serve workers: must not block, and must not call the
/// runtime.
pub trait RunEvents: Send + Sync {
    /// The run has a place and begins.
    fn started(&self, run: RunId);
    /// The run printed something. May still come after [`RunEvents::ended`], when work went on after the answer.
    fn log(&self, run: RunId, line: LogLine);
    /// The run is over: exactly once for every run that got a place, also for those whose outcome
    /// [`Runtime::run`](crate::Runtime::run) returns, and before it does.
    fn ended(&self, run: RunId, outcome: &Outcome);
}
