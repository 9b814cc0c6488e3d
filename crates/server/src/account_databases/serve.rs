//! The process of one account's database: it locks itself in, opens the file, and runs what it is asked.

use std::{
    ffi::OsString,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use hamlet_models::{NewSqlBatch, NewSqlExecution, SqlMode};
use hamlet_runtime::{Enclosure, allow_cpu};
use hamlet_store::{AccountDatabase, SqlError};
use serde::Serialize;

use super::{
    WRITE_GRACE,
    frames::{ANSWER_MAX_BYTES, Ask, HEAD_BYTES, Orders, Refusal, Say, head, read_ask},
};
use crate::{error::ApiError, extract::parse_json};

/// The first argument of a program that is to serve an account's database.
pub(crate) const SERVE_ACCOUNT: &str = "serve-account";

/// What a process may hold beside SQLite's memory: the body of a request, what it says, rows, and their JSON.
const BESIDE_BYTES: u64 = 256 << 20;

/// Serves the database that the first argument describes, until nothing more can be asked. To be called before the
/// process has a second thread.
pub(crate) fn serve_account(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let orders = arguments
        .next()
        .and_then(|orders| serde_json::from_str::<Orders>(orders.to_str()?).ok());
    let Some(orders) = orders else {
        let _ = writeln!(
            io::stderr(),
            "hamlet: this serves an account's database to the server and is of no use by itself"
        );
        return ExitCode::FAILURE;
    };
    match open(&orders) {
        Ok((database, _)) => match serve(&orders, &database) {
            Ok(()) => ExitCode::SUCCESS,
            // Nobody is there to tell.
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            let _ = refusal(&error.into()).and_then(|frame| say(&frame));
            ExitCode::FAILURE
        }
    }
}

/// Locks this process in and opens the database.
pub(super) fn open(orders: &Orders) -> Result<(AccountDatabase, Enclosure), SqlError> {
    let limits = orders.limits;
    let folder = orders.path.parent().unwrap_or(Path::new("/"));
    // The log of what is written may become as large as the database, and has a little beside each page.
    let file_bytes = limits.database_bytes.saturating_mul(2);
    let mut enclosure = Enclosure::enter(Some(folder), limits.memory_bytes + BESIDE_BYTES, file_bytes);
    limits.bind_memory()?;
    let database = AccountDatabase::open(&orders.path, limits, say_that_it_writes)?;
    // The folder has other accounts' files too.
    enclosure.close_files();
    match enclosure.missing().filter(|_| orders.strict) {
        Some(missing) => Err(SqlError::Unusable(format!(
            "its process is not locked in as it has to be: {missing}"
        ))),
        None => Ok((database, enclosure)),
    }
}

fn serve(orders: &Orders, database: &AccountDatabase) -> io::Result<()> {
    say(&head(Say::Ready as u8, 0)?)?;
    let mut input = io::stdin().lock();
    while let Some((ask, body)) = read_ask(&mut input)? {
        allow_cpu(orders.limits.time + WRITE_GRACE)?;
        let frame = match answer(database, ask, body) {
            Ok(frame) => frame,
            Err(refused) => refusal(&refused)?,
        };
        say(&frame)?;
        if !database.is_sound() {
            return Ok(());
        }
    }
    allow_cpu(orders.limits.time + WRITE_GRACE)?;
    database.settle().map_err(io::Error::other)
}

/// What is asked, done.
fn answer(database: &AccountDatabase, ask: Ask, body: Vec<u8>) -> Result<Vec<u8>, Refusal> {
    let only_read = matches!(ask, Ask::ExecuteReading | Ask::BatchReading);
    match ask {
        Ask::Execute | Ask::ExecuteReading => {
            let new: NewSqlExecution = read(body)?;
            framed(&database.execute(&new.statement, mode(SqlMode::Deferred, only_read)?)?)
        }
        Ask::Batch | Ask::BatchReading => {
            let new: NewSqlBatch = read(body)?;
            framed(&database.batch(&new.statements, mode(new.mode, only_read)?)?)
        }
    }
}

fn read<T: crate::extract::ApiBody>(body: Vec<u8>) -> Result<T, Refusal> {
    parse_json(&body).map_err(|error| match error {
        ApiError::Invalid(details) => Refusal::Invalid(details),
        error => Refusal::Malformed(error.to_string()),
    })
}

/// What may be done of what is asked for.
fn mode(asked: SqlMode, only_read: bool) -> Result<SqlMode, SqlError> {
    match asked {
        SqlMode::Write if only_read => Err(SqlError::ReadOnly),
        SqlMode::Deferred if only_read => Ok(SqlMode::Read),
        SqlMode::Write | SqlMode::Deferred | SqlMode::Read => Ok(asked),
    }
}

/// An answer, which stops growing where it is too large.
fn framed(answer: &impl Serialize) -> Result<Vec<u8>, Refusal> {
    let mut frame = Bounded(vec![0; HEAD_BYTES]);
    serde_json::to_writer(&mut frame, answer).map_err(|_| SqlError::too_many_rows())?;
    finish(Say::Answer, frame.0).map_err(|error| SqlError::Unusable(error.to_string()).into())
}

fn refusal(refusal: &Refusal) -> io::Result<Vec<u8>> {
    let mut frame = Bounded(vec![0; HEAD_BYTES]);
    serde_json::to_writer(&mut frame, refusal)?;
    finish(Say::Refused, frame.0)
}

fn finish(word: Say, mut frame: Vec<u8>) -> io::Result<Vec<u8>> {
    let head = head(word as u8, frame.len() - HEAD_BYTES)?;
    frame[..HEAD_BYTES].copy_from_slice(&head);
    Ok(frame)
}

fn say_that_it_writes() {
    // A server that can't be told is gone, which the next answer shows.
    let _ = head(Say::Writes as u8, 0).and_then(|frame| say(&frame));
}

fn say(frame: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(frame)?;
    output.flush()
}

/// Bytes that may become as many as an answer has.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > HEAD_BYTES + ANSWER_MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
