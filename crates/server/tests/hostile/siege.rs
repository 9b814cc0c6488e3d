//! A server under hostile acts, beside a neighbour whose work goes on.

use std::time::Duration;

use hamlet_models::{FullRun, ValKind};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::{
    account::Account,
    footprint::{Footprint, children, memory_mb, scratch, told_of},
    neighbour::Neighbour,
    program::{PATIENCE, Program},
};

/// By how much the server's own memory may have grown once all is over, in megabytes. What it holds of a run, its logs
/// and its largest values, is a few; its caches of compiled code and its databases' pages stay, and so does what the
/// allocator keeps for next time. An act that was kept in memory would be a hundred or more.
const GROWTH_MB: u64 = 50;

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
        let usual = [("HAMLET_BLANK_WORKERS", "1"), ("HAMLET_WARM_SECONDS", "3")];
        let server = Program::start(&[&usual, settings].concat()).await;
        let mallory = server.account("mallory").await;
        let neighbour = Neighbour::of(&server).await;
        neighbour.loads.go_on_all().await;
        let resting = neighbour.loads.rest().await;
        // A worker is kept ready, and those of the neighbour's page go.
        eventually("the server is at rest", || {
            let left = (children(server.id).len(), scratch(&server).len());
            (left == (1, 1))
                .then_some(())
                .ok_or_else(|| format!("{left:?} are left"))
        })
        .await;
        let (before, memory_mb) = (Footprint::of(&server), memory_mb(server.id));
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
        let val = self.mallory.make_any(ValKind::Script, code).await.expect("a val");
        let run = self.mallory.run(&val, &json!({})).await;
        run.expect("a run that is recorded")
    }

    /// The acts are over: the neighbour goes on still, and then nothing is left but what was there before.
    pub(crate) async fn over(mut self) {
        self.neighbour.loads.go_on_all().await;
        let resting = self.neighbour.loads.rest().await;
        let now = || Footprint::of(&self.server);
        eventually(&format!("nothing is left but {:#?}", self.before), || {
            let now = now();
            (now == self.before)
                .then_some(())
                .ok_or_else(|| format!("{now:#?}"))
        })
        .await;
        let memory_mb = memory_mb(self.server.id);
        assert!(
            memory_mb < self.memory_mb + GROWTH_MB,
            "the server had {} MB, and has {memory_mb}",
            self.memory_mb
        );
        drop(resting);
        self.server.end().await;
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
            sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = timeout(PATIENCE, waiting).await;
    assert!(waited.is_ok(), "waited in vain until {what}; at last: {seen}");
}
