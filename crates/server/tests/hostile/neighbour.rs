//! An account whose work goes on beside the hostile ones: visits, calls, ticks, mail, and the interface itself.

use std::sync::Arc;

use futures_util::FutureExt;
use hamlet_models::{ExtendedVal, FullRun, Privacy, RunStatus, ValKind};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};
use uuid::Uuid;

use crate::{
    account::{Account, Tried},
    load::Loads,
    post::Post,
    program::Program,
    siege::LOOK_AGAIN,
};

const PAGE: &str = "import { marker } from 'https://esm.town/v/ada/hidden';
let count = marker.length;
export default () => Response.json({ count: count++, pid: Deno.pid, folder: Deno.cwd() });";
const SUM: &str = "export default (a: number, b: number) => [a + b, Deno.env.get('SECRET')];";
const TICK: &str = "export default () => console.log('tick', Deno.env.get('SECRET'));";
const CLERK: &str = "export default (email) => console.log(email.subject, email.text?.trim());";

/// The neighbour, with its loops.
pub(crate) struct Neighbour {
    pub(crate) account: Account,
    /// The value of its environment variable, which no other account may learn.
    pub(crate) secret: Arc<str>,
    /// A private val of its own, which its page imports.
    pub(crate) hidden: ExtendedVal,
    /// What stands in the code of that, and which no other account may learn either.
    pub(crate) marker: Arc<str>,
    pub(crate) loads: Loads,
    page: watch::Receiver<Worker>,
}

/// Where its page comes from.
#[derive(Clone, Default, Deserialize)]
pub(crate) struct Worker {
    pub(crate) pid: u32,
    pub(crate) folder: String,
}

impl Neighbour {
    /// Moves in, and begins to work.
    pub(crate) async fn of(server: &Program) -> Self {
        let account = server.account("ada").await;
        let [secret, marker] = [(); 2].map(|()| Arc::from(Uuid::new_v4().simple().to_string()));
        account.set_secret("SECRET", &secret).await.expect("a secret");
        let code = format!("export const marker = '{marker}'; export default () => marker;");
        let hidden = account
            .make("hidden", ValKind::Script, Privacy::Private, &code)
            .await;
        let (seen, page) = watch::channel(Worker::default());
        let mut neighbour = Self {
            account,
            secret,
            hidden: hidden.expect("a val"),
            marker,
            loads: Loads::new(),
            page,
        };
        neighbour.is_visited(seen).await;
        neighbour.writes().await;
        neighbour.is_called().await;
        neighbour.ticks().await;
        neighbour.is_mailed(Post::to(server)).await;
        neighbour
    }

    /// Where its page came from last.
    pub(crate) fn worker(&self) -> Worker {
        self.page.borrow().clone()
    }

    async fn val(&self, name: &str, kind: ValKind, code: &str) -> Arc<ExtendedVal> {
        let val = self.account.make(name, kind, Privacy::Private, code).await;
        Arc::new(val.expect("a val"))
    }

    async fn is_visited(&mut self, seen: watch::Sender<Worker>) {
        let (ada, val) = (self.account.clone(), self.val("page", ValKind::Http, PAGE).await);
        let seen = Arc::new(seen);
        self.loads.go_on("a visit", move |_| {
            let (ada, val, seen) = (ada.clone(), val.clone(), seen.clone());
            let turn = async move {
                let (status, body) = ada.visit(&val, "/").await?;
                let said = String::from_utf8_lossy(&body);
                let worker = serde_json::from_str(&said).map_err(|error| format!("{status} {said}: {error}"));
                seen.send_replace(worker?);
                Ok(())
            };
            turn.boxed()
        });
    }

    async fn writes(&mut self) {
        let ada = self.account.clone();
        let notes = self.val("notes", ValKind::Script, "export default 0").await;
        self.loads.go_on("a save", move |number| {
            let (ada, notes) = (ada.clone(), notes.clone());
            let turn = async move {
                let code = format!("export default {number}");
                let versions = format!("/v1/vals/{}/versions", notes.val.id);
                let saved: ExtendedVal = ada.post(&versions, &json!({"code": code})).await?;
                let vals: Value = ada.get("/v1/vals").await?;
                let select = json!({"statement": {"sql": "select ? + 1", "args": [number]}});
                let rows: Value = ada.post("/v1/sqlite/execute", &select).await?;
                expect(rows["rows"] == json!([[number + 1]]), &rows)?;
                let runs = ada.runs(&notes).await?;
                let listed = vals["data"].as_array().is_some_and(|vals| {
                    vals.iter()
                        .any(|val| val["name"] == "notes" && val["version"] == number)
                });
                expect(
                    saved.val.code == Some(code) && listed && runs.is_empty(),
                    &(saved, vals, runs),
                )
            };
            turn.boxed()
        });
    }

    async fn is_called(&mut self) {
        let (ada, secret) = (self.account.clone(), self.secret.clone());
        self.val("sum", ValKind::Script, SUM).await;
        self.loads.go_on("a call", move |number| {
            let (ada, secret) = (ada.clone(), secret.clone());
            let turn = async move {
                let sum: Value = ada.post("/v1/run/ada.sum", &json!({"args": [number, 1]})).await?;
                expect(sum == json!([number + 1, &*secret]), &sum)
            };
            turn.boxed()
        });
    }

    async fn ticks(&mut self) {
        let (ada, secret) = (self.account.clone(), self.secret.clone());
        let clock = self.val("clock", ValKind::Interval, TICK).await;
        self.loads.go_on("a tick", move |_| {
            let (ada, clock, said) = (ada.clone(), clock.clone(), format!("tick {secret}"));
            let turn = async move {
                let run = ada.run(&clock, &json!({})).await?;
                expect(ended_well(&run, &said), &run)
            };
            turn.boxed()
        });
    }

    async fn is_mailed(&mut self, post: Post) {
        let (ada, clerk) = (
            self.account.clone(),
            self.val("clerk", ValKind::Email, CLERK).await,
        );
        let last = Arc::new(watch::Sender::new(None));
        self.loads.go_on("a message", move |number| {
            let (ada, clerk, post, last) = (ada.clone(), clerk.clone(), post.clone(), last.clone());
            let turn = async move {
                post.send("ada", "clerk", &format!("number {number}")).await?;
                let run = loop {
                    let latest = ada.runs(&clerk).await?.into_iter().next();
                    match latest.filter(|run| run.status.is_over() && *last.borrow() != Some(run.id)) {
                        Some(run) => break ada.get::<FullRun>(&format!("/v1/runs/{}", run.id)).await?,
                        None => sleep(LOOK_AGAIN).await,
                    }
                };
                last.send_replace(Some(run.id));
                expect(ended_well(&run, &format!("number {number} hello")), &run)
            };
            turn.boxed()
        });
    }
}

/// Whether a run ended well and printed this line alone.
fn ended_well(run: &FullRun, said: &str) -> bool {
    let lines: Vec<&str> = run.logs.iter().map(|line| line.message.as_str()).collect();
    run.status == RunStatus::Ok && run.error.is_none() && lines == [said]
}

fn expect(is_so: bool, answer: &impl std::fmt::Debug) -> Tried<()> {
    is_so.then_some(()).ok_or_else(|| format!("{answer:?}"))
}
