//! Many vals at once: cold runs without a pause, hundreds of warm workers, a val that prints and prints.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use serde_json::json;

use crate::{
    Options,
    load::{self, Connection, get, load, post},
    process::{self, Server, children, proportional_mb, resident_mb, runs_deno},
    report::{Limit, figure, heading, median, median_ratio, percentile_ms, ratio},
    runtime::{DenoRun, FUNCTION, HTTP, val_host},
};

/// How many callers ask for cold runs at the same time.
const CALLERS: usize = 4;
/// How often the interface is asked meanwhile.
const PROBE: Duration = Duration::from_millis(10);
/// How many HTTP vals are kept warm.
const CROWD: usize = 200;
/// How many lines the val prints.
const LINES: usize = 100_000;

/// Measures all three.
pub(crate) async fn measure(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (hamlet, token) = process::hamlet(options, &folder.path().join("few"), &[]).await?;
    let bench = Bench::new(&hamlet, &token);
    bench.cold(options, folder.path()).await?;
    bench.logs(options).await?;
    hamlet.stop().await?;
    crowd(options, &folder.path().join("many")).await
}

/// A server, and its user.
struct Bench<'a> {
    hamlet: &'a Server,
    host: String,
    authorization: String,
}

impl<'a> Bench<'a> {
    fn new(hamlet: &'a Server, token: &str) -> Self {
        Self {
            hamlet,
            host: hamlet.address.to_string(),
            authorization: format!("authorization: Bearer {token}\r\n"),
        }
    }

    async fn create(&self, name: &str, kind: &str, code: &str) -> Result<serde_json::Value> {
        let val = json!({"name": name, "code": code, "type": kind, "privacy": "public"}).to_string();
        let request = post(&self.host, "/v1/vals", &self.authorization, &val);
        load::json(self.hamlet.address, &request).await
    }

    fn call(&self, name: &str, args: &str) -> String {
        post(
            &self.host,
            &format!("/v1/run/bench.{name}"),
            &self.authorization,
            args,
        )
    }

