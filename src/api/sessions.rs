//! Signing in and out.

use hamlet_models::{Me, NewSession};

use super::{ApiClient, error::ClientError, request::Call};

impl ApiClient {
    /// Who is signed in, if anyone is. Asked of a page's own origin, "nobody" is an answer and no failure, so that a
    /// visitor's console stays clean; elsewhere nobody is without a token.
    pub async fn get_session(self) -> Result<Option<Me>, ClientError> {
        if !self.is_remote() {
            return self.fetch(Call::get("/session")).await;
        }
        if !self.has_token() {
            return Ok(None);
        }
        match self.get_me().await {
            Ok(me) => Ok(Some(me)),
            Err(error) if error.is_signed_out() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Signs in. At the page's own origin the server sets a cookie; at another one only an API token works, and it is
    /// kept in this browser.
    pub async fn create_session(self, session: &NewSession) -> Result<Me, ClientError> {
        if !self.is_remote() {
            return self.fetch(Call::post("/session").json(session)).await;
        }
        let NewSession::Token { token } = session else {
            return Err(ClientError::signed_out());
        };
        self.set_token(Some(token.clone()));
        let me = self.get_me().await;
        if me.is_err() {
            self.set_token(None);
        }
        me
    }

    /// Signs out.
    pub async fn delete_session(self) -> Result<(), ClientError> {
        if self.is_remote() {
            self.set_token(None);
            return Ok(());
        }
        self.send(Call::delete("/session")).await.map(drop)
    }
}
