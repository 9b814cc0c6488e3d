//! The web app: plain files, in the program itself where it was built for release, else read from the folder that
//! Trunk writes.

mod policy;

use std::{path::PathBuf, sync::LazyLock};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::error::ApiError;

/// A file of the app in the forms in which it is sent.
#[derive(Clone, Copy)]
struct Asset {
    name: &'static str,
    plain: &'static [u8],
    brotli: Option<&'static [u8]>,
    gzip: Option<&'static [u8]>,
}

/// The files that were there when a release was built, sorted by name.
static EMBEDDED: &[Asset] = include!(concat!(env!("OUT_DIR"), "/app.rs"));

static APP: LazyLock<StaticApp> = LazyLock::new(|| {
    if cfg!(debug_assertions) {
        StaticApp::of_folder(PathBuf::from(env!("HAMLET_APP_DIR")))
    } else {
        StaticApp {
            source: Source::Embedded(EMBEDDED),
        }
    }
});

/// What is answered in place of an app that was not built.
const NOT_BUILT: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Hamlet</title>\n\
    <h1>The web app is not in this build</h1>\n\
    <p>Build it with <code>cargo xtask app</code>, then build the server again; \
    <code>cargo xtask run</code> does both. The interface at <a href=\"/docs\">/docs</a> works without it.</p>\n</html>\n";

/// The names of the app's own files have a hash in them: what has such a name never changes.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// Answers what no route does: a file of the app, or the app itself, which finds its page by the address.
pub async fn answer(request: Request) -> Response {
    APP.answer(request.method(), request.uri().path(), request.headers())
}

/// Whether a person's browser asks, for a page.
pub fn wants_page(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|accept| accept.to_str().ok())
        .any(|accept| accept.contains("text/html"))
}

struct StaticApp {
    source: Source,
}

enum Source {
    Embedded(&'static [Asset]),
    Folder(PathBuf),
}

/// A file as it is sent.
struct Sent {
    bytes: Bytes,
    encoding: Option<&'static str>,
}

impl StaticApp {
    fn of_folder(folder: PathBuf) -> Self {
        Self {
            source: Source::Folder(folder),
        }
    }

    fn answer(&self, method: &Method, path: &str, headers: &HeaderMap) -> Response {
        let is_api = path == "/v1" || path.starts_with("/v1/");
        if is_api || !matches!(*method, Method::GET | Method::HEAD) {
            return ApiError::NotFound("address").into_response();
        }
        let name = path.trim_start_matches('/');
        let is_page = name.is_empty() || name == "index.html";
        match self.find(name, headers).filter(|_| !is_page) {
            Some(file) => self.file(name, file, headers),
            // Pages have no dot in the last part of their address; a file that is gone must not become a page.
            None if !is_page && name.rsplit('/').next().is_some_and(|last| last.contains('.')) => {
                ApiError::NotFound("address").into_response()
            }
            None => self.page(headers),
        }
    }

    fn page(&self, headers: &HeaderMap) -> Response {
        let (Some(file), Some(plain)) = (self.find("index.html", headers), self.plain("index.html")) else {
            return Html(NOT_BUILT).into_response();
        };
        let policy = policy::of_page(&String::from_utf8_lossy(&plain));
        let mut response = self.file("index.html", file, headers);
        if let Ok(policy) = HeaderValue::try_from(policy) {
            response
                .headers_mut()
                .insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        response
    }

    fn file(&self, name: &str, file: Sent, asked: &HeaderMap) -> Response {
        let mut response = Response::new(Body::from(file.bytes));
        let headers = response.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding, accept"));
        if let Ok(kind) = HeaderValue::try_from(media_type(name)) {
            headers.insert(header::CONTENT_TYPE, kind);
        }
        if let Some(encoding) = file.encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        if has_hash(name) {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(FOREVER));
            return response;
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        let Some(etag) = self.plain(name).map(|plain| etag(&plain)) else {
            return response;
        };
        let known = asked
            .get(header::IF_NONE_MATCH)
            .and_then(|known| known.to_str().ok());
        let is_known = known.is_some_and(|known| known.split(',').any(|known| known.trim() == etag));
        if let Ok(etag) = HeaderValue::try_from(etag) {
            headers.insert(header::ETAG, etag);
        }
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = Body::empty();
        }
        response
    }

    /// The file of this name in the best form that the client takes.
    fn find(&self, name: &str, headers: &HeaderMap) -> Option<Sent> {
        match &self.source {
            Source::Embedded(assets) => {
                let asset = embedded(assets, name)?;
                let (bytes, encoding) = match (asset.brotli, asset.gzip) {
                    (Some(brotli), _) if takes(headers, "br") => (brotli, Some("br")),
                    (_, Some(gzip)) if takes(headers, "gzip") => (gzip, Some("gzip")),
                    _ => (asset.plain, None),
                };
                Some(Sent {
                    bytes: Bytes::from_static(bytes),
                    encoding,
                })
            }
            Source::Folder(_) => Some(Sent {
                bytes: self.plain(name)?,
                encoding: None,
            }),
        }
    }

    fn plain(&self, name: &str) -> Option<Bytes> {
        match &self.source {
            Source::Embedded(assets) => embedded(assets, name).map(|asset| Bytes::from_static(asset.plain)),
            Source::Folder(folder) => {
                let is_inside = name
                    .split('/')
                    .all(|part| !part.is_empty() && part != ".." && !part.contains('\\'));
                let path = folder.join(name);
                (is_inside && path.is_file())
                    .then(|| std::fs::read(path).ok())
                    .flatten()
                    .map(Bytes::from)
            }
        }
    }
}

fn embedded(assets: &'static [Asset], name: &str) -> Option<&'static Asset> {
    assets
        .binary_search_by(|asset| asset.name.cmp(name))
        .ok()
        .map(|at| &assets[at])
}

/// Weak: the plain and the compressed forms are the same file.
fn etag(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    format!(
        "W/\"{:016x}\"",
        u64::from_be_bytes(std::array::from_fn(|at| hash[at]))
    )
}

fn media_type(name: &str) -> String {
    let kind = mime_guess::from_path(name).first_or_octet_stream();
    match kind.type_() {
        mime_guess::mime::TEXT => format!("{}; charset=utf-8", kind.essence_str()),
        _ => kind.essence_str().to_owned(),
    }
}

/// Whether a name has a hash in it, as Trunk (`app-0123456789abcdef.js`, `…_bg.wasm`) and esbuild (`chunk-4ZJZ7XHG.js`)
/// write them.
fn has_hash(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.split('.').next().unwrap_or(file);
    let Some((_, hash)) = stem.strip_suffix("_bg").unwrap_or(stem).rsplit_once('-') else {
        return false;
    };
    let hex = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let base32 = hash.len() == 8
        && hash
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    hex || base32
}

/// Whether the client takes this encoding.
fn takes(headers: &HeaderMap, encoding: &str) -> bool {
    headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|part| {
            let mut parts = part.split(';').map(str::trim);
            let named = parts
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case(encoding));
            let refused = parts.any(|part| {
                part.strip_prefix("q=")
                    .is_some_and(|quality| quality.parse::<f32>().is_ok_and(|q| q <= 0.0))
            });
            named && !refused
        })
}

#[cfg(test)]
mod tests;
