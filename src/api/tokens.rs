//! The signed-in user's API tokens.

use hamlet_models::{CreatedToken, NewToken, Page, PageQuery, Token, TokenId};

use super::{ApiClient, error::ClientError, request::Call};

impl ApiClient {
    /// The tokens, newest first.
    pub async fn list_tokens(self, page: PageQuery) -> Result<Page<Token>, ClientError> {
        self.fetch(Call::get("/me/tokens").page(page)).await
    }

    /// Makes a token; the answer is the only one that ever holds its secret.
    pub async fn create_token(self, token: &NewToken) -> Result<CreatedToken, ClientError> {
        self.fetch(Call::post("/me/tokens").json(token)).await
    }

    /// Revokes a token.
    pub async fn delete_token(self, id: TokenId) -> Result<(), ClientError> {
        self.send(Call::delete(format!("/me/tokens/{id}")))
            .await
            .map(drop)
    }
}
