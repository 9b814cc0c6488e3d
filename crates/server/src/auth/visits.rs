//! Passes by which the owner's browser is let in to a private HTTP val: signed, never stored, for one val, and good for
//! as long as the session or token lives that asked for them.

use std::time::Duration;

use hamlet_models::ValId;
use hamlet_store::SecretHash;
use uuid::Uuid;

use super::signer::{Signer, now_seconds};

/// Issues and checks passes.
#[derive(Clone)]
pub struct VisitPasses {
    signer: Signer,
}

/// What a pass says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The val that it opens.
    pub val_id: ValId,
    /// With what it was asked for, and ends.
    pub asked_with: Lasting,
}

/// What someone is signed in with until it expires or is ended, by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// A session of the web app.
    Session(SecretHash),
    /// A token of an account.
    Token(SecretHash),
}

/// Val id (16 bytes), whether a session (0) or a token (1) asked (1), its hash (32), and the second at which the pass
/// expires (8).
const PAYLOAD_BYTES: usize = 57;

impl Default for VisitPasses {
    fn default() -> Self {
        Self::new()
    }
}

impl VisitPasses {
    /// With a key of its own, that no one else knows: no token is a pass, and no pass a token.
    pub fn new() -> Self {
        Self {
            signer: Signer::new(),
        }
    }

    /// A pass for this visit.
    pub fn issue(&self, visit: &Visit, valid_for: Duration) -> String {
        let expires = now_seconds().saturating_add(valid_for.as_secs());
        let (kind, hash) = match &visit.asked_with {
            Lasting::Session(hash) => (0, hash),
            Lasting::Token(hash) => (1, hash),
        };
        let mut payload = [0; PAYLOAD_BYTES];
        payload[..16].copy_from_slice(visit.val_id.0.as_bytes());
        payload[16] = kind;
        payload[17..49].copy_from_slice(hash);
        payload[49..].copy_from_slice(&expires.to_be_bytes());
        self.signer.sign(&payload)
    }

    /// What the pass says, if it is one of these and has not expired.
    pub fn verify(&self, pass: &str) -> Option<Visit> {
        let payload = self.signer.verify::<PAYLOAD_BYTES>(pass)?;
        let (val_id, rest) = payload.split_first_chunk::<16>()?;
        let ([kind], rest) = rest.split_first_chunk::<1>()?;
        let (hash, expires) = rest.split_first_chunk::<32>()?;
        let asked_with = match kind {
            0 => Lasting::Session(*hash),
            _ => Lasting::Token(*hash),
        };
        let expires = u64::from_be_bytes(*expires.first_chunk::<8>()?);
        (now_seconds() < expires).then_some(Visit {
            val_id: ValId(Uuid::from_bytes(*val_id)),
            asked_with,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_says_what_it_was_issued_for_until_it_expires() {
        let passes = VisitPasses::new();
        for asked_with in [Lasting::Session([1; 32]), Lasting::Token([2; 32])] {
            let visit = Visit {
                val_id: ValId(Uuid::from_u128(7)),
                asked_with,
            };
            let pass = passes.issue(&visit, Duration::from_secs(60));
            assert_eq!(passes.verify(&pass), Some(visit));
            assert_eq!(VisitPasses::new().verify(&pass), None, "another key");
            assert_eq!(
                passes.verify(&passes.issue(&visit, Duration::ZERO)),
                None,
                "expired"
            );
            let other = Visit {
                val_id: ValId(Uuid::from_u128(8)),
                ..visit
            };
            let other = passes.issue(&other, Duration::from_secs(60));
            let (payload, _) = other.split_once('.').expect("two parts");
            let (_, signature) = pass.split_once('.').expect("two parts");
            assert_eq!(
                passes.verify(&format!("{payload}.{signature}")),
                None,
                "another val's payload"
            );
        }
    }
}
