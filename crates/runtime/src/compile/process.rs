//! The server's end of a process that compiles.

use std::{io, os::unix::process::ExitStatusExt, path::Path, process::Stdio, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt};
use hamlet_models::RunError;
use nix::sys::signal::Signal;
use tokio::{
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};
use tokio_util::codec::{FramedRead, FramedWrite, LengthDelimitedCodec};

use super::{
    serve::{COMPILE, MEMORY_MB, STRICT},
    syntax_error,
    words::{ANSWER_MAX_BYTES, ASK_MAX_BYTES},
};

/// How long compiling may take, with the start of the process.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a process may take to end that answers no more.
const END_LIMIT: Duration = Duration::from_secs(1);

/// One process; it ends when this is dropped.
pub(super) struct Process {
    child: Child,
    input: FramedWrite<ChildStdin, LengthDelimitedCodec>,
    output: FramedRead<ChildStdout, LengthDelimitedCodec>,
}

/// Why code was not compiled, beside what is wrong with it.
#[derive(Debug)]
pub(super) enum Unable {
    /// The compiler gave up: for want of memory, in most cases.
    TooMuch,
    /// It takes more time than compiling may.
    TooMuchTime,
    /// Our own fault.
    Lost(io::Error),
}

impl Unable {
    /// The error that the code of this address has.
    pub(super) fn told_of(self, url: &str) -> RunError {
        let why = match self {
            Self::TooMuch => format!(
                "the code can't be compiled: it takes more than {MEMORY_MB} MB of memory, nests too deeply, or meets a fault of \
                 the compiler"
            ),
            Self::TooMuchTime => format!(
                "the code can't be compiled: it takes more than {} s",
                PATIENCE.as_secs()
            ),
            Self::Lost(cause) => {
                tracing::error!(%cause, "a process that compiles could not be used");
                "the code could not be compiled".to_owned()
            }
        };
        syntax_error(url, 1, 1, &why)
    }
}

impl From<io::Error> for Unable {
    fn from(cause: io::Error) -> Self {
        Self::Lost(cause)
    }
}

impl Process {
    /// Starts one.
    pub(super) fn start(launcher: &Path, strict: bool) -> io::Result<Self> {
        let mut child = Command::new(launcher)
            .arg(COMPILE)
            .args(strict.then_some(STRICT))
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        let most = |bytes| {
            LengthDelimitedCodec::builder()
                .max_frame_length(bytes)
                .new_codec()
        };
        Ok(Self {
            child,
            input: FramedWrite::new(input, most(ASK_MAX_BYTES)),
            output: FramedRead::new(output, most(ANSWER_MAX_BYTES)),
        })
    }

    /// This process, if it has not ended.
    pub(super) fn alive(mut self) -> Option<Self> {
        matches!(self.child.try_wait(), Ok(None)).then_some(self)
    }

    /// Asks it; after an error it must not be asked again.
    pub(super) async fn ask(&mut self, ask: Bytes) -> Result<BytesMut, Unable> {
        let answer = async {
            self.input.send(ask).await?;
            self.output.next().await.transpose()
        };
        match timeout(PATIENCE, answer).await {
            Ok(Ok(Some(answer))) => Ok(answer),
            Ok(Ok(None) | Err(_)) => Err(self.post_mortem().await),
            Err(_) => Err(Unable::TooMuchTime),
        }
    }

    /// Why it answers no more.
    async fn post_mortem(&mut self) -> Unable {
        let status = timeout(END_LIMIT, self.child.wait()).await;
        let status = status.ok().and_then(io::Result::ok);
        let signal = status.and_then(|status| status.signal());
        match signal.and_then(|signal| Signal::try_from(signal).ok()) {
            // So it ends where it gives up.
            Some(Signal::SIGABRT | Signal::SIGSEGV) => Unable::TooMuch,
            Some(Signal::SIGXCPU) => Unable::TooMuchTime,
            _ => io::Error::other(format!("it ended while it was asked: {status:?}")).into(),
        }
    }
}
