//! The signed-in user's outbox.

use hamlet_models::{EmailId, OutboxEmail, Page, PageQuery};

use super::{ApiClient, error::ClientError, request::Call};

impl ApiClient {
    /// The messages that were kept since they could not be sent, newest first.
    pub async fn list_outbox(self, page: PageQuery) -> Result<Page<OutboxEmail>, ClientError> {
        self.fetch(Call::get("/me/outbox").page(page)).await
    }

    /// Deletes a message.
    pub async fn delete_email(self, id: EmailId) -> Result<(), ClientError> {
        self.send(Call::delete(format!("/me/outbox/{id}")))
            .await
            .map(drop)
    }

    /// Where the browser itself gets a message as it would be sent; `None` where no cookie goes with it.
    pub fn email_address(self, id: EmailId) -> Option<String> {
        (!self.is_remote()).then(|| format!("/v1/me/outbox/{id}"))
    }
}
