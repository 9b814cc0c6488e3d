//! What vals find in `Deno.env`: the author's secrets and token, where the instance is, and who they are.

use std::{sync::Arc, time::Duration};

use hamlet_models::{RunId, SecretName, Timestamp, UserId, ValId};
use hamlet_store::{SecretRecord, ValRecord};

use super::{longest_run, records::NOBODY};
use crate::{auth::RunTokens, config::Config, sealing::Sealing};

/// The token of a worker that serves many requests is renewed this often, by starting a new worker: a start an hour and
/// the module state that goes with it cost a busy val nothing that shows, and a token that leaked is of no use soon.
const WORKER_TOKEN_MS: i64 = 60 * 60 * 1_000;

/// The variables of a run, by name.
pub(super) type Environment = Arc<[(String, String)]>;

/// Makes the environments of runs.
pub(super) struct Environments {
    api_url: String,
    tokens: RunTokens,
    sealing: Sealing,
    run_token_for: Duration,
}

impl Environments {
    pub(super) fn new(config: &Config, tokens: RunTokens, sealing: Sealing) -> Self {
        Self {
            api_url: config.own_url(),
            tokens,
            sealing,
            run_token_for: longest_run(&config.limits),
        }
    }

    /// A secret's value as it is kept.
    pub(super) fn seal(&self, author: UserId, name: &SecretName, value: &str) -> anyhow::Result<Vec<u8>> {
        self.sealing.seal(&purpose(author, name), value)
    }

    /// For one run, with a token that is its alone.
    pub(super) fn of_run(
        &self,
        author: UserId,
        val: Option<&ValRecord>,
        run: RunId,
        secrets: &[SecretRecord],
    ) -> anyhow::Result<Environment> {
        if author == NOBODY {
            return Ok(self.of_nobody());
        }
        let (val_id, grants) = val.map(|val| (val.id, val.grants)).unzip();
        let token = self.tokens.issue(
            author,
            run,
            val_id,
            grants.unwrap_or_default(),
            self.run_token_for,
        );
        self.with_token(token, author, val_id, secrets)
    }

    /// For a worker that serves many requests: the same until the time that is answered with it. Its token works for as
    /// long as a request that came just before then may take.
    pub(super) fn of_worker(
        &self,
        val: &ValRecord,
        now: Timestamp,
        secrets: &[SecretRecord],
    ) -> anyhow::Result<(Environment, Timestamp)> {
        let renewed = (now.as_millis() / WORKER_TOKEN_MS + 1) * WORKER_TOKEN_MS;
        let last_run = i64::try_from(self.run_token_for.as_millis()).unwrap_or(i64::MAX);
        let token = self.tokens.issue_until(
            val.owner.id,
            val.id,
            val.grants,
            Timestamp::from_millis(renewed.saturating_add(last_run)),
        );
        let environment = self.with_token(token, val.owner.id, Some(val.id), secrets)?;
        Ok((environment, Timestamp::from_millis(renewed)))
    }

    /// Where the instance is, and no more.
    fn of_nobody(&self) -> Environment {
        ["VALTOWN_API_URL", "VAL_TOWN_BASE_URL"]
            .map(|name| (name.to_owned(), self.api_url.clone()))
            .into()
    }

    fn with_token(
        &self,
        token: String,
        author: UserId,
        val: Option<ValId>,
        secrets: &[SecretRecord],
    ) -> anyhow::Result<Environment> {
        let mut variables = Vec::new();
        for SecretRecord { secret, sealed } in secrets.iter().filter(|secret| secret.is_for(val)) {
            let value = self.sealing.open(&purpose(author, &secret.name), sealed)?;
            variables.push((secret.name.to_string(), value));
        }
        let fixed = [
            ("VAL_TOWN_API_KEY", token.clone()),
            ("valtown", token),
            ("VALTOWN_API_URL", self.api_url.clone()),
            ("VAL_TOWN_BASE_URL", self.api_url.clone()),
        ];
        let own = val.map(|val| ("HAMLET_VAL_ID", val.to_string()));
        variables.extend(
            fixed
                .into_iter()
                .chain(own)
                .map(|(name, value)| (name.to_owned(), value)),
        );
        Ok(variables.into())
    }
}

/// A value opens for its own account and name alone: rows can't be exchanged.
fn purpose(author: UserId, name: &SecretName) -> String {
    format!("{author}/{name}")
}
