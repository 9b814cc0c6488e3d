//! What the server and the process of an account's database say to each other: a word, the length of what goes with it
//! as four bytes, and that.

use std::{
    io::{self, Read},
    path::PathBuf,
};

use bytes::Bytes;
use hamlet_models::ProblemDetail;
use hamlet_store::{SqlError, SqlLimits};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The most bytes of statements and their parameters.
pub(crate) const CALL_MAX_BYTES: usize = 32 << 20;
/// The most bytes of an answer as it is sent: the rows may be half of that, before they are written as JSON.
pub(super) const ANSWER_MAX_BYTES: usize = 32 << 20;
/// A word and a length.
pub(super) const HEAD_BYTES: usize = 5;

/// What a process is for; its first argument.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Orders {
    /// The account's file.
    pub(super) path: PathBuf,
    pub(super) limits: SqlLimits,
    /// Whether it must not serve if this system lacks a part of its lock.
    pub(super) strict: bool,
}

/// What the server asks; the body of the request goes with it, to be read where that can do no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// To run a statement that may write.
    Execute = 1,
    /// To run a statement that may only read.
    ExecuteReading,
    /// To run statements in one transaction, which may write.
    Batch,
    /// To run statements in one transaction, which may only read.
    BatchReading,
}

/// What the process says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Say {
    /// The database is open: once, before everything else.
    Ready = 1,
    /// A statement comes that may write.
    Writes,
    /// The answer, as JSON; the call is over.
    Answer,
    /// The [`Refusal`]; the call is over.
    Refused,
}

/// Why a call was refused.
#[derive(Debug, Serialize, Deserialize)]
pub enum Refusal {
    /// The body of the request can't be read.
    Malformed(String),
    /// The body is something else than statements.
    Invalid(Vec<ProblemDetail>),
    /// The statements were not run.
    Sql(SqlError),
}

impl From<SqlError> for Refusal {
    fn from(error: SqlError) -> Self {
        Self::Sql(error)
    }
}

/// The head of something with so many bytes.
pub(super) fn head(word: u8, bytes: usize) -> io::Result<[u8; HEAD_BYTES]> {
    let length = u32::try_from(bytes).map_err(io::Error::other)?;
    let [a, b, c, d] = length.to_le_bytes();
    Ok([word, a, b, c, d])
}

/// The next thing asked; `None` when nothing will be any more.
pub(super) fn read_ask(input: &mut impl Read) -> io::Result<Option<(Ask, Vec<u8>)>> {
    let mut head = [0; HEAD_BYTES];
    match input.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let (word, length) = parts(head);
    let asks = [Ask::Execute, Ask::ExecuteReading, Ask::Batch, Ask::BatchReading];
    let ask = asks.into_iter().find(|ask| *ask as u8 == word);
    let ask = ask.ok_or_else(|| io::Error::other("no such word"))?;
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some((ask, body)))
}

/// The next thing said. Who says it is not trusted: it may be anything, but not larger than an answer.
pub(super) async fn read_say(output: &mut (impl AsyncRead + Unpin)) -> io::Result<(Say, Bytes)> {
    let mut head = [0; HEAD_BYTES];
    output.read_exact(&mut head).await?;
    let (word, length) = parts(head);
    let says = [Say::Ready, Say::Writes, Say::Answer, Say::Refused];
    let say = says.into_iter().find(|say| *say as u8 == word);
    let say = say.ok_or_else(|| io::Error::other("no such word"))?;
    if length > ANSWER_MAX_BYTES {
        return Err(io::Error::other("an answer that is too large"));
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).await?;
    Ok((say, body.into()))
}

fn parts([word, a, b, c, d]: [u8; HEAD_BYTES]) -> (u8, usize) {
    let length = u32::from_le_bytes([a, b, c, d]);
    (word, usize::try_from(length).unwrap_or(usize::MAX))
}
