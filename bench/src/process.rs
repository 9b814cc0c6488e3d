//! Processes that are measured: started on a free port, ended when dropped.

use std::{
    net::SocketAddr,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};

use crate::Options;

/// How long a server may take to end.
const STOPS_WITHIN: Duration = Duration::from_secs(10);

/// A server under measurement.
pub(crate) struct Server {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Server {
    /// Starts a command that listens on `address`, and waits until it answers there.
    pub(crate) async fn start(mut command: Command, address: SocketAddr) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("can't start {:?}", command.as_std().get_program()))?;
        let mut server = Self { address, child };
        let start = Instant::now();
        while TcpStream::connect(address).await.is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("{:?} ended with {status}", command.as_std().get_program());
            }
            if start.elapsed() > Duration::from_secs(30) {
                bail!(
                    "{:?} did not listen on {address} within 30 s",
                    command.as_std().get_program()
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(server)
    }

    /// The process's id.
    pub(crate) fn id(&self) -> Result<u32> {
        self.child.id().context("the server has ended")
    }

    /// Asks the process to end, as it should with all that it has started, and waits for that.
    pub(crate) async fn stop(mut self) -> Result<()> {
        let id = Pid::from_raw(i32::try_from(self.id()?)?);
        kill(id, Signal::SIGTERM)?;
        timeout(STOPS_WITHIN, self.child.wait())
            .await
            .with_context(|| format!("what listens on {} does not end", self.address))??;
        Ok(())
    }
}

/// An address on this machine that nothing listens on now.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// This program again, as a peer.
pub(crate) fn peer_command(args: &[&str]) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("peer").args(args);
    Ok(command)
}

/// Starts Hamlet over a data folder, with these settings, and makes a user; answers the server and the user's API token.
pub(crate) async fn hamlet(options: &Options, data: &Path, settings: &[&str]) -> Result<(Server, String)> {
    let address = free_address()?;
    let mut command = Command::new(&options.hamlet);
    command
        .arg("serve")
        .arg("--listen")
        .arg(address.to_string())
        .arg("--data-dir")
        .arg(data)
        .arg("--deno")
        .arg(&options.deno)
        .args(settings);
    let server = Server::start(command, address).await?;
    let output = Command::new(&options.hamlet)
        .args(["user", "create", "bench", "--data-dir"])
        .arg(data)
        .output()
        .await?;
    let text = String::from_utf8(output.stdout)?;
    let token = text.split_whitespace().last().with_context(|| {
        format!(
            "no token was printed: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    Ok((server, token.to_owned()))
}

/// Memory that a process holds in RAM, in megabytes.
pub(crate) fn resident_mb(id: u32) -> Result<f64> {
    megabytes(&format!("/proc/{id}/status"), "VmRSS:")
}

/// The same with each shared page divided by those that share it.
pub(crate) fn proportional_mb(id: u32) -> Result<f64> {
    megabytes(&format!("/proc/{id}/smaps_rollup"), "Pss:")
}

fn megabytes(file: &str, name: &str) -> Result<f64> {
    let text = std::fs::read_to_string(file)?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .with_context(|| format!("no {name} in {file}"))?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1024.0)
}

/// The ids of a process's children.
pub(crate) fn children(id: u32) -> Result<Vec<u32>> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{id}/task"))? {
        let list = std::fs::read_to_string(task?.path().join("children")).unwrap_or_default();
        children.extend(list.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
    }
    Ok(children)
}

/// Whether a process is a worker, and not one of the server's own.
pub(crate) fn runs_deno(id: u32) -> Result<bool> {
    let name = std::fs::read_to_string(format!("/proc/{id}/comm"))?;
    Ok(name.trim() == "deno")
}

/// Runs a command to its end and answers how long that took and the last line it printed.
pub(crate) async fn timed(mut command: Command) -> Result<(Duration, String)> {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("no standard output")?).lines();
    let mut last = String::new();
    while let Some(line) = lines.next_line().await? {
        last = line;
    }
    let status = child.wait().await?;
    let time = start.elapsed();
    if !status.success() {
        bail!("{:?} ended with {status}", command.as_std().get_program());
    }
    Ok((time, last))
}
