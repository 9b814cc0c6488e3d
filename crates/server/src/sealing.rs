//! Sealing what is kept and must not be read by who sees the database alone.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use anyhow::{Context, anyhow, bail};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;

/// Seals values with the key of this instance, each for one purpose.
#[derive(Clone)]
pub struct Sealing {
    cipher: XChaCha20Poly1305,
}

impl Sealing {
    /// With the key in this file, which is made, for its owner alone, if it isn't there.
    pub fn with_key_file(path: &Path) -> anyhow::Result<Self> {
        let key = match fs::read(path) {
            Ok(key) => key,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_key(path).with_context(|| format!("the key file {} can't be made", path.display()))?
            }
            Err(error) => {
                return Err(error).with_context(|| format!("the key file {} can't be read", path.display()));
            }
        };
        if key.len() != KEY_BYTES {
            bail!(
                "the key file {} has {} bytes, where a key has {KEY_BYTES}",
                path.display(),
                key.len()
            );
        }
        let cipher = XChaCha20Poly1305::new_from_slice(&key).map_err(|_| anyhow!("the key can't be used"))?;
        Ok(Self { cipher })
    }

    /// The text, sealed; it opens for the same purpose alone.
    pub fn seal(&self, purpose: &str, text: &str) -> anyhow::Result<Vec<u8>> {
        let nonce = rand::random::<[u8; NONCE_BYTES]>();
        let payload = Payload {
            msg: text.as_bytes(),
            aad: purpose.as_bytes(),
        };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| anyhow!("a value could not be sealed"))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// The text that was sealed for this purpose.
    pub fn open(&self, purpose: &str, sealed: &[u8]) -> anyhow::Result<String> {
        let broken = || {
            anyhow!("the value of {purpose} can't be opened: is this the key file that it was sealed with?")
        };
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or_else(broken)?;
        let payload = Payload {
            msg: sealed,
            aad: purpose.as_bytes(),
        };
        let text = self
            .cipher
            .decrypt(&XNonce::from(*nonce), payload)
            .map_err(|_| broken())?;
        String::from_utf8(text).map_err(|_| broken())
    }
}

/// Makes a key that is whole and on disk before anything is sealed with it.
fn make_key(path: &Path) -> io::Result<Vec<u8>> {
    let key = rand::random::<[u8; KEY_BYTES]>();
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&key)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => {
            File::open(folder)?.sync_all()?;
            Ok(key.to_vec())
        }
        // Another process was quicker.
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => fs::read(path),
        Err(error) => Err(error.error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealing(folder: &Path) -> Sealing {
        Sealing::with_key_file(&folder.join("secret.key")).expect("a key")
    }

    #[test]
    fn what_is_sealed_opens_for_its_purpose_with_its_key_alone() {
        let (one, other) = (
            tempfile::tempdir().expect("a folder"),
            tempfile::tempdir().expect("a folder"),
        );
        let sealed = sealing(one.path()).seal("ada/KEY", "hunter2").expect("sealed");
        let again = sealing(one.path());
        assert_eq!(again.open("ada/KEY", &sealed).expect("opened"), "hunter2");
        assert!(!sealed.windows(7).any(|window| window == b"hunter2"));
        assert_ne!(
            sealed,
            again.seal("ada/KEY", "hunter2").expect("sealed"),
            "never the same twice"
        );
        assert!(again.open("eve/KEY", &sealed).is_err());
        assert!(sealing(other.path()).open("ada/KEY", &sealed).is_err());
        for cut in [0, 10, sealed.len() - 1] {
            assert!(again.open("ada/KEY", &sealed[..cut]).is_err());
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_key_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        sealing(folder.path());
        let mode = fs::metadata(folder.path().join("secret.key"))
            .expect("a key")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_is_no_key_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret.key");
        fs::write(&path, "short").expect("a file");
        assert!(Sealing::with_key_file(&path).is_err());
        assert_eq!(
            fs::read(&path).expect("the file"),
            b"short",
            "it is left as it is"
        );
    }
}
