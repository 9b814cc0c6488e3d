//! The server's end of the process of one account's database.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    path::Path,
    pin::pin,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use bytes::Bytes;
use hamlet_store::{SqlError, SqlLimits};
use nix::sys::signal::Signal;
use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::oneshot,
    time::{Instant, sleep, timeout},
};

use super::{
    WRITE_GRACE,
    frames::{Ask, Orders, Refusal, Say, head, read_say},
    serve::SERVE_ACCOUNT,
};

/// How long a process may take until its database is open: a long log that a crash left is read whole.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How long statements may go on beyond their time: SQLite stops them by itself, but not in the midst of one step.
const GRACE: Duration = Duration::from_secs(1);
/// How long a process may take to end.
const END_LIMIT: Duration = Duration::from_secs(1);

/// One process; it ends when this is dropped.
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    limits: SqlLimits,
}

/// How a call ended.
pub(super) enum Ended {
    /// The process can be asked again.
    Well(Result<Bytes, Refusal>),
    /// It can't.
    Badly(SqlError),
}

impl Process {
    /// Starts one, which has its database open when this answers.
    pub(super) async fn start(launcher: &Path, orders: &Orders) -> Result<Self, SqlError> {
        let unusable = |error: &dyn std::fmt::Display| SqlError::Unusable(error.to_string());
        let mut child = Command::new(launcher)
            .arg(SERVE_ACCOUNT)
            .arg(serde_json::to_string(orders).map_err(|error| unusable(&error))?)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| unusable(&error))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(unusable(&"its process has no pipes"));
        };
        let mut process = Self {
            child,
            input,
            output,
            limits: orders.limits,
        };
        match timeout(START_LIMIT, read_say(&mut process.output)).await {
            Ok(Ok((Say::Ready, _))) => Ok(process),
            Ok(Ok((Say::Refused, why))) => match serde_json::from_slice(&why) {
                Ok(Refusal::Sql(error)) => Err(error),
                _ => Err(unusable(&"its process did not say why it can't be opened")),
            },
            Ok(_) => Err(unusable(&"its process ended at its start")),
            Err(_) => Err(unusable(&"its process was not ready in time")),
        }
    }

    /// This process, if it has not ended.
    pub(super) fn alive(mut self) -> Option<Self> {
        matches!(self.child.try_wait(), Ok(None)).then_some(self)
    }

    /// Asks it. When `caller` ends, nobody waits for the answer any more: what only reads is given up then, and what has
    /// begun to write goes on to its end or to that of its time, as its caller may have meant it to.
    pub(super) async fn call(&mut self, ask: Ask, body: &[u8], mut caller: oneshot::Receiver<()>) -> Ended {
        let mut end = pin!(sleep(self.limits.time + GRACE));
        tokio::select! {
            sent = send(&mut self.input, ask, body) => if sent.is_err() {
                return Ended::Badly(self.post_mortem().await);
            },
            () = &mut end => return Ended::Badly(self.limits.too_slow()),
            _ = &mut caller => return Ended::Badly(SqlError::Lost),
        }
        let last_moment = Instant::now() + self.limits.time + WRITE_GRACE;
        let mut writes = false;
        loop {
            tokio::select! {
                said = read_say(&mut self.output) => match said {
                    Ok((Say::Writes, _)) => {
                        writes = true;
                        end.as_mut().reset(last_moment);
                    }
                    Ok((Say::Answer, json)) => return Ended::Well(Ok(json)),
                    Ok((Say::Refused, why)) => return match serde_json::from_slice(&why) {
                        Ok(refusal) => Ended::Well(Err(refusal)),
                        Err(error) => Ended::Badly(SqlError::Unusable(error.to_string())),
                    },
                    Ok((Say::Ready, _)) | Err(_) => return Ended::Badly(self.post_mortem().await),
                },
                () = &mut end => return Ended::Badly(self.limits.too_slow()),
                _ = &mut caller, if !writes => return Ended::Badly(SqlError::Lost),
            }
        }
    }

    /// Lets it end by itself, which leaves its files in order.
    pub(super) async fn end(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        // One that takes longer is ended: its files are never in such disorder that they could not be read.
        let _ = timeout(END_LIMIT, child.wait()).await;
    }

    /// Why it answers no more.
    async fn post_mortem(&mut self) -> SqlError {
        let status = timeout(END_LIMIT, self.child.wait()).await;
        let status: Option<ExitStatus> = status.ok().and_then(io::Result::ok);
        let signal = status.and_then(|status| status.signal());
        match signal.and_then(|signal| Signal::try_from(signal).ok()) {
            Some(Signal::SIGXFSZ) => self.limits.full(),
            Some(Signal::SIGXCPU) => self.limits.too_slow(),
            // So it ends where it is given no memory.
            Some(Signal::SIGABRT) => self.limits.too_greedy(),
            _ => {
                tracing::warn!(
                    ?status,
                    "the process of an account's database ended while it was asked"
                );
                SqlError::Lost
            }
        }
    }
}

async fn send(input: &mut ChildStdin, ask: Ask, body: &[u8]) -> io::Result<()> {
    input.write_all(&head(ask as u8, body.len())?).await?;
    input.write_all(body).await?;
    input.flush().await
}
