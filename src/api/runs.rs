//! Runs.

use hamlet_models::{BaseRun, FullRun, NewRun, Page, PageQuery, RunFilter, RunId, ValId};

use super::{ApiClient, error::ClientError, request::Call};

impl ApiClient {
    /// Starts a run of a val of the caller's; the answer comes before it ends.
    pub async fn create_run(self, val: ValId, run: &NewRun) -> Result<BaseRun, ClientError> {
        self.fetch(Call::post(format!("/vals/{val}/runs")).json(run))
            .await
    }

    /// A run with everything recorded so far.
    pub async fn get_run(self, id: RunId) -> Result<FullRun, ClientError> {
        self.fetch(Call::get(format!("/runs/{id}"))).await
    }

    /// The runs of a val of the caller's, newest first.
    pub async fn list_val_runs(
        self,
        val: ValId,
        filter: &RunFilter,
        page: PageQuery,
    ) -> Result<Page<BaseRun>, ClientError> {
        self.fetch(filter_runs(Call::get(format!("/vals/{val}/runs")), filter).page(page))
            .await
    }

    /// The runs of all the caller's vals, newest first.
    pub async fn list_my_runs(
        self,
        filter: &RunFilter,
        page: PageQuery,
    ) -> Result<Page<BaseRun>, ClientError> {
        self.fetch(filter_runs(Call::get("/me/runs"), filter).page(page))
            .await
    }

    /// Ends a run that goes on; one that is over already is a failure with status 404.
    pub async fn cancel_run(self, val: ValId, run: RunId) -> Result<(), ClientError> {
        self.send(Call::post(format!("/vals/{val}/evaluations/{run}/cancel")))
            .await
            .map(drop)
    }
}

/// Adds a filter to the query.
fn filter_runs(call: Call, filter: &RunFilter) -> Call {
    call.maybe("status", filter.status.map(|status| status.as_str()))
        .maybe("trigger", filter.trigger.map(|trigger| trigger.as_str()))
        .maybe("version", filter.version)
        .maybe("since", filter.since)
        .maybe("until", filter.until)
        .maybe("error", filter.error)
}
