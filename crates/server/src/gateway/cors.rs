//! Who may call a val from another page: anyone, unless the val says otherwise.

use axum::{
    http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header},
    response::{IntoResponse, Response},
};

/// A browser's question whether it may send a request.
pub(super) struct Preflight {
    headers: Option<HeaderValue>,
}

/// The question that this request is, if it is one.
pub(super) fn preflight_of<B>(request: &Request<B>) -> Option<Preflight> {
    let headers = request.headers();
    let asks = request.method() == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    asks.then(|| Preflight {
        headers: headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned(),
    })
}

/// Whether the val decided for itself who may call it; an empty value decides too.
pub(super) fn is_decided(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN)
}

/// Lets any page read the answer, unless the val decided.
pub(super) fn open(mut response: Response) -> Response {
    let headers = response.headers_mut();
    if !is_decided(headers) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    }
    response
}

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, PUT, PATCH, POST, DELETE");

impl Preflight {
    /// The answer to a question that the val left open.
    pub(super) fn answer(self) -> Response {
        let mut response = open(StatusCode::NO_CONTENT.into_response());
        let headers = response.headers_mut();
        if let Some(asked) = self.headers {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked);
        }
        headers.insert(
            header::VARY,
            HeaderValue::from_static("access-control-request-headers"),
        );
        response
    }
}
