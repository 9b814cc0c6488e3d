//! The instance, and what it does for a page.

use hamlet_models::{Instance, Markdown, RenderedMarkdown};

use super::{ApiClient, error::ClientError, request::Call};

impl ApiClient {
    /// What there is to know of the instance: its versions and the limits in force.
    pub async fn get_instance(self) -> Result<Instance, ClientError> {
        self.fetch(Call::get("/instance")).await
    }

    /// Markdown as HTML that is safe to show.
    pub async fn render_markdown(self, markdown: &Markdown) -> Result<RenderedMarkdown, ClientError> {
        self.fetch(Call::post("/markdown").json(markdown)).await
    }
}
