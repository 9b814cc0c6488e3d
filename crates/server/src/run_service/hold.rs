//! Keeps a schedule's ticks waiting while a run of its val goes on that is none of them.

use hamlet_models::{Limits, RunId, ValId};
use hamlet_store::Store;

use super::longest_run;
use crate::{clock, error::ApiResult};

/// In force until it is released, and by itself no longer than a run may take.
pub(super) struct Hold {
    store: Store,
    run: RunId,
}

impl Hold {
    pub(super) async fn take(store: &Store, limits: &Limits, val: ValId, run: RunId) -> ApiResult<Self> {
        let until = clock::after(longest_run(limits));
        store.hold_schedule(val, run, until).await?;
        Ok(Self {
            store: store.clone(),
            run,
        })
    }

    pub(super) async fn release(self) {
        if let Err(error) = self.store.release_schedule(self.run).await {
            tracing::error!(%error, run.id = %self.run, "a schedule waits though its val's run is over");
        }
    }
}
