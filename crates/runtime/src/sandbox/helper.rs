//! Processes of the server's own that work on what isn't to be trusted, such as code and mail: what would take the
//! server with it ends one of them, and is an answer.

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{ExitCode, Stdio},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt};
use nix::sys::signal::Signal;
use tokio::{
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};
use tokio_util::codec::{FramedRead, FramedWrite, LengthDelimitedCodec};

use super::enclosure::{Enclosure, allow_cpu};

/// The second argument, where the process must not go on if this system lacks a part of its lock.
const STRICT: &str = "strict";
/// The most bytes of what is asked or answered.
const MOST_BYTES: usize = 128 << 20;
/// How long a process may take to end that answers no more.
const END_LIMIT: Duration = Duration::from_secs(1);

/// The server's end of such a process, which ends when this is dropped.
pub struct Helper {
    child: Child,
    input: FramedWrite<ChildStdin, LengthDelimitedCodec>,
    output: FramedRead<ChildStdout, LengthDelimitedCodec>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum GaveUp {
    /// It took more memory than it may, or nests too deeply, or met a fault.
    TooMuch,
    /// It took more time than it may.
    TooLong,
    /// The process could not be used.
    Lost(io::Error),
}

impl From<io::Error> for GaveUp {
    fn from(cause: io::Error) -> Self {
        Self::Lost(cause)
    }
}

impl Helper {
    /// Starts one: `launcher` is a program that calls [`help`] with what follows `word`, its first argument. `strict`
    /// says whether it must be locked in wholly.
    pub fn start(launcher: &Path, word: &str, strict: bool) -> io::Result<Self> {
        let mut child = Command::new(launcher)
            .arg(word)
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
        let frames = || {
            LengthDelimitedCodec::builder()
                .max_frame_length(MOST_BYTES)
                .new_codec()
        };
        Ok(Self {
            child,
            input: FramedWrite::new(input, frames()),
            output: FramedRead::new(output, frames()),
        })
    }

    /// This process, if it has not ended.
    pub fn alive(mut self) -> Option<Self> {
        matches!(self.child.try_wait(), Ok(None)).then_some(self)
    }

    /// Asks it; after an error it must not be asked again.
    pub async fn ask(&mut self, ask: Bytes, patience: Duration) -> Result<BytesMut, GaveUp> {
        let answer = async {
            self.input.send(ask).await?;
            self.output.next().await.transpose()
        };
        match timeout(patience, answer).await {
            Ok(Ok(Some(answer))) => Ok(answer),
            Ok(Ok(None) | Err(_)) => Err(self.post_mortem().await),
            Err(_) => Err(GaveUp::TooLong),
        }
    }

    /// Why it answers no more.
    async fn post_mortem(&mut self) -> GaveUp {
        let status = timeout(END_LIMIT, self.child.wait()).await;
        let status = status.ok().and_then(io::Result::ok);
        let signal = status.and_then(|status| status.signal());
        match signal.and_then(|signal| Signal::try_from(signal).ok()) {
            // So it ends where it is given no memory.
            Some(Signal::SIGABRT | Signal::SIGSEGV) => GaveUp::TooMuch,
            Some(Signal::SIGXCPU) => GaveUp::TooLong,
            _ => io::Error::other(format!("it ended while it was asked: {status:?}")).into(),
        }
    }
}

/// Answers what the server asks, until nothing more can be asked: each within so much CPU time, all with so much memory.
/// `arguments` are those after the word. To be called before the process has a second thread.
pub fn help(
    mut arguments: impl Iterator<Item = OsString>,
    memory_bytes: u64,
    cpu: Duration,
    mut answer: impl FnMut(Vec<u8>) -> io::Result<Vec<u8>>,
) -> ExitCode {
    let strict = arguments.next().is_some_and(|argument| argument == STRICT);
    let enclosure = Enclosure::enter(None, memory_bytes, 0);
    if let Some(missing) = enclosure.missing().filter(|_| strict) {
        // Nobody may be there to tell.
        let _ = writeln!(io::stderr(), "hamlet: this process is not locked in: {missing}");
        return ExitCode::FAILURE;
    }
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut serve = || {
        while let Some(ask) = read(&mut input)? {
            allow_cpu(cpu)?;
            let answer = answer(ask)?;
            let length = u32::try_from(answer.len()).map_err(io::Error::other)?;
            output.write_all(&length.to_be_bytes())?;
            output.write_all(&answer)?;
            output.flush()?;
        }
        io::Result::Ok(())
    };
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The next thing asked; `None` when nothing will be any more.
fn read(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?;
    if length > MOST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut ask = vec![0; length];
    input.read_exact(&mut ask)?;
    Ok(Some(ask))
}
