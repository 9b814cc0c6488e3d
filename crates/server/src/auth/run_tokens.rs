//! Tokens that runs are given: signed, never stored, and dead with their run's time or the server's process.

use std::time::Duration;

use hamlet_models::{RunId, Scope, Scopes, Timestamp, UserId, ValId, withheld_scopes};
use hamlet_store::{Store, StoreError};
use uuid::Uuid;

use super::signer::{Signer, now_seconds};

/// Issues and checks the tokens of runs.
#[derive(Clone)]
pub struct RunTokens {
    signer: Signer,
}

/// What such a token says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunGrant {
    /// The account that the run acts for.
    pub user_id: UserId,
    /// What it may do.
    pub scopes: Scopes,
    /// The run, where the token is one run's alone.
    pub run_id: Option<RunId>,
    /// The val that runs, where it is one.
    pub val_id: Option<ValId>,
}

impl RunGrant {
    /// The grant as far as it holds now: of a val that is gone or another's nothing does, and of what its settings no
    /// longer grant no more than every val may do.
    pub async fn in_force(self, store: &Store) -> Result<Option<Self>, StoreError> {
        let Some(val_id) = self.val_id else {
            return Ok(Some(self));
        };
        let val = match store.get_val(val_id).await {
            Ok(val) if val.owner.id == self.user_id => val,
            Ok(_) | Err(StoreError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(Self {
            scopes: without_withheld(self.scopes, val.grants),
            ..self
        }))
    }
}

/// User id (16 bytes), scopes (2), the second at which it expires (8), the run's id and the val's (16 each; nil for
/// none).
const PAYLOAD_BYTES: usize = 58;

impl Default for RunTokens {
    fn default() -> Self {
        Self::new()
    }
}

impl RunTokens {
    /// With a key of its own, that no one else knows.
    pub fn new() -> Self {
        Self {
            signer: Signer::new(),
        }
    }

    /// A token for one run of this account, of this val if it is one: everything but changing vals and the account,
    /// unless that is granted.
    pub fn issue(
        &self,
        user_id: UserId,
        run_id: RunId,
        val_id: Option<ValId>,
        grants: Scopes,
        valid_for: Duration,
    ) -> String {
        let grant = RunGrant {
            user_id,
            scopes: run_scopes(grants),
            run_id: Some(run_id),
            val_id,
        };
        let expires = now_seconds().saturating_add(valid_for.as_secs().max(1));
        self.sign(&grant, expires)
    }

    /// A token for a worker that serves many runs of this val: always the same for the same end.
    pub fn issue_until(&self, user_id: UserId, val_id: ValId, grants: Scopes, expires: Timestamp) -> String {
        let grant = RunGrant {
            user_id,
            scopes: run_scopes(grants),
            run_id: None,
            val_id: Some(val_id),
        };
        let expires = u64::try_from(expires.as_millis() / 1_000).unwrap_or_default();
        self.sign(&grant, expires)
    }

    /// What the token says, if it is one of these and has not expired.
    pub fn verify(&self, token: &str) -> Option<RunGrant> {
        let payload = self.signer.verify::<PAYLOAD_BYTES>(token)?;
        let (id, rest) = payload.split_first_chunk::<16>()?;
        let (bits, expires) = rest.split_first_chunk::<2>()?;
        let (expires, run_id) = expires.split_first_chunk::<8>()?;
        let (run_id, val_id) = run_id.split_first_chunk::<16>()?;
        let (run_id, val_id) = (Uuid::from_bytes(*run_id), Uuid::from_slice(val_id).ok()?);
        (now_seconds() < u64::from_be_bytes(*expires)).then(|| RunGrant {
            user_id: UserId(Uuid::from_bytes(*id)),
            scopes: scopes_of(u16::from_be_bytes(*bits)),
            run_id: (!run_id.is_nil()).then_some(RunId(run_id)),
            val_id: (!val_id.is_nil()).then_some(ValId(val_id)),
        })
    }

