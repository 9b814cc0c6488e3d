//! A server under hostile acts, beside a neighbour whose work goes on.

use std::time::Duration;

use hamlet_models::{ExtendedVal, FullRun, ValKind};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{
    account::{Account, Tried},
    footprint::{Footprint, most_memory_mb, scratch, told_of},
    neighbour::Neighbour,
    program::{PATIENCE, Program},
};

/// By how much the most memory of its own that the server ever held may grow, in megabytes. The logs and the largest
/// values of the runs that go on at once are a few, what streams through is less; its caches and what the allocator
/// keeps come to some ten. An act that is held in the server's memory, even once, is a hundred or more.
const GROWTH_MB: u64 = 40;

/// How long to wait before looking again for what tells nobody that it is there.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A server, its neighbour at work, and who means harm.
pub(crate) struct Siege {
    pub(crate) server: Program,
    pub(crate) neighbour: Neighbour,
    pub(crate) mallory: Account,
    before: Footprint,
    memory_mb: u64,
}

impl Siege {
    /// Starts a server with these settings, and the neighbour's work.
    pub(crate) async fn start(settings: &[(&str, &str)]) -> Self {
        let usual = [("HAMLET_BLANK_WORKERS", "1"), ("HAMLET_WARM_SECONDS", "2")];
        let server = Program::start(&[&usual, settings].concat()).await;
        let mallory = server.account("mallory").await;
        let neighbour = Neighbour::of(&server).await;
        // The process of a database stays for a minute: it is there from the start, as the neighbour's is.
        let select = json!({"statement": "select 1"});
        let row: Tried<Value> = mallory.post("/v1/sqlite/execute", &select).await;
        row.expect("a database");
        neighbour.loads.go_on_all().await;
        let resting = neighbour.loads.rest().await;
        // The workers of the neighbour's page go, and what the server had of them.
        let mut looks = vec![Footprint::of(&server)];
        eventually("the server is at rest", || {
            let now = Footprint::of(&server);
            if looks[0] != now {
                looks.clear();
            }
            looks.push(now);
            let is_so = looks[0].is_at_rest() && looks.len() >= 10;
            is_so.then_some(()).ok_or_else(|| format!("{looks:?}"))
        })
        .await;
        let (before, memory_mb) = (looks.swap_remove(0), most_memory_mb(server.id));
        drop(resting);
        Self {
            server,
            neighbour,
            mallory,
            before,
            memory_mb,
        }
    }

    /// Has the act done, again and again until the neighbour has got each kind of its work done beside it. What it was
    /// answered after an act is seen beside the next one, or in the end.
    pub(crate) async fn suffers(&self, act: &str, attack: impl AsyncFn()) {
        // Shown if this fails.
        eprintln!("act: {act}");
        let before = self.neighbour.loads.progress();
        loop {
            let done = timeout(PATIENCE, attack());
            let done = self.neighbour.loads.unless_they_fail(done).await;
            assert!(done.is_ok(), "{act} did not end");
            if self.neighbour.loads.went_on_since(&before) {
                return;
            }
        }
    }

    /// Runs code of the hostile account's as a script, and gives what is recorded of that.
    pub(crate) async fn script(&self, code: &str) -> FullRun {
        let val = self.val(ValKind::Script, code).await;
        let run = self.mallory.run(&val, &json!({})).await;
        run.expect("a run that is recorded")
    }

    /// A new val of the hostile account's.
    pub(crate) async fn val(&self, kind: ValKind, code: &str) -> ExtendedVal {
        self.mallory.make_any(kind, code).await.expect("a val")
    }

    /// What is recorded of the latest run of a val of the hostile account's, which may have to begin yet.
    pub(crate) async fn latest_run(&self, val: &ExtendedVal) -> FullRun {
        loop {
            let runs = self.mallory.runs(val).await.expect("its runs");
            match runs.first() {
                Some(run) => break self.mallory.ended(run.id).await.expect("its run"),
                None => sleep(LOOK_AGAIN).await,
            }
        }
    }

    /// The acts are over: the neighbour goes on still, and then nothing is left but what was there before.
    pub(crate) async fn over(mut self) {
        self.neighbour.loads.go_on_all().await;
        let resting = self.neighbour.loads.rest().await;
        eventually(&format!("nothing is left but {:#?}", self.before), || {
            let now = Footprint::of(&self.server);
            let is_so = now.is_within(&self.before);
            is_so.then_some(()).ok_or_else(|| format!("{now:#?}"))
        })
        .await;
        let most_mb = most_memory_mb(self.server.id);
        assert!(
            most_mb < self.memory_mb + GROWTH_MB,
            "the server had {} MB, and then {most_mb}",
            self.memory_mb
        );
        self.server.end().await;
        drop(resting);
        let processes = told_of(&self.server.data_dir);
        let folders = scratch(&self.server);
        assert!(
            processes.is_empty() && folders.is_empty(),
            "left of a server that ended: processes {processes:?}, folders {folders:?}"
        );
        let faults = self.server.faults();
        assert!(faults.is_empty(), "the server's log:\n{}", faults.join("\n"));
    }
}

/// Waits until a look at the system says so; there is no event for what a process of others does.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> Result<(), String>) {
    let mut seen = String::new();
    let waiting = async {
        while let Err(now) = is_so() {
            seen = now;
            sleep(LOOK_AGAIN).await;
        }
    };
    let waited = timeout(PATIENCE, waiting).await;
    assert!(waited.is_ok(), "waited in vain until {what}; at last: {seen}");
}
