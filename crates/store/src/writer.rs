//! The one way to change anything.
//!
//! On SQLite every write is a job for one task, which takes all jobs that wait, does them in one transaction, commits
//! once (which waits for the disk once) and then answers all. When a job of such a batch fails, the batch is undone;
//! the jobs that failed are done again each in a transaction of its own, the others together: one conflict harms
//! nobody else. Jobs of one sort can be made to share their statements too. On PostgreSQL each job is a transaction of
//! its own.

mod shared;
#[cfg(test)]
mod tests;

use std::{any::Any, future::Future, io, pin::Pin, slice, thread};

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, SqliteTransactionMode, TransactionOptions,
    TransactionTrait,
};
use tokio::sync::{mpsc, oneshot};

use crate::{StoreError, beacon::Beacon, error::is_worth_a_retry};
use shared::SharedWrite;

/// The most jobs that share a transaction.
const MAX_BATCH: usize = 128;
/// How many jobs may wait before those who bring more have to.
const MAX_WAITING: usize = 1_024;
/// How often a transaction that PostgreSQL ended in favour of another is tried.
const MAX_TRIES: usize = 5;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Takes jobs and answers when they are durable.
pub(crate) enum Writer {
    Grouped(mpsc::Sender<Message>),
    Pooled(DatabaseConnection),
}

pub(crate) enum Message {
    Job(Box<dyn Job>),
    /// Answered when all jobs before it are done and the connection is closed.
    Close(oneshot::Sender<()>),
}

impl Writer {
    /// Writes through one SQLite connection; each commit lights the beacon, if there is one.
    ///
    /// The jobs have a thread of their own: a write is many short steps, each of which would have to wait its turn
    /// among the requests that are being served.
    pub(crate) fn grouped(connection: DatabaseConnection, beacon: Option<Beacon>) -> io::Result<Self> {
        let (jobs, waiting) = mpsc::channel(MAX_WAITING);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        thread::Builder::new()
            .name("hamlet-writer".to_owned())
            .spawn(move || runtime.block_on(serve(connection, beacon, waiting)))?;
        Ok(Self::Grouped(jobs))
    }

    /// Writes through a pool of PostgreSQL connections.
    pub(crate) fn pooled(pool: DatabaseConnection) -> Self {
        Self::Pooled(pool)
    }

    /// Does `work` on `input` in a transaction and answers when that is durable; `committed` is called in between,
    /// in the order of the commits. The work may be done more than once, each time after the last was undone: it
    /// must not keep anything outside the transaction. It is done also when the caller stops waiting.
    pub(crate) async fn write<I, T, W, C>(&self, input: I, work: W, committed: C) -> Result<T, StoreError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        W: for<'a> Fn(&'a I, &'a DatabaseTransaction) -> BoxFuture<'a, Result<T, StoreError>>
            + Send
            + Sync
            + 'static,
        C: FnOnce(&T) + Send + 'static,
    {
        match self {
            Self::Grouped(jobs) => {
                let (answer, answered) = oneshot::channel();
                let job = Write {
                    input,
                    work,
                    caller: Caller { committed, answer },
                    result: None,
                };
                ask(jobs, Box::new(job), answered).await
            }
            Self::Pooled(pool) => {
                let value = write_alone(pool, &input, &work).await?;
                committed(&value);
                Ok(value)
            }
        }
    }

    /// As [`Writer::write`], for work that can be done for many inputs in the same statements: those of jobs from the
    /// same place that wait together. It answers for each input, in their order; where it refuses one, it leaves
    /// nothing of that one behind. What fails for many is done for each alone.
    pub(crate) async fn write_shared<I, T, W, C>(
        &self,
        input: I,
        work: W,
        committed: C,
    ) -> Result<T, StoreError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        W: for<'a> Fn(&'a [I], &'a DatabaseTransaction) -> BoxFuture<'a, Results<T>>
            + Clone
            + Send
            + Sync
            + 'static,
        C: FnOnce(&T) + Send + 'static,
    {
        match self {
            Self::Grouped(jobs) => {
                let (answer, answered) = oneshot::channel();
                let job = SharedWrite::new(input, work, Caller { committed, answer });
                ask(jobs, Box::new(job), answered).await
            }
            Self::Pooled(pool) => {
                let mut results = write_alone(pool, slice::from_ref(&input), &work).await?;
                let value = results.pop().unwrap_or(Err(StoreError::Closed))?;
                committed(&value);
                Ok(value)
            }
        }
    }

    /// Waits for the jobs that wait, then closes the connection; jobs that come later are refused.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        match self {
            Self::Grouped(jobs) => {
                let (closed, when_closed) = oneshot::channel();
                // Neither fails but by its having been closed before.
                if jobs.send(Message::Close(closed)).await.is_ok() {
                    let _ = when_closed.await;
                }
                Ok(())
            }
            Self::Pooled(pool) => Ok(pool.clone().close().await?),
        }
    }
}