    fn sign(&self, grant: &RunGrant, expires: u64) -> String {
        let mut payload = [0; PAYLOAD_BYTES];
        payload[..16].copy_from_slice(grant.user_id.0.as_bytes());
        payload[16..18].copy_from_slice(&bits_of(grant.scopes).to_be_bytes());
        payload[18..26].copy_from_slice(&expires.to_be_bytes());
        payload[26..42].copy_from_slice(grant.run_id.map_or(Uuid::nil(), |run| run.0).as_bytes());
        payload[42..].copy_from_slice(grant.val_id.map_or(Uuid::nil(), |val| val.0).as_bytes());
        self.signer.sign(&payload)
    }
}

fn run_scopes(grants: Scopes) -> Scopes {
    without_withheld(Scopes::all(), grants)
}

/// The scopes without those that no val has unless they are granted.
fn without_withheld(scopes: Scopes, grants: Scopes) -> Scopes {
    let withheld: Vec<Scope> = withheld_scopes()
        .iter()
        .filter(|&scope| !grants.has(scope))
        .collect();
    scopes.without(&withheld)
}

fn bits_of(scopes: Scopes) -> u16 {
    Scope::all()
        .enumerate()
        .filter(|&(_, scope)| scopes.has(scope))
        .fold(0, |bits, (at, _)| bits | 1 << at)
}

fn scopes_of(bits: u16) -> Scopes {
    Scope::all()
        .enumerate()
        .filter(|&(at, _)| bits & (1 << at) != 0)
        .map(|(_, scope)| scope)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{USER_WRITE, VAL_READ, VAL_WRITE};

    fn user() -> UserId {
        UserId(Uuid::from_u128(7))
    }

    fn run() -> RunId {
        RunId(Uuid::from_u128(9))
    }

    fn issue(tokens: &RunTokens, user: UserId, grants: Scopes) -> String {
        tokens.issue(user, run(), None, grants, Duration::from_secs(60))
    }

    #[test]
    fn a_workers_token_is_the_same_every_time_and_names_no_run() {
        let tokens = RunTokens::new();
        let end = Timestamp::from_millis(i64::try_from(now_seconds() + 60).expect("a time") * 1_000);
        let val = ValId(Uuid::from_u128(11));
        let token = tokens.issue_until(user(), val, Scopes::default(), end);
        assert_eq!(token, tokens.issue_until(user(), val, Scopes::default(), end));
        let grant = tokens.verify(&token).expect("a good token");
        assert_eq!(
            (grant.user_id, grant.run_id, grant.val_id),
            (user(), None, Some(val))
        );
        assert!(grant.scopes.has(VAL_READ) && !grant.scopes.has(VAL_WRITE));
    }

    #[test]
    fn a_run_may_do_everything_but_change_vals_and_the_account() {
        let tokens = RunTokens::new();
        let grant = tokens
            .verify(&issue(&tokens, user(), Scopes::default()))
            .expect("a good token");
        assert_eq!(
            (grant.user_id, grant.run_id, grant.val_id),
            (user(), Some(run()), None)
        );
        for scope in Scope::all() {
            let withheld = scope == VAL_WRITE || scope == USER_WRITE;
            assert_eq!(grant.scopes.has(scope), !withheld, "{scope}");
        }
    }

    #[test]
    fn what_a_val_grants_its_run_may_do_too() {
        let tokens = RunTokens::new();
        let token = issue(&tokens, user(), [VAL_WRITE].into_iter().collect());
        let scopes = tokens.verify(&token).expect("a good token").scopes;
        assert!(scopes.has(VAL_WRITE) && scopes.has(VAL_READ) && !scopes.has(USER_WRITE));
    }

    #[test]
    fn another_process_a_changed_token_and_an_expired_one_are_refused() {
        let tokens = RunTokens::new();
        let token = issue(&tokens, user(), Scopes::default());
        assert_eq!(RunTokens::new().verify(&token), None, "another key");
        let other = issue(&tokens, UserId(Uuid::from_u128(8)), Scopes::default());
        let (payload, _) = other.split_once('.').expect("two parts");
        let (_, signature) = token.split_once('.').expect("two parts");
        assert_eq!(
            tokens.verify(&format!("{payload}.{signature}")),
            None,
            "another's payload"
        );
        let grant = RunGrant {
            user_id: user(),
            scopes: Scopes::all(),
            run_id: None,
            val_id: None,
        };
        assert_eq!(
            tokens.verify(&tokens.sign(&grant, now_seconds())),
            None,
            "expired"
        );
        assert!(tokens.verify(&tokens.sign(&grant, now_seconds() + 60)).is_some());
        for odd in ["", "hmlt_", "hmlt_.", "hmlt_a.b", &token[5..]] {
            assert_eq!(tokens.verify(odd), None, "{odd:?}");
        }
    }
}
