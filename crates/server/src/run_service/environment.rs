//! What vals find in `Deno.env`: the author's token, where the instance is, and who they are.

use std::{sync::Arc, time::Duration};

use hamlet_models::{RunId, Timestamp, UserId, ValId};

use super::longest_run;
use crate::{auth::RunTokens, config::Config};

/// The token of a worker that serves many requests is renewed this often, by starting a new worker, and works for
/// another such time: no request is under way that long.
const WORKER_TOKEN_MS: i64 = 12 * 60 * 60 * 1_000;

/// Makes the environments of runs.
pub(super) struct Environments {
    api_url: String,
    tokens: RunTokens,
    run_token_for: Duration,
}

impl Environments {
    pub(super) fn new(config: &Config, tokens: RunTokens) -> Self {
        Self {
            api_url: config.own_url(),
            tokens,
            run_token_for: longest_run(&config.limits),
        }
    }

    /// For one run, with a token that is its alone.
    pub(super) fn of_run(&self, author: UserId, val: Option<ValId>, run: RunId) -> Arc<[(String, String)]> {
        self.with_token(self.tokens.issue(author, run, self.run_token_for), val)
    }

    /// For a worker that serves many requests: the same until the time that is answered with it.
    pub(super) fn of_worker(
        &self,
        author: UserId,
        val: ValId,
        now: Timestamp,
    ) -> (Arc<[(String, String)]>, Timestamp) {
        let renewed = (now.as_millis() / WORKER_TOKEN_MS + 1) * WORKER_TOKEN_MS;
        let token = self
            .tokens
            .issue_until(author, Timestamp::from_millis(renewed + WORKER_TOKEN_MS));
        (self.with_token(token, Some(val)), Timestamp::from_millis(renewed))
    }

    fn with_token(&self, token: String, val: Option<ValId>) -> Arc<[(String, String)]> {
        let fixed = [
            ("VAL_TOWN_API_KEY", token.clone()),
            ("valtown", token),
            ("VALTOWN_API_URL", self.api_url.clone()),
            ("VAL_TOWN_BASE_URL", self.api_url.clone()),
        ];
        let own = val.map(|val| ("HAMLET_VAL_ID", val.to_string()));
        fixed
            .into_iter()
            .chain(own)
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}
