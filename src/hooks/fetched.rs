//! What the server answered, asked for again when what it depends on changes.

use std::{any::Any, future, marker::PhantomData, pin::Pin, sync::Arc, task::Poll, task::Waker};

use leptos::{
    prelude::*,
    reactive::{effect::RenderEffect, spawn_local_scoped_with_cancellation},
};

use crate::api::error::ClientError;

/// An answer of the server's, or why there is none. It is asked for at once, again when a signal changes that `fetch`
/// reads, and no longer once the owner is gone. What came last stays while the next is on its way.
///
/// A handle that is copied freely. The code that keeps it up to date is in the app once, not once for each `T`.
pub struct Fetched<T> {
    any: FetchedAny,
    value: PhantomData<fn() -> T>,
}

impl<T> Clone for Fetched<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Fetched<T> {}

impl<T: Clone + Send + Sync + 'static> Fetched<T> {
    /// Begins to fetch.
    pub fn new<F>(fetch: impl Fn() -> F + 'static) -> Self
    where
        F: Future<Output = Result<T, ClientError>> + 'static,
    {
        let fetch = move || -> Fetching {
            let fetching = fetch();
            Box::pin(async move { fetching.await.map(|value| Arc::new(value) as AnyValue) })
        };
        Self {
            any: FetchedAny::new(Box::new(fetch)),
            value: PhantomData,
        }
    }

    /// The latest answer; `None` until there is one; tracked.
    pub fn get(self) -> Option<Result<T, ClientError>> {
        self.any.answer.get().map(typed)
    }

    /// The latest answer, without being told of the next.
    pub fn get_untracked(self) -> Option<Result<T, ClientError>> {
        self.any.answer.get_untracked().map(typed)
    }

    /// The latest value; `None` too when the answer was a failure; tracked.
    pub fn value(self) -> Option<T> {
        self.get()?.ok()
    }

    /// Takes this for the answer, without asking.
    pub fn set(self, value: T) {
        self.any.settle(Ok(Arc::new(value)));
    }

    /// Asks again, once the answer that is on its way has come.
    pub fn refetch(self) {
        self.any.refetch();
    }

    /// Waits for the first answer. What waits inside of another's `fetch` is fetched again when the answer changes.
    pub async fn wait(self) -> Result<T, ClientError> {
        typed(self.any.wait().await)
    }

    /// The same without its type, for code that is to be in the app once.
    pub fn any(self) -> FetchedAny {
        self.any
    }
}

/// A value without its type.
pub type AnyValue = Arc<dyn Any + Send + Sync>;

type Answer = Result<AnyValue, ClientError>;
type Fetching = Pin<Box<dyn Future<Output = Answer>>>;

/// A value with its type again.
pub fn value_of<T: Clone + 'static>(value: &AnyValue) -> T {
    value
        .downcast_ref::<T>()
        .expect("what was fetched is of the type that it was fetched as")
        .clone()
}

fn typed<T: Clone + 'static>(answer: Answer) -> Result<T, ClientError> {
    answer.map(|value| value_of(&value))
}

/// A [`Fetched`] of any type.
#[derive(Clone, Copy)]
pub struct FetchedAny {
    answer: RwSignal<Option<Answer>>,
    /// Told to ask again.
    again: Trigger,
    progress: StoredValue<Progress>,
    waiting: StoredValue<Vec<Waker>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Idle,
    Asking,
    /// What is on its way may be out of date when it comes.
    AskingAndAgain,
}

impl FetchedAny {
    fn new(fetch: Box<dyn Fn() -> Fetching>) -> Self {
        let this = Self {
            answer: RwSignal::new(None),
            again: Trigger::new(),
            progress: StoredValue::new(Progress::Idle),
            waiting: StoredValue::new(Vec::new()),
        };
        let asking = RenderEffect::new(move |_: Option<()>| {
            this.again.track();
            this.progress.set_value(Progress::Asking);
            let fetching = fetch();
            // Ends when the effect runs again: an answer never replaces one to a later question.
            spawn_local_scoped_with_cancellation(async move {
                let answer = fetching.await;
                let progress = this.progress.get_value();
                // Idle: what is known by now is newer than this answer.
                if progress != Progress::Idle {
                    this.settle(answer);
                }
                if progress == Progress::AskingAndAgain {
                    this.again.notify();
                }
            });
        });
        // It lives as long as its owner.
        StoredValue::new_local(asking);
        this
    }

    /// The latest answer; `None` until there is one; tracked.
    pub fn get(self) -> Option<Answer> {
        self.answer.get()
    }

    /// Whether the latest answer is that the server can't be reached.
    pub fn is_offline(self) -> bool {
        self.answer
            .with_untracked(|answer| matches!(answer, Some(Err(error)) if error.is_offline()))
    }

    /// Asks again, once the answer that is on its way has come.
    pub fn refetch(self) {
        match self.progress.try_get_value() {
            // The page may be gone by now.
            None => {}
            Some(Progress::Idle) => self.again.notify(),
            Some(_) => self.progress.set_value(Progress::AskingAndAgain),
        }
    }

    fn settle(self, answer: Answer) {
        self.progress.set_value(Progress::Idle);
        self.answer.set(Some(answer));
        let waiting = self.waiting.try_update_value(std::mem::take);
        waiting.into_iter().flatten().for_each(Waker::wake);
    }

    async fn wait(self) -> Answer {
        future::poll_fn(|context| match self.answer.get_untracked() {
            Some(answer) => {
                self.answer.track();
                Poll::Ready(answer)
            }
            None => {
                self.waiting
                    .update_value(|waiting| waiting.push(context.waker().clone()));
                Poll::Pending
            }
        })
        .await
    }
}
