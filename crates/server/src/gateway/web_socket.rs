//! Web sockets: the one protocol that the connection to a val may go over to.

use axum::http::{HeaderMap, HeaderName, Method, Request, Uri, Version, header};
use hamlet_runtime::WebSocketClient;
use hyper::upgrade::OnUpgrade;

/// The client's connection, if the request asks for it to become a web socket.
pub(super) fn client_of<B>(request: &mut Request<B>) -> Option<WebSocketClient> {
    let is_handshake = request.method() == Method::GET
        && request.version() == Version::HTTP_11
        && names(request.headers(), header::CONNECTION, "upgrade")
        && names(request.headers(), header::UPGRADE, "websocket");
    let connection = request.extensions_mut().remove::<OnUpgrade>();
    connection.filter(|_| is_handshake).map(WebSocketClient)
}

/// Whether a page of another host asks for a web socket: browsers let any page do that, with the cookies of this host,
/// and not all say by `Sec-Fetch-Site` where it comes from.
pub(super) fn is_of_another_page(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else {
        return false;
    };
    let origin = Uri::try_from(origin.as_bytes()).ok();
    let page = origin.as_ref().and_then(Uri::authority).map(|page| page.as_str());
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_same = page
        .zip(host)
        .is_some_and(|(page, host)| page.eq_ignore_ascii_case(host));
    headers.contains_key(header::UPGRADE) && !is_same
}

/// Whether a header lists this word.
fn names(headers: &HeaderMap, header: HeaderName, word: &str) -> bool {
    let values = headers.get_all(header).into_iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|name| name.trim().eq_ignore_ascii_case(word))
}
