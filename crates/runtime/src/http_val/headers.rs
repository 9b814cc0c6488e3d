//! What of a request and an answer is for the other side, and what for the way only.

use hamlet_models::RunId;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri, Version, header, uri};

use crate::Body;

/// The header by which the worker knows whose lines a request prints; the val may read it.
const RUN_ID_HEADER: HeaderName = HeaderName::from_static("hamlet-run-id");

/// The request as the val gets it: the public address, no headers that are between two hops, the run's id.
pub(super) fn prepare(mut request: Request<Body>, run: RunId, for_web_socket: bool) -> Option<Request<Body>> {
    strip_hop_by_hop(request.headers_mut());
    if for_web_socket {
        name_web_socket(request.headers_mut());
    }
    if request.uri().authority().is_none() || request.uri().scheme().is_none() {
        let host = request.headers().get(header::HOST)?.to_str().ok()?;
        let mut parts = uri::Parts::default();
        parts.scheme = Some(request.uri().scheme().cloned().unwrap_or(uri::Scheme::HTTP));
        parts.authority = Some(
            request
                .uri()
                .authority()
                .cloned()
                .map_or_else(|| host.parse().ok(), Some)?,
        );
        parts.path_and_query = Some(
            request
                .uri()
                .path_and_query()
                .cloned()
                .unwrap_or_else(|| uri::PathAndQuery::from_static("/")),
        );
        *request.uri_mut() = Uri::from_parts(parts).ok()?;
    }
    if !request.headers().contains_key(header::HOST) {
        let authority = HeaderValue::try_from(request.uri().authority()?.as_str()).ok()?;
        request.headers_mut().insert(header::HOST, authority);
    }
    let mut buffer = uuid::Uuid::encode_buffer();
    let id = run.0.as_hyphenated().encode_lower(&mut buffer);
    request
        .headers_mut()
        .insert(RUN_ID_HEADER, HeaderValue::from_str(id).ok()?);
    *request.version_mut() = Version::HTTP_11;
    Some(request)
}

/// Says that the connection becomes a web socket.
pub(super) fn name_web_socket(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
}

/// Takes away what concerns one connection only.
pub(super) fn strip_hop_by_hop(headers: &mut HeaderMap) {
    if let Some(connection) = headers.remove(header::CONNECTION) {
        for name in connection.to_str().unwrap_or_default().split(',') {
            if let Ok(name) = HeaderName::try_from(name.trim()) {
                headers.remove(name);
            }
        }
    }
    for name in [
        HeaderName::from_static("keep-alive"),
        HeaderName::from_static("proxy-connection"),
        header::PROXY_AUTHENTICATE,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
    ] {
        headers.remove(name);
    }
}
