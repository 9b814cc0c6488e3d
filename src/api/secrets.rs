//! The signed-in user's secrets. Their values go to the server and never come back.

use hamlet_models::{Page, PageQuery, Secret, SecretName, SecretUpdate};

use super::{ApiClient, error::ClientError, request::Call};

impl ApiClient {
    /// The secrets by name, without their values.
    pub async fn list_secrets(self, page: PageQuery) -> Result<Page<Secret>, ClientError> {
        self.fetch(Call::get("/me/secrets").page(page)).await
    }

    /// Sets a secret's value, which vals get it, or both.
    pub async fn set_secret(self, name: &SecretName, update: &SecretUpdate) -> Result<(), ClientError> {
        self.send(Call::put(format!("/me/secrets/{name}")).json(update))
            .await
            .map(drop)
    }

    /// Deletes a secret.
    pub async fn delete_secret(self, name: &SecretName) -> Result<(), ClientError> {
        self.send(Call::delete(format!("/me/secrets/{name}")))
            .await
            .map(drop)
    }
}
