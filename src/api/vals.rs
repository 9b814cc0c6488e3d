//! Vals.

use hamlet_models::{ExtendedVal, NewVal, Page, Privacy, ValFilter, ValId, ValUpdate};

use super::{ApiClient, error::ClientError, request::Call};

impl ApiClient {
    /// Makes a val; it doesn't run.
    pub async fn create_val(self, val: &NewVal) -> Result<ExtendedVal, ClientError> {
        self.fetch(Call::post("/vals").json(val)).await
    }

    /// The val with this id, as of its latest version.
    pub async fn get_val(self, id: ValId) -> Result<ExtendedVal, ClientError> {
        self.fetch(Call::get(format!("/vals/{id}"))).await
    }

    /// The val of this user and name, in any case.
    pub async fn find_val(self, username: &str, name: &str) -> Result<ExtendedVal, ClientError> {
        self.fetch(Call::get(format!("/alias/{username}/{name}"))).await
    }

    /// The newest vals of the instance that the caller may list.
    pub async fn list_vals(self, filter: &ValFilter, limit: u64) -> Result<Page<ExtendedVal>, ClientError> {
        self.fetch(filter_vals(Call::get("/vals"), filter).query("limit", &limit))
            .await
    }

    /// What opens a private val's address in this browser, which is then told who opens it; `None` for others, and where
    /// no cookie goes with it.
    pub fn open_address(self, val: &ExtendedVal) -> Option<String> {
        let needed = val.privacy == Privacy::Private && val.links.endpoint.is_some() && !self.is_remote();
        needed.then(|| format!("/v1/vals/{}/open", val.id))
    }

    /// Changes a val beside its code; what is left out stays.
    pub async fn update_val(self, id: ValId, update: &ValUpdate) -> Result<(), ClientError> {
        self.send(Call::put(format!("/vals/{id}")).json(update))
            .await
            .map(drop)
    }

    /// Deletes a val with its versions and runs.
    pub async fn delete_val(self, id: ValId) -> Result<(), ClientError> {
        self.send(Call::delete(format!("/vals/{id}"))).await.map(drop)
    }
}

/// Adds a filter to the query.
pub(super) fn filter_vals(call: Call, filter: &ValFilter) -> Call {
    call.maybe("type", filter.kind.map(|kind| kind.as_str()))
        .maybe("privacy", filter.privacy.map(|privacy| privacy.as_str()))
        .maybe("query", filter.query.as_deref())
        .maybe("userId", filter.user_id)
}
