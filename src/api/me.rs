//! The signed-in user.

use hamlet_models::{Me, MeUpdate, PasswordChange};

use super::{ApiClient, error::ClientError, request::Call};

impl ApiClient {
    /// Who is signed in; a failure with status 401 if nobody is.
    pub async fn get_me(self) -> Result<Me, ClientError> {
        self.fetch(Call::get("/me")).await
    }

    /// Changes the profile; what is left out stays.
    pub async fn update_me(self, update: &MeUpdate) -> Result<Me, ClientError> {
        self.fetch(Call::put("/me").json(update)).await
    }

    /// Sets a password.
    pub async fn change_password(self, change: &PasswordChange) -> Result<(), ClientError> {
        self.send(Call::post("/me/password").json(change)).await.map(drop)
    }
}
