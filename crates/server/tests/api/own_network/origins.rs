//! Every host of the network: what is at an address, by `http:` and `https:`.

use std::{
    collections::HashMap,
    convert::Infallible,
    fs,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    http::{Request, StatusCode, header},
    response::{IntoResponse, Response},
};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
        server::{ClientHello, ResolvesServerCert},
        sign::CertifiedKey,
    },
};
use url::Url;

use super::{Names, PUBLIC};

/// All of them, at one address.
#[derive(Clone)]
pub(crate) struct Origins {
    names: Names,
    files: Arc<Mutex<HashMap<String, File>>>,
    asked: Arc<Mutex<Vec<String>>>,
    down: Arc<AtomicBool>,
}

#[derive(Clone)]
enum File {
    Text(Vec<u8>),
    Redirect(String),
}

impl Origins {
    /// Writes the certificate of who vouches for the hosts to this file.
    pub(super) async fn start(names: Names, authority: &Path) -> Self {
        let origins = Self {
            names,
            files: Arc::default(),
            asked: Arc::default(),
            down: Arc::default(),
        };
        let vouching = Vouching::new();
        fs::write(authority, vouching.authority.pem()).expect("the certificate");
        let provider = Arc::new(ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(vouching));
        let tls = TlsAcceptor::from(Arc::new(tls));
        for (port, tls) in [(80, None), (443, Some(tls))] {
            let listener = TcpListener::bind((PUBLIC, port)).await.expect("a port");
            tokio::spawn(origins.clone().listen(listener, tls));
        }
        origins
    }

    /// From now on this is at the address, whose host is on the network.
    pub(crate) fn put(&self, url: &str, text: impl Into<Vec<u8>>) {
        self.set(url, File::Text(text.into()));
    }

    /// From now on the address leads to another.
    pub(crate) fn redirect(&self, url: &str, to: &str) {
        self.set(url, File::Redirect(to.to_owned()));
    }

    fn set(&self, url: &str, file: File) {
        let parsed = Url::parse(url).expect("an address");
        if let Some(name) = parsed.domain().filter(|name| !self.names.knows(name)) {
            self.names.host(name);
        }
        self.files.lock().expect("files").insert(url.to_owned(), file);
    }

    /// What was asked for since the last time that it was looked at.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("what was asked"))
    }

    /// Whether connections are broken off from now on.
    pub(crate) fn go_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }

    async fn listen(self, listener: TcpListener, tls: Option<TlsAcceptor>) {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            if self.down.load(Ordering::SeqCst) {
                continue;
            }
            let (origins, tls) = (self.clone(), tls.clone());
            tokio::spawn(async move {
                match tls {
                    None => origins.serve("http", stream).await,
                    // Who trusts nobody here goes away.
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            origins.serve("https", stream).await;
                        }
                    }
                }
            });
        }
    }

    async fn serve(&self, scheme: &str, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let answer = service_fn(|request| {
            let response = self.answer(scheme, &request);
            async { Ok::<_, Infallible>(response) }
        });
        // Each request looks up the name again.
        let mut http = http1::Builder::new();
        http.keep_alive(false);
        let _ = http.serve_connection(TokioIo::new(stream), answer).await;
    }

    fn answer<B>(&self, scheme: &str, request: &Request<B>) -> Response {
        let host = request.headers().get(header::HOST);
        let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
        let url = format!("{scheme}://{host}{}", request.uri());
        self.asked.lock().expect("what was asked").push(url.clone());
        let file = self.files.lock().expect("files").get(&url).cloned();
        match file {
            Some(File::Text(text)) => ([(header::CONTENT_TYPE, media_type(&url))], text).into_response(),
            Some(File::Redirect(to)) => (StatusCode::FOUND, [(header::LOCATION, to)]).into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        }
    }
}

fn media_type(url: &str) -> &'static str {
    match Path::new(url)
        .extension()
        .and_then(|extension| extension.to_str())
    {
        Some("json") => "application/json",
        Some("js") => "text/javascript",
        _ => "application/typescript",
    }
}

/// Makes the certificate of whatever host is asked for.
struct Vouching {
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Vouching {
    fn new() -> Self {
        let mut about = CertificateParams::default();
        about.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        about.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        about.distinguished_name.push(DnType::CommonName, "a test");
        let key = KeyPair::generate().expect("a key");
        Self {
            authority: CertifiedIssuer::self_signed(about, key).expect("a certificate"),
        }
    }
}

impl std::fmt::Debug for Vouching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vouching").finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Vouching {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello
            .server_name()
            .map_or_else(|| PUBLIC.to_string(), str::to_owned);
        let mut about = CertificateParams::new([name]).ok()?;
        about.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().ok()?;
        let certificate = about.signed_by(&key, &self.authority).ok()?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let chain = vec![certificate.der().clone()];
        let certified = CertifiedKey::from_der(chain, key, &ring::default_provider());
        certified.ok().map(Arc::new)
    }
}
