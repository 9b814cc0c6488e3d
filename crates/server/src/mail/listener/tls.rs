//! The certificate for STARTTLS.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject},
    },
};

use crate::config::MailConfig;

/// With the certificate of the settings. Without one it is made here: it hides mail from who only listens on the way, which
/// is all that servers ask of each other.
pub(super) fn acceptor(config: &MailConfig, domain: &str) -> anyhow::Result<TlsAcceptor> {
    let (chain, key) = match &config.certificate {
        Some((certificate, key)) => from_files(certificate, key)?,
        None => own(domain)?,
    };
    let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context("the mail certificate can't be used with its key")?;
    Ok(TlsAcceptor::from(Arc::new(tls)))
}

type Certificate = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn from_files(certificate: &Path, key: &Path) -> anyhow::Result<Certificate> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .with_context(|| format!("the mail certificate {} can't be read", certificate.display()))?;
    let key = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("the key of the mail certificate {} can't be read", key.display()))?;
    Ok((chain, key))
}

fn own(domain: &str) -> anyhow::Result<Certificate> {
    let made = rcgen::generate_simple_self_signed([domain.to_owned()])?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok((vec![made.cert.der().clone()], key.into()))
}
