//! Runs: cold functions, warm HTTP vals, and what an idle server holds.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    Options,
    load::{self, Connection, get, load, post},
    peers,
    process::{self, Server, children, free_address, peer_command, resident_mb, runs_deno, timed},
    report::{self, Limit, figure, heading, median, median_ratio, note, ratio},
};

/// A script val whose function is called.
pub(crate) const FUNCTION: &str =
    "export default function greet(name: string): string { return `Hello, ${name}!`; }\n";
/// An HTTP val that answers at once.
pub(crate) const HTTP: &str =
    "export default function handle(_request: Request): Response { return new Response(\"Hello!\"); }\n";
const CONNECTIONS: usize = 16;

/// Measures cold runs, warm requests and idle memory.
pub(crate) async fn measure(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (hamlet, token) = process::hamlet(options, &folder.path().join("hamlet"), &[]).await?;
    let authorization = format!("authorization: Bearer {token}\r\n");
    idle(&hamlet).await?;
    cold(options, folder.path(), &hamlet, &authorization).await?;
    warm(options, folder.path(), &hamlet, &authorization).await?;
    hamlet.stop().await
}

/// What the server and its waiting workers hold before the first run.
async fn idle(hamlet: &Server) -> Result<()> {
    heading("Idle");
    // Workers start in the background: wait until their number stands still.
    let id = hamlet.id()?;
    let mut before = usize::MAX;
    while children(id)?.len() != before {
        before = children(id)?.len();
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    ratio(
        "Server, resident memory in MB",
        resident_mb(id)?,
        &Limit::AtMost(60.0, 60.0),
    );
    for child in children(id)? {
        let name = if runs_deno(child)? {
            "A waiting worker, resident memory (shared pages counted)"
        } else {
            "What compiles, resident memory (shared pages counted)"
        };
        figure(name, resident_mb(child)?, "MB");
    }
    Ok(())
}

/// A function val through `/v1/run` that has no worker yet, beside `deno run` of the same file from nothing.
async fn cold(options: &Options, folder: &Path, hamlet: &Server, authorization: &str) -> Result<()> {
    let turns = options.rounds * 8;
    heading(&format!("Cold function val, {turns} turns"));
    let host = hamlet.address.to_string();
    let peer = DenoRun::new(options, folder)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut connection = Connection::open(hamlet.address).await?;
    for turn in 0..=turns {
        let name = format!("cold{turn}");
        let val =
            json!({"name": name, "code": format!("{FUNCTION}// {turn}\n"), "type": "script"}).to_string();
        load::json(hamlet.address, &post(&host, "/v1/vals", authorization, &val)).await?;
        let call = post(
            &host,
            &format!("/v1/run/bench.{name}"),
            authorization,
            r#"{"args":["Ada"]}"#,
        );
        let start = Instant::now();
        let answer = connection.send(call.as_bytes()).await?;
        let time = start.elapsed();
        anyhow::ensure!(
            answer.status == 200,
            "{}: {}",
            answer.status,
            String::from_utf8_lossy(answer.body)
        );
        let deno_time = peer.run().await?;
        // The first turn fills Deno's own cache.
        if turn > 0 {
            ours.push(time.as_secs_f64() * 1e3);
            theirs.push(deno_time.as_secs_f64() * 1e3);
        }
    }
    figure("Hamlet, POST /v1/run, median", median(&ours), "ms");
    figure("deno run, median", median(&theirs), "ms");
    ratio(
        "Hamlet / deno run",
        median_ratio(&ours, &theirs),
        &Limit::AtMost(0.35, 0.25),
    );
    Ok(())
}

/// `deno run` of a file that calls the function itself, with a cache of its own.
pub(crate) struct DenoRun {
    deno: PathBuf,
    file: PathBuf,
    cache: PathBuf,
}

impl DenoRun {
    /// Writes the file into `folder`.
    pub(crate) fn new(options: &Options, folder: &Path) -> Result<Self> {
        let file = folder.join("greet.ts");
        std::fs::write(&file, format!("{FUNCTION}console.log(greet(\"Ada\"));\n"))?;
        Ok(Self {
            deno: options.deno.clone(),
            file,
            cache: folder.join("deno"),
        })
    }

    /// Runs it once; the first time fills the cache.
    pub(crate) async fn run(&self) -> Result<Duration> {
        let mut command = Command::new(&self.deno);
        command
            .args(["run", "--no-prompt", "--no-config", "--no-lock"])
            .arg(&self.file)
            .env("DENO_DIR", &self.cache);
        let (time, said) = timed(command).await?;
        anyhow::ensure!(said == "Hello, Ada!", "deno run said {said:?}");
        Ok(time)
    }
}

/// A warm HTTP val with its runs recorded, beside the least proxy before the same handler.
async fn warm(options: &Options, folder: &Path, hamlet: &Server, authorization: &str) -> Result<()> {
    heading(&format!(
        "Warm HTTP val, runs recorded, {CONNECTIONS} connections"
    ));
    let host = hamlet.address.to_string();
    let val = json!({"name": "warm", "code": HTTP, "type": "http", "privacy": "public"}).to_string();
    let made = load::json(hamlet.address, &post(&host, "/v1/vals", authorization, &val)).await?;
    let ours = get(val_host(&made)?, "/", "");

    let socket = folder.join("bare.sock");
    let script = folder.join("bare.ts");
    let handler = HTTP.replace("export default ", "");
    std::fs::write(
        &script,
        format!(
            "{handler}Deno.serve({{ path: {:?} }}, handle);\n",
            socket.display().to_string()
        ),
    )?;
    let mut deno = Command::new(&options.deno);
    deno.args(["run", "--no-prompt", "--no-config", "--no-lock", "--allow-all"])
        .arg(&script);
    let mut deno = deno
        .kill_on_drop(true)
        .stdout(std::process::Stdio::null())
        .spawn()?;
    while tokio::net::UnixStream::connect(&socket).await.is_err() {
        anyhow::ensure!(deno.try_wait()?.is_none(), "the bare Deno.serve ended");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let address = free_address()?;
    let (listen, path) = (
        address.to_string(),
        socket.to_str().context("a path that is no UTF-8")?,
    );
    let proxy = Server::start(peer_command(&["--listen", &listen, "proxy", path])?, address).await?;
    let theirs = get(&listen, "/", "");
    let node = peers::deno_http_worker(options, &handler).await?;

    let (mut our_rates, mut their_rates, mut p99) = (Vec::new(), Vec::new(), Vec::new());
    let mut node_rates = Vec::new();
    for round in 0..=options.rounds {
        let time = Duration::from_secs_f64(options.seconds);
        let our_load = load(hamlet.address, &ours, CONNECTIONS, time)
            .await
            .context("Hamlet")?;
        let their_load = load(proxy.address, &theirs, CONNECTIONS, time)
            .await
            .context("the bare proxy")?;
        if let Some(node) = &node {
            let request = get(&node.address.to_string(), "/", "");
            let node_load = load(node.address, &request, CONNECTIONS, time)
                .await
                .context("deno-http-worker")?;
            if round > 0 {
                node_rates.push(node_load.rate);
            }
        }
        if round > 0 {
            our_rates.push(our_load.rate);
            their_rates.push(their_load.rate);
            p99.push(report::percentile_ms(&our_load.latencies, 0.99));
        }
    }
    figure("Hamlet, HTTP val", median(&our_rates), "a second");
    figure("Hamlet, HTTP val, p99", median(&p99), "ms");
    figure("bare proxy", median(&their_rates), "a second");
    ratio(
        "Hamlet / bare proxy",
        median_ratio(&our_rates, &their_rates),
        &Limit::AtLeast(0.4, 0.5),
    );
    if let Some(node) = node {
        figure("deno-http-worker behind Node", median(&node_rates), "a second");
        ratio(
            "Hamlet / deno-http-worker",
            median_ratio(&our_rates, &node_rates),
            &Limit::AtLeast(1.5, 1.5),
        );
        node.stop().await?;
    } else {
        note("deno-http-worker was not given (--deno-http-worker FOLDER)");
    }
    figure(
        "Server after that load, resident memory",
        resident_mb(hamlet.id()?)?,
        "MB",
    );
    proxy.stop().await?;
    deno.kill().await?;
    Ok(())
}

/// Where an HTTP val answers.
pub(crate) fn val_host(made: &Value) -> Result<&str> {
    let endpoint = made["links"]["endpoint"]
        .as_str()
        .context("an HTTP val without an endpoint")?;
    Ok(endpoint.trim_start_matches("http://").trim_end_matches('/'))
}
