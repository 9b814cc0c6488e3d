//! Signs what this process hands out and wants back unchanged, so that it need not be stored.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::secrets::TOKEN_PREFIX;

/// Signs with a key of its own, that no one else knows: what another one signed is nothing to it.
#[derive(Clone)]
pub(super) struct Signer {
    mac: Arc<Hmac<Sha256>>,
}

impl Signer {
    pub(super) fn new() -> Self {
        let key = rand::random::<[u8; 32]>();
        let mac = Hmac::new_from_slice(&key).expect("HMAC takes keys of any length");
        Self { mac: Arc::new(mac) }
    }

    /// The payload with its signature, as text. It begins as tokens do, and so is made unreadable wherever they are; it
    /// has a dot, which no token of the store has.
    pub(super) fn sign(&self, payload: &[u8]) -> String {
        let mut mac = Hmac::clone(&self.mac);
        mac.update(payload);
        let mut text = String::with_capacity(128);
        text.push_str(TOKEN_PREFIX);
        URL_SAFE_NO_PAD.encode_string(payload, &mut text);
        text.push('.');
        URL_SAFE_NO_PAD.encode_string(mac.finalize().into_bytes(), &mut text);
        text
    }

    /// The payload, if this one signed it and it is so long.
    pub(super) fn verify<const BYTES: usize>(&self, text: &str) -> Option<[u8; BYTES]> {
        let (payload, signature) = text.strip_prefix(TOKEN_PREFIX)?.split_once('.')?;
        let payload: [u8; BYTES] = URL_SAFE_NO_PAD.decode(payload).ok()?.try_into().ok()?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let mut mac = Hmac::clone(&self.mac);
        mac.update(&payload);
        mac.verify_slice(&signature).ok()?;
        Some(payload)
    }
}

/// The time, in seconds since 1970.
pub(super) fn now_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
