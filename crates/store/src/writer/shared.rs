//! Jobs that share their statements: as many rows in one insert as there are jobs.

use std::{any::Any, mem};

use sea_orm::DatabaseTransaction;

use crate::{
    StoreError,
    writer::{Attempt, BoxFuture, Caller, Job, Results},
};

/// Jobs from one place in the code: the type of `work` is that place's own.
pub(super) struct SharedWrite<I, T, W, C> {
    inputs: Vec<I>,
    /// Who waits for each of the inputs.
    callers: Vec<Caller<T, C>>,
    work: W,
    /// What came of each of the inputs; none before an attempt that went through.
    results: Vec<Result<T, StoreError>>,
    failure: Option<StoreError>,
}

impl<I, T, W, C> SharedWrite<I, T, W, C> {
    pub(super) fn new(input: I, work: W, caller: Caller<T, C>) -> Self {
        Self {
            inputs: vec![input],
            callers: vec![caller],
            work,
            results: Vec::new(),
            failure: None,
        }
    }
}

impl<I, T, W, C> Job for SharedWrite<I, T, W, C>
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
    fn attempt<'a>(&'a mut self, transaction: &'a DatabaseTransaction) -> BoxFuture<'a, Attempt> {
        Box::pin(async move {
            match (self.work)(&self.inputs, transaction).await {
                Ok(results) => {
                    self.results = results;
                    Attempt::Done
                }
                Err(error) => {
                    let attempt = if error.is_refusal() {
                        Attempt::Refused
                    } else {
                        Attempt::Failed
                    };
                    self.failure = Some(error);
                    attempt
                }
            }
        })
    }

    fn callers(&self) -> usize {
        self.callers.len()
    }

    fn take_in(&mut self, other: Box<dyn Job>) -> Option<Box<dyn Job>> {
        if !(&*other as &dyn Any).is::<Self>() {
            return Some(other);
        }
        let other: Box<dyn Any> = other;
        if let Ok(mut other) = other.downcast::<Self>() {
            self.inputs.append(&mut other.inputs);
            self.callers.append(&mut other.callers);
        }
        None
    }

    fn part(self: Box<Self>) -> Vec<Box<dyn Job>> {
        let each = self.inputs.into_iter().zip(self.callers);
        each.map(|(input, caller)| Box::new(Self::new(input, self.work.clone(), caller)) as Box<dyn Job>)
            .collect()
    }

    fn answer(mut self: Box<Self>, commit: Result<(), &StoreError>) {
        let mut results = mem::take(&mut self.results).into_iter();
        let failed = self.failure.as_ref();
        for caller in self.callers {
            let result = match failed {
                Some(failure) => Some(Err(failure.again())),
                None => results.next(),
            };
            caller.answer(result, commit);
        }
    }
}
