//! Passwords: hashed with Argon2id, never on the threads that answer requests, and few at a time.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use tokio::sync::Semaphore;

/// What a password is checked against where there is none, so that the answer takes as long. That some password may
/// fit it opens nothing.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmU$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Hashes and checks passwords.
#[derive(Clone)]
pub struct Passwords {
    /// Each hash takes 19 MB and a processor: more at once would only starve the rest.
    places: Arc<Semaphore>,
}

impl Passwords {
    /// Ready to hash.
    pub fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            places: Arc::new(Semaphore::new(processors.div_ceil(2))),
        }
    }

    /// The hash to keep of a password.
    pub async fn hash(&self, password: String) -> anyhow::Result<String> {
        let _place = self.places.acquire().await.context("the server is ending")?;
        tokio::task::spawn_blocking(move || hash(&password)).await?
    }

    /// Whether this is the password of this hash; without a hash it is not, and takes as long.
    pub async fn verify(&self, password: String, hash: Option<&str>) -> anyhow::Result<bool> {
        let _place = self.places.acquire().await.context("the server is ending")?;
        let known = hash.is_some();
        let hash = hash.unwrap_or(NOBODY).to_owned();
        let same = tokio::task::spawn_blocking(move || {
            let hash =
                PasswordHash::new(&hash).map_err(|error| anyhow!("a stored password hash: {error}"))?;
            anyhow::Ok(
                Argon2::default()
                    .verify_password(password.as_bytes(), &hash)
                    .is_ok(),
            )
        });
        Ok(same.await?? && known)
    }
}

impl Default for Passwords {
    fn default() -> Self {
        Self::new()
    }
}

fn hash(password: &str) -> anyhow::Result<String> {
    let hash: PasswordHash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(|error| anyhow!("hashing a password: {error}"))?;
    Ok(hash.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checking_against_nobody_costs_as_much_as_against_someone() {
        let cost = |hash: &str| {
            let hash = PasswordHash::new(hash).expect("a hash");
            (
                hash.algorithm,
                hash.version,
                hash.params,
                hash.hash.map(|output| output.len()),
            )
        };
        assert_eq!(cost(NOBODY), cost(&hash("someone's password").expect("a hash")));
    }

    #[tokio::test]
    async fn a_hash_fits_its_own_password_alone() {
        let passwords = Passwords::new();
        let hash = passwords.hash("correct horse".into()).await.expect("a hash");
        assert!(hash.starts_with("$argon2id$"), "{hash}");
        for (password, same) in [("correct horse", true), ("correct hors", false), ("", false)] {
            let answer = passwords
                .verify(password.into(), Some(&hash))
                .await
                .expect("an answer");
            assert_eq!(answer, same, "{password:?}");
        }
        assert!(
            !passwords
                .verify("correct horse".into(), None)
                .await
                .expect("an answer")
        );
    }
}