/// What came of each of several inputs, or what failed for all of them.
pub(crate) type Results<T> = Result<Vec<Result<T, StoreError>>, StoreError>;

async fn ask<T>(
    jobs: &mpsc::Sender<Message>,
    job: Box<dyn Job>,
    answered: oneshot::Receiver<Result<T, StoreError>>,
) -> Result<T, StoreError> {
    jobs.send(Message::Job(job))
        .await
        .map_err(|_| StoreError::Closed)?;
    answered.await.map_err(|_| StoreError::Closed)?
}

/// What came of doing a job in a transaction that isn't committed yet.
pub(crate) enum Attempt {
    Done,
    /// It refused; the transaction can still be used.
    Refused,
    /// The database failed; SQLite may have ended the transaction by itself.
    Failed,
}

pub(crate) trait Job: Any + Send {
    fn attempt<'a>(&'a mut self, transaction: &'a DatabaseTransaction) -> BoxFuture<'a, Attempt>;
    /// How many wait for it.
    fn callers(&self) -> usize {
        1
    }
    /// Takes in a job that can share this one's statements; gives back any other.
    fn take_in(&mut self, other: Box<dyn Job>) -> Option<Box<dyn Job>> {
        Some(other)
    }
    /// The jobs that this one took in and itself, each on its own.
    fn part(self: Box<Self>) -> Vec<Box<dyn Job>>;
    /// Tells the caller, now that the transaction of the last attempt was committed or undone.
    fn answer(self: Box<Self>, commit: Result<(), &StoreError>);
}

/// Who waits for a job.
struct Caller<T, C> {
    committed: C,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, C: FnOnce(&T)> Caller<T, C> {
    /// Tells what came of the last attempt, whose transaction was committed or undone.
    fn answer(self, result: Option<Result<T, StoreError>>, commit: Result<(), &StoreError>) {
        let result = match (result, commit) {
            (Some(Ok(value)), Ok(())) => {
                (self.committed)(&value);
                Ok(value)
            }
            (Some(Err(error)), _) => Err(error),
            (_, Err(error)) => Err(error.again()),
            (None, Ok(())) => Err(StoreError::Closed),
        };
        // Whoever stopped waiting needs no answer.
        let _ = self.answer.send(result);
    }
}

struct Write<I, T, W, C> {
    input: I,
    work: W,
    caller: Caller<T, C>,
    result: Option<Result<T, StoreError>>,
}

impl<I, T, W, C> Job for Write<I, T, W, C>
where
    I: Send + Sync + 'static,
    T: Send + 'static,
    W: for<'a> Fn(&'a I, &'a DatabaseTransaction) -> BoxFuture<'a, Result<T, StoreError>>
        + Send
        + Sync
        + 'static,
    C: FnOnce(&T) + Send + 'static,
{
    fn attempt<'a>(&'a mut self, transaction: &'a DatabaseTransaction) -> BoxFuture<'a, Attempt> {
        Box::pin(async move {
            let result = (self.work)(&self.input, transaction).await;
            let attempt = match &result {
                Ok(_) => Attempt::Done,
                Err(error) if error.is_refusal() => Attempt::Refused,
                Err(_) => Attempt::Failed,
            };
            self.result = Some(result);
            attempt
        })
    }

    fn part(self: Box<Self>) -> Vec<Box<dyn Job>> {
        vec![self]
    }

    fn answer(self: Box<Self>, commit: Result<(), &StoreError>) {
        self.caller.answer(self.result, commit);
    }
}

async fn serve(connection: DatabaseConnection, beacon: Option<Beacon>, mut waiting: mpsc::Receiver<Message>) {
    let mut messages = Vec::with_capacity(MAX_BATCH);
    let mut closers = Vec::new();
    while waiting.recv_many(&mut messages, MAX_BATCH).await > 0 {
        let mut jobs = Vec::with_capacity(messages.len());
        for message in messages.drain(..) {
            match message {
                Message::Job(job) => add(&mut jobs, job),
                Message::Close(closer) => {
                    waiting.close();
                    closers.push(closer);
                }
            }
        }
        if jobs.is_empty() {
            continue;
        }
        // A task of its own, so that a panic in one job isn't the end of all writing.
        let (connection, beacon) = (connection.clone(), beacon.clone());
        let batch = tokio::spawn(async move {
            write_batch(&connection, beacon.as_ref(), jobs).await;
        });
        if let Err(error) = batch.await {
            tracing::error!(%error, "a batch of writes panicked");
        }
    }
    // Leaves one file behind instead of three; not worth failing for.
    if let Err(error) = connection
        .execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)")
        .await
    {
        tracing::warn!(%error, "the write-ahead log could not be emptied");
    }
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "the writing connection could not be closed");
    }
    for closer in closers {
        // Whoever stopped waiting needs no answer.
        let _ = closer.send(());
    }
}

