//! Keeps a schedule's ticks waiting while a run of its val goes on that is none of them.

use hamlet_models::{Limits, Timestamp, ValId};
use hamlet_store::Store;

use super::longest_run;
use crate::{clock, error::ApiResult};

/// In force until it is released, and by itself no longer than a run may take.
pub(super) struct Hold {
    store: Store,
    val_id: ValId,
    until: Timestamp,
}

impl Hold {
    pub(super) async fn take(store: &Store, limits: &Limits, val_id: ValId) -> ApiResult<Self> {
        let until = clock::after(longest_run(limits));
        store.hold_schedule(val_id, until).await?;
        Ok(Self {
            store: store.clone(),
            val_id,
            until,
        })
    }

    pub(super) async fn release(self) {
        if let Err(error) = self.store.release_schedule(self.val_id, self.until).await {
            tracing::error!(%error, val.id = %self.val_id, "a schedule waits though its val's run is over");
        }
    }
}
