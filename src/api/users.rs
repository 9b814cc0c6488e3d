//! Users and their vals.

use hamlet_models::{BasicVal, Page, PageQuery, User, UserId, ValFilter};

use super::{ApiClient, error::ClientError, request::Call, vals::filter_vals};

impl ApiClient {
    /// The user with this id.
    pub async fn get_user(self, id: UserId) -> Result<User, ClientError> {
        self.fetch(Call::get(format!("/users/{id}"))).await
    }

    /// The user of this name, in any case.
    pub async fn find_user(self, username: &str) -> Result<User, ClientError> {
        self.fetch(Call::get(format!("/alias/{username}"))).await
    }

    /// A user's vals, newest first; their owner gets unlisted and private ones too.
    pub async fn list_user_vals(
        self,
        id: UserId,
        filter: &ValFilter,
        page: PageQuery,
    ) -> Result<Page<BasicVal>, ClientError> {
        self.fetch(filter_vals(Call::get(format!("/users/{id}/vals")), filter).page(page))
            .await
    }
}