/// Adds a job to a batch: to one there that can share its statements with it, else by itself.
fn add(jobs: &mut Vec<Box<dyn Job>>, job: Box<dyn Job>) {
    let alone = jobs
        .iter_mut()
        .try_fold(job, |job, other| other.take_in(job).ok_or(()));
    jobs.extend(alone);
}

/// Does the jobs together if that can be, and answers them all.
async fn write_batch(connection: &DatabaseConnection, beacon: Option<&Beacon>, mut jobs: Vec<Box<dyn Job>>) {
    let mut alone = Vec::new();
    // Twice at most, the second time without those that failed: then each is on its own.
    for _ in 0..2 {
        if jobs.iter().map(|job| job.callers()).sum::<usize>() > 1 {
            let undone = write_together(connection, beacon, jobs).await;
            alone.extend(undone.failed);
            jobs = undone.rest;
        }
    }
    for job in jobs.into_iter().chain(alone).flat_map(Job::part) {
        write_one(connection, beacon, job).await;
    }
}

/// Jobs that are still to be done.
#[derive(Default)]
struct Undone {
    failed: Vec<Box<dyn Job>>,
    rest: Vec<Box<dyn Job>>,
}

/// Does all of the jobs in one transaction, or none.
async fn write_together(
    connection: &DatabaseConnection,
    beacon: Option<&Beacon>,
    jobs: Vec<Box<dyn Job>>,
) -> Undone {
    let transaction = match begin(connection).await {
        Ok(transaction) => transaction,
        Err(error) => {
            answer_all(jobs, Err(&error));
            return Undone::default();
        }
    };
    let mut jobs = jobs.into_iter();
    let (mut done, mut failed) = (Vec::with_capacity(jobs.len()), Vec::new());
    for mut job in jobs.by_ref() {
        match job.attempt(&transaction).await {
            Attempt::Done => done.push(job),
            // The batch is lost, but who else refuses is worth knowing before it is done again.
            Attempt::Refused => failed.push(job),
            Attempt::Failed => {
                failed.push(job);
                break;
            }
        }
    }
    if !failed.is_empty() {
        rollback(transaction).await;
        done.extend(jobs);
        return Undone { failed, rest: done };
    }
    if let Err(error) = transaction.commit().await {
        tracing::warn!(%error, "a batch of writes could not be committed");
        return Undone {
            failed: done,
            rest: Vec::new(),
        };
    }
    if let Some(beacon) = beacon {
        beacon.light().await;
    }
    answer_all(done, Ok(()));
    Undone::default()
}

async fn write_one(connection: &DatabaseConnection, beacon: Option<&Beacon>, mut job: Box<dyn Job>) {
    let transaction = match begin(connection).await {
        Ok(transaction) => transaction,
        Err(error) => return job.answer(Err(&error)),
    };
    let Attempt::Done = job.attempt(&transaction).await else {
        rollback(transaction).await;
        return job.answer(Ok(()));
    };
    match transaction.commit().await {
        Ok(()) => {
            if let Some(beacon) = beacon {
                beacon.light().await;
            }
            job.answer(Ok(()));
        }
        Err(error) => job.answer(Err(&error.into())),
    }
}

fn answer_all(jobs: Vec<Box<dyn Job>>, commit: Result<(), &StoreError>) {
    for job in jobs {
        job.answer(commit);
    }
}

/// Takes the lock for writing at once: a transaction that read first could not wait for another process's.
async fn begin(connection: &DatabaseConnection) -> Result<DatabaseTransaction, StoreError> {
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    Ok(connection.begin_with_options(options).await?)
}

async fn rollback(transaction: DatabaseTransaction) {
    if let Err(error) = transaction.rollback().await {
        // SQLite had done so itself; the connection is replaced before its next use.
        tracing::warn!(%error, "a transaction could not be rolled back");
    }
}

async fn write_alone<I, T, W>(pool: &DatabaseConnection, input: &I, work: &W) -> Result<T, StoreError>
where
    I: ?Sized,
    W: for<'a> Fn(&'a I, &'a DatabaseTransaction) -> BoxFuture<'a, Result<T, StoreError>>,
{
    let mut tries = 1;
    loop {
        let result = async {
            let transaction = pool.begin().await?;
            match work(input, &transaction).await {
                Ok(value) => {
                    transaction.commit().await?;
                    Ok(value)
                }
                Err(error) => {
                    // What failed the work matters more than that the connection is gone too.
                    let _ = transaction.rollback().await;
                    Err(error)
                }
            }
        }
        .await;
        match result {
            Err(error) if tries < MAX_TRIES && is_worth_a_retry(&error) => tries += 1,
            result => return result,
        }
    }
}