    /// Each run in a worker of its own, as many as there is room for, with the interface asked beside them; then
    /// `deno run` of the same file by as many callers, which is what the machine has room for.
    async fn cold(&self, options: &Options, folder: &Path) -> Result<()> {
        heading(&format!("Cold runs without a pause, {CALLERS} callers"));
        let made = self.create("cold", "script", FUNCTION).await?;
        let id = made["id"].as_str().context("a val without an id")?;
        let call = self.call("cold", r#"{"args":["Ada"]}"#);
        let ask = get(&self.host, &format!("/v1/vals/{id}"), &self.authorization);
        let time = Duration::from_secs_f64(options.seconds * options.rounds as f64);
        let (runs, waits) = tokio::join!(
            load(self.hamlet.address, &call, CALLERS, time),
            probe(self.hamlet, &ask, time)
        );
        let rate = runs?.rate;
        ratio("Cold runs a second", rate, &Limit::AtLeast(60.0, 60.0));
        ratio(
            "GET /v1/vals/{id} meanwhile, p99 in ms",
            percentile_ms(&waits?, 0.99),
            &Limit::AtMost(50.0, 50.0),
        );
        let bare = bare_runs(&DenoRun::new(options, folder)?, time).await?;
        figure("deno run of the same file", bare, "a second");
        figure("Hamlet / deno run", rate / bare, "");
        Ok(())
    }

    /// A val that prints, beside one that computes as long without a word: what the lines cost its neighbour and the server.
    async fn logs(&self, options: &Options) -> Result<()> {
        heading(&format!("A val that prints {LINES} lines, again and again"));
        let print = format!(
            "export default () => {{ for (let i = 0; i < {LINES}; i++) console.log(\"line\", i); }};\n"
        );
        let compute = "export default () => { const end = Date.now() + 300; while (Date.now() < end); };\n";
        self.create("prints", "script", &print).await?;
        self.create("computes", "script", compute).await?;
        let made = self.create("neighbour", "http", HTTP).await?;
        let neighbour = get(val_host(&made)?, "/", "");
        let (prints, computes) = (self.call("prints", "{}"), self.call("computes", "{}"));

        let time = Duration::from_secs_f64(options.seconds);
        let (mut beside_prints, mut beside_computes, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
        let mut before = f64::NAN;
        for round in 0..=options.rounds {
            let (quiet, other) = tokio::join!(
                load(self.hamlet.address, &neighbour, CALLERS, time),
                load(self.hamlet.address, &computes, 1, time)
            );
            other.context("the val that computes")?;
            if round == 0 {
                // What the neighbour alone makes the server hold.
                before = resident_mb(self.hamlet.id()?)?;
            }
            let (loud, other, held) = tokio::join!(
                load(self.hamlet.address, &neighbour, CALLERS, time),
                load(self.hamlet.address, &prints, 1, time),
                most_resident(self.hamlet, time)
            );
            other.context("the val that prints")?;
            most = most.max(held?);
            if round > 0 {
                beside_computes.push(quiet?.rate);
                beside_prints.push(loud?.rate);
            }
        }
        figure(
            "A neighbour beside a val that computes",
            median(&beside_computes),
            "a second",
        );
        figure(
            "A neighbour beside the val that prints",
            median(&beside_prints),
            "a second",
        );
        ratio(
            "beside lines / beside silence",
            median_ratio(&beside_prints, &beside_computes),
            &Limit::AtLeast(0.9, 0.9),
        );
        ratio(
            "More memory of the server at most, in MB",
            most - before,
            &Limit::AtMost(50.0, 50.0),
        );
        Ok(())
    }
}

/// Hundreds of HTTP vals that are all warm, then one more.
async fn crowd(options: &Options, data: &Path) -> Result<()> {
    heading(&format!("{CROWD} warm HTTP vals"));
    let (hamlet, token) = process::hamlet(options, data, &["--warm-seconds", "600"]).await?;
    let bench = Bench::new(&hamlet, &token);
    let mut hosts = Vec::new();
    for number in 0..=CROWD {
        let made = bench.create(&format!("crowd{number}"), "http", HTTP).await?;
        hosts.push(val_host(&made)?.to_owned());
    }
    let start = Instant::now();
    ask_each(&hamlet, &hosts[..CROWD]).await?;
    figure(
        "First requests to all of them",
        start.elapsed().as_secs_f64(),
        "s",
    );
    let mut workers = children(hamlet.id()?)?;
    workers.retain(|id| runs_deno(*id).unwrap_or(false));
    figure("Workers", workers.len() as f64, "");
    let mut held = 0.0;
    for worker in workers {
        // One may have ended since.
        held += proportional_mb(worker).unwrap_or(0.0);
    }
    ratio(
        "Workers, memory with shared pages divided, in MB",
        held,
        &Limit::AtMost(4096.0, 4096.0),
    );
    let start = Instant::now();
    ask_each(&hamlet, &hosts).await?;
    figure("One more, and all again", start.elapsed().as_secs_f64(), "s");
    hamlet.stop().await
}

async fn ask_each(hamlet: &Server, hosts: &[String]) -> Result<()> {
    let mut connection = Connection::open(hamlet.address).await?;
    for host in hosts {
        let status = connection.send(get(host, "/", "").as_bytes()).await?.status;
        anyhow::ensure!(status == 200, "{host} answered {status}");
    }
    Ok(())
}

/// How many runs a second as many callers get of `deno run`.
async fn bare_runs(peer: &DenoRun, time: Duration) -> Result<f64> {
    peer.run().await?;
    let start = Instant::now();
    let caller = async |_| {
        let mut runs = 0_u32;
        while start.elapsed() < time {
            peer.run().await?;
            runs += 1;
        }
        anyhow::Ok(runs)
    };
    let runs: u32 = try_join_all((0..CALLERS).map(caller)).await?.iter().sum();
    Ok(f64::from(runs) / start.elapsed().as_secs_f64())
}

/// How long single answers take while something else goes on, sorted.
async fn probe(server: &Server, request: &str, time: Duration) -> Result<Vec<Duration>> {
    let mut connection = Connection::open(server.address).await?;
    let (start, mut waits) = (Instant::now(), Vec::new());
    while start.elapsed() < time {
        let sent = Instant::now();
        let status = connection.send(request.as_bytes()).await?.status;
        anyhow::ensure!(status == 200, "the interface answered {status}");
        waits.push(sent.elapsed());
        tokio::time::sleep(PROBE).await;
    }
    waits.sort_unstable();
    Ok(waits)
}

/// The most memory that the server holds in this time, in megabytes.
async fn most_resident(server: &Server, time: Duration) -> Result<f64> {
    let (start, mut most) = (Instant::now(), 0.0_f64);
    while start.elapsed() < time {
        most = most.max(resident_mb(server.id()?)?);
        tokio::time::sleep(PROBE).await;
    }
    Ok(most)
}
