//! Work that goes on by itself, turn after turn, until it fails or is ended.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio::{
    sync::{RwLock, RwLockWriteGuard, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{account::Tried, program::PATIENCE};

/// How long a loop rests between two turns: there are five of them, on a machine that has other things to do.
const BREATH: Duration = Duration::from_millis(250);

/// Loops of work.
pub(crate) struct Loads {
    loops: Vec<Loop>,
    failure: watch::Sender<Option<String>>,
    /// Held for reading by each turn.
    turns: Arc<RwLock<()>>,
}

struct Loop {
    name: &'static str,
    /// How many turns are done.
    done: watch::Receiver<u64>,
    going_on: JoinHandle<()>,
}

impl Drop for Loop {
    fn drop(&mut self) {
        self.going_on.abort();
    }
}

/// How many turns of each loop are done.
#[derive(Clone, Debug)]
pub(crate) struct Progress(Vec<u64>);

impl Loads {
    pub(crate) fn new() -> Self {
        Self {
            loops: Vec::new(),
            failure: watch::Sender::new(None),
            turns: Arc::default(),
        }
    }

    /// Starts a loop of these turns, which are numbered.
    pub(crate) fn go_on(
        &mut self,
        name: &'static str,
        turn: impl Fn(u64) -> BoxFuture<'static, Tried<()>> + Send + 'static,
    ) {
        let (sender, done) = watch::channel(0);
        let (turns, failure) = (self.turns.clone(), self.failure.clone());
        let going_on = tokio::spawn(async move {
            for number in 1.. {
                let permit = turns.read().await;
                let ended = timeout(PATIENCE, turn(number)).await;
                let ended = ended.unwrap_or_else(|_| Err("it did not end".into()));
                if let Err(problem) = ended {
                    failure.send_replace(Some(format!("{name}, turn {number}: {problem}")));
                    return;
                }
                drop(permit);
                sender.send_replace(number);
                sleep(BREATH).await;
            }
        });
        self.loops.push(Loop { name, done, going_on });
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress(self.loops.iter().map(|one| *one.done.borrow()).collect())
    }

    /// Whether each loop has begun and ended a turn since then.
    pub(crate) fn went_on_since(&self, before: &Progress) -> bool {
        // One more may have been under way.
        let mut loops = self.loops.iter().zip(&before.0);
        loops.all(|(one, before)| *one.done.borrow() >= before + 2)
    }

    /// Waits until each loop has begun and ended a turn.
    pub(crate) async fn go_on_all(&self) {
        let before = self.progress();
        for (one, before) in self.loops.iter().zip(&before.0) {
            let mut done = one.done.clone();
            let more = timeout(PATIENCE, done.wait_for(|done| *done >= before + 2));
            let more = self.unless_they_fail(more).await;
            assert!(matches!(more, Ok(Ok(_))), "{} does not go on", one.name);
        }
    }

    /// Does this, unless one of the loops fails before.
    pub(crate) async fn unless_they_fail<T>(&self, act: impl Future<Output = T>) -> T {
        let mut failure = self.failure.subscribe();
        tokio::select! {
            done = act => done,
            failed = failure.wait_for(Option::is_some) => {
                panic!("the neighbour's work failed: {}", failed.expect("a sender").as_deref().unwrap_or_default())
            }
        }
    }

    /// Lets no turn begin as long as this is held, once those under way are over.
    pub(crate) async fn rest(&self) -> RwLockWriteGuard<'_, ()> {
        let resting = timeout(PATIENCE, self.turns.write());
        let resting = self.unless_they_fail(resting).await;
        resting.expect("the neighbour's turns end")
    }
}
