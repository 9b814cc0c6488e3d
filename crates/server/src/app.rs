//! Every request passes here: which host it is for, whose token it brings, and what every answer carries.

use std::{
    convert::Infallible,
    panic::AssertUnwindSafe,
    task::{Context, Poll},
    time::Instant,
};

use anyhow::anyhow;
use axum::{
    Router,
    body::{Body, HttpBody},
    http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use tower::Service;

use crate::{
    auth,
    error::{ApiError, SHOULD_RETRY},
    gateway, routes,
    state::AppState,
};

/// The whole server as one service.
#[derive(Clone)]
pub struct App {
    state: AppState,
    router: Router,
}

impl App {
    /// The service around this state.
    pub fn new(state: AppState) -> Self {
        let router = routes::router(&state);
        Self { state, router }
    }

    /// Answers one request.
    pub async fn answer(self, request: Request<Body>) -> Response {
        let seen = Seen::of(&request);
        let response = match gateway::label_in_host(&self.state.config, &request).map(str::to_owned) {
            Some(label) => caught(gateway::answer(&self.state, &label, request)).await,
            None => self.answer_as_app(request).await,
        };
        if let Some(seen) = seen {
            seen.answered(&response);
        }
        response
    }

    async fn answer_as_app(mut self, request: Request<Body>) -> Response {
        let method = request.method().clone();
        let path = request.uri().path();
        let is_api = path == "/v1" || path.starts_with("/v1/");
        let mut response = if is_api && is_preflight(&request) {
            preflight(request.headers())
        } else {
            caught(self.route(request)).await
        };
        if is_api {
            finish_api(&method, &mut response);
        }
        let headers = response.headers_mut();
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        response
    }

    async fn route(&mut self, mut request: Request<Body>) -> Response {
        if let Err(error) = gateway::must_be_apart(&self.state.config, &request) {
            return error.into_response();
        }
        match auth::by_token(&self.state, request.headers()).await {
            Ok(None) => {}
            Ok(Some(user)) => {
                request.extensions_mut().insert(user);
            }
            Err(error) => return error.into_response(),
        }
        match self.router.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

impl<B> Service<Request<B>> for App
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let app = self.clone();
        Box::pin(async move { Ok(app.answer(request.map(Body::new)).await) })
    }
}

/// What the log tells of a request, where it is asked to tell so much. Never its query: secrets may be in it.
struct Seen {
    method: Method,
    path: String,
    at: Instant,
}

impl Seen {
    fn of(request: &Request<Body>) -> Option<Self> {
        tracing::enabled!(tracing::Level::DEBUG).then(|| Self {
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            at: Instant::now(),
        })
    }

    fn answered(self, response: &Response) {
        tracing::debug!(
            http.method = %self.method,
            http.path = self.path,
            http.status = response.status().as_u16(),
            duration_ms = self.at.elapsed().as_secs_f64() * 1_000.0,
            "answered"
        );
    }
}

/// The answer, also where making it panics. No `async fn`: that would hold what makes the answer, some kilobytes, twice.
fn caught(answer: impl Future<Output = Response>) -> impl Future<Output = Response> {
    AssertUnwindSafe(answer)
        .catch_unwind()
        .map(|answer| answer.unwrap_or_else(|_| panicked()))
}

fn panicked() -> Response {
    ApiError::Internal(anyhow!("a handler panicked: its message is above")).into_response()
}

fn is_preflight(request: &Request<Body>) -> bool {
    request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Any site's page may use the interface, with a token: cookies are never sent along.
fn preflight(asked: &HeaderMap) -> Response {
    let usual = HeaderValue::from_static("authorization, content-type, if-match");
    // A list can't say `x-stainless-*`: what is asked for is granted.
    let headers = asked
        .get(header::ACCESS_CONTROL_REQUEST_HEADERS)
        .cloned()
        .unwrap_or(usual);
    let fixed = [
        (
            header::ACCESS_CONTROL_ALLOW_METHODS,
            "GET, HEAD, POST, PUT, PATCH, DELETE",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
        (header::VARY, "access-control-request-headers"),
    ];
    (
        StatusCode::NO_CONTENT,
        fixed,
        [(header::ACCESS_CONTROL_ALLOW_HEADERS, headers)],
    )
        .into_response()
}

/// What every answer of the interface carries.
fn finish_api(method: &Method, response: &mut Response) {
    let status = response.status();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("allow, etag, retry-after, x-should-retry"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache"));
    // Something may have happened before it failed: sending it again could make it happen twice.
    let may_have_had_effects =
        status.is_server_error() && status != StatusCode::SERVICE_UNAVAILABLE && !method.is_safe();
    if may_have_had_effects {
        headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    }
}
