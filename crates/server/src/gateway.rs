//! HTTP vals by host name: `{username}-{val}.{vals_domain}`, never on the host of the web app.
//!
//! A token of this instance (`Authorization: Bearer hmlt_…`) is for the gateway alone: it opens the owner's private
//! vals, shows the owner a failure's stack, and is never passed on, so that no val gets hold of its caller's account.

mod body;
mod cookies;
mod cors;
mod page;
mod visit;
mod web_socket;

use std::sync::Arc;

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderName, Request, StatusCode, Uri, header,
        uri::{PathAndQuery, Scheme},
    },
    response::Response,
};
use hamlet_models::{Privacy, ValId, ValKind};
use hamlet_store::{StoreError, ValRecord};
use uuid::Uuid;

use crate::{
    auth::{self, CurrentUser},
    config::Config,
    error::{ApiError, ApiResult},
    run_service::Answered,
    state::AppState,
};
use body::Limit;
use page::{Asked, Page};

pub use visit::address_of as visit_address;

/// A label of the domain name system has at most this many characters.
const LABEL_MAX_CHARS: usize = 63;

/// Headers that are about one connection, not about the message.
const HOP_HEADERS: [HeaderName; 7] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The label under which an HTTP val answers: the names of its owner and itself, or its id where those are too long.
/// Every val answers under its id as well.
pub fn label_of(val: &ValRecord) -> String {
    let (username, name) = (val.owner.username.as_str(), val.name.as_str());
    if username.len() + 1 + name.len() > LABEL_MAX_CHARS {
        return val.id.0.as_simple().to_string();
    }
    let mut label = [username, "-", name].concat();
    label.make_ascii_lowercase();
    label
}

/// What stands before the vals' domain in the host that a request is for; `None` if it is for the app's host.
pub fn label_in_host<'a, B>(config: &Config, request: &'a Request<B>) -> Option<&'a str> {
    let host = host_of(request)?;
    let domain = without_port(&config.vals_domain);
    let (label, rest) = host.split_at_checked(host.len().checked_sub(domain.len() + 1)?)?;
    let is_below = rest.starts_with('.') && rest[1..].eq_ignore_ascii_case(domain) && !label.is_empty();
    let is_apps = || {
        let base = config.base_url.as_deref().and_then(|url| url.split_once("://"));
        base.is_some_and(|(_, base)| without_port(base).eq_ignore_ascii_case(host))
    };
    (is_below && !is_apps()).then_some(label)
}

/// Refuses to be the app at a host of the vals' site: a browser lets pages of one site set cookies for each other, and
/// sends theirs along. Where the app is to be is not always a setting; where it is asked for always shows.
pub fn must_be_apart<B>(config: &Config, request: &Request<B>) -> ApiResult<()> {
    match host_of(request).filter(|host| config.is_of_vals_site(host)) {
        None => Ok(()),
        Some(host) => Err(ApiError::Malformed(format!(
            "{host} is of one site with the vals' pages, which answer below {}: ask for this instance at a host of another \
             registered domain",
            config.vals_domain
        ))),
    }
}

fn host_of<B>(request: &Request<B>) -> Option<&str> {
    let named = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    named
        .or_else(|| request.uri().authority().map(|authority| authority.as_str()))
        .map(without_port)
        // The name from the root on, which is the same host.
        .map(|host| host.strip_suffix('.').unwrap_or(host))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

/// What a caller shows to be let in.
enum Shown {
    /// A token of this instance.
    Token(String),
    /// A pass to one val.
    Pass(String),
}

impl Shown {
    /// Who shows it at this val, if it works there.
    async fn caller(&self, state: &AppState, val: &ValRecord) -> ApiResult<Option<CurrentUser>> {
        match self {
            Self::Token(token) => auth::by_secret(state, token).await,
            Self::Pass(pass) => visit::visitor(state, val, pass).await,
        }
    }
}

/// Answers a request to the val that this label names.
pub async fn answer(state: &AppState, label: &str, mut request: Request<Body>) -> Response {
    let asked = Asked::of(request.headers());
    let preflight = cors::preflight_of(&request);
    if let Some((pass, address)) = visit::of_address(request.uri()) {
        return visit::let_in(state, pass, &address);
    }
    let pass = visit::take_pass(&mut request, state.config.is_https())
        .filter(|_| !web_socket::is_of_another_page(request.headers()))
        .map(Shown::Pass);
    let shown = take_token(request.headers_mut()).map(Shown::Token).or(pass);
    let (response, is_the_vals) = match find(state, label, shown.as_ref()).await {
        Err(page) => (page.response(asked), false),
        Ok(val) => match send(state, &val, request).await {
            Ok(response) => (response, true),
            Err(page) => (
                page.with_stack_for_owner(state, &val, shown.as_ref())
                    .await
                    .response(asked),
                false,
            ),
        },
    };
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return response;
    }
    match preflight {
        Some(preflight) if !(is_the_vals && cors::is_decided(response.headers())) => {
            body::let_end(response.into_body());
            preflight.answer()
        }
        Some(_) | None => cors::open(response),
    }
}

/// The val, if there is one and the caller may know of it.
async fn find(state: &AppState, label: &str, shown: Option<&Shown>) -> Result<Arc<ValRecord>, Page> {
    // No name comes before an id, or someone could take the place of another's val.
    let found = match (Uuid::try_parse(label), label.rsplit_once('-')) {
        (Ok(id), _) => state.store.get_val(ValId(id)).await,
        (Err(_), Some((username, name))) => state.store.find_val(username, name).await,
        (Err(_), None) => return Err(Page::no_val()),
    };
    let val = match found {
        Ok(val) => val,
        Err(StoreError::NotFound(_)) => return Err(Page::no_val()),
        Err(error) => return Err(Page::of_error(error.into())),
    };
    if val.privacy == Privacy::Private {
        must_be_owner(state, &val, shown).await?;
    }
    match val.kind {
        ValKind::Http => Ok(val),
        ValKind::Script | ValKind::Interval | ValKind::Email => Err(Page::not_http(val.kind)),
    }
}

async fn must_be_owner(state: &AppState, val: &ValRecord, shown: Option<&Shown>) -> Result<(), Page> {
    let caller = match shown {
        Some(shown) => shown.caller(state, val).await.map_err(Page::of_error)?,
        None => None,
    };
    match caller {
        Some(caller) if caller.id() == val.owner.id => {
            caller.must_have(auth::RUN_WRITE).map_err(Page::of_error)
        }
        Some(_) | None => Err(Page::no_val()),
    }
}

/// Runs the val for this request.
async fn send(state: &AppState, val: &Arc<ValRecord>, mut request: Request<Body>) -> Result<Response, Page> {
    let config = &state.config;
    let limit = Limit::of(config.limits.request_body_mb);
    let client = web_socket::client_of(&mut request);
    let (mut head, body) = request.into_parts();
    let (body, exceeded) = limit.apply(&head.headers, body).map_err(Page::of_error)?;
    head.uri = public_uri(config, &head.headers, head.uri)?;
    remove_hop_headers(&mut head.headers);
    if let Some(client) = client {
        head.extensions.insert(client);
    }
    let asked = Request::from_parts(head, body);

    let answered = state.runs.fetch(val, asked).await.map_err(Page::of_error)?;
    let Answered { run, response } = answered;
    match response {
        Ok(response) => {
            run.answered(response.status().as_u16());
            let mut response = response.map(Body::new);
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                remove_hop_headers(response.headers_mut());
            }
            cookies::keep_to_host(response.headers_mut());
            Ok(response)
        }
        Err(outcome) => {
            let page = if exceeded.is_set() {
                limit.page()
            } else {
                Page::of_failure(&outcome)
            };
            run.answered(page.status().as_u16());
            Err(page)
        }
    }
}

/// The address that the client sees.
fn public_uri(config: &Config, headers: &HeaderMap, uri: Uri) -> Result<Uri, Page> {
    let mut parts = uri.into_parts();
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.as_bytes().try_into().ok());
    parts.authority = host.or(parts.authority);
    // `OPTIONS *` asks about the server as a whole, which is no place on it.
    if parts.path_and_query.as_ref().is_some_and(|asked| asked == "*") {
        parts.path_and_query = Some(PathAndQuery::from_static("/"));
    }
    parts.scheme = Some(if config.is_https() {
        Scheme::HTTPS
    } else {
        Scheme::HTTP
    });
    let malformed = || Page::of_error(ApiError::Malformed("this address can't be read".to_owned()));
    Uri::from_parts(parts).map_err(|_| malformed())
}

/// Takes this instance's token out of the request, if it brings one.
fn take_token(headers: &mut HeaderMap) -> Option<String> {
    let token = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()
        .and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            let token = token.trim();
            (scheme.eq_ignore_ascii_case("bearer") && token.starts_with(auth::TOKEN_PREFIX))
                .then(|| token.to_owned())
        })?;
    headers.remove(header::AUTHORIZATION);
    Some(token)
}

/// Takes away what is about one connection, so that it isn't passed on to another.
pub fn remove_hop_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOP_HEADERS.iter().chain(&named) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn label<'a>(settings: &str, request: &'a Request<()>) -> Option<&'a str> {
        let settings: crate::config::Settings = toml::from_str(settings).expect("settings");
        label_in_host(&Config::try_from(settings).expect("settings"), request)
    }

    fn to(host: &str) -> Request<()> {
        Request::builder()
            .header(header::HOST, host)
            .body(())
            .expect("a request")
    }

    #[test]
    fn only_hosts_below_the_vals_domain_are_vals() {
        for (host, expected) in [
            ("ada-hello.localhost:8787", Some("ada-hello")),
            ("ada-hello.localhost", Some("ada-hello")),
            ("Ada-Hello.LOCALHOST:1", Some("Ada-Hello")),
            ("a.b.localhost", Some("a.b")),
            ("ada-hello.localhost.", Some("ada-hello")),
            ("ada-hello.localhost.:8787", Some("ada-hello")),
            ("ada-hello.localhost..", None),
            ("localhost.", None),
            (".", None),
            ("localhost:8787", None),
            (".localhost", None),
            ("127.0.0.1:8787", None),
            ("[::1]:8787", None),
            ("notlocalhost", None),
            ("ada-hello.localhost.example.com", None),
            ("élocalhost", None),
        ] {
            assert_eq!(label("", &to(host)), expected, "{host}");
        }
    }

    #[test]
    fn the_apps_host_is_no_val_even_below_the_vals_domain() {
        // On a machine of one's own; elsewhere the settings refuse a host for vals that the app's is below.
        let settings = "base_url = \"http://app.localhost\"\nvals_domain = \"localhost\"";
        assert_eq!(label(settings, &to("app.localhost")), None);
        assert_eq!(label(settings, &to("ada-hello.localhost")), Some("ada-hello"));
    }

    #[test]
    fn a_token_of_ours_is_taken_and_anything_else_is_left() {
        let taken = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static(value));
            (
                take_token(&mut headers),
                headers.contains_key(header::AUTHORIZATION),
            )
        };
        assert_eq!(taken("Bearer hmlt_a"), (Some("hmlt_a".to_owned()), false));
        assert_eq!(taken("bearer  hmlt_a"), (Some("hmlt_a".to_owned()), false));
        assert_eq!(taken("Bearer other"), (None, true));
        assert_eq!(taken("Basic aGk="), (None, true));
    }

    #[test]
    fn what_is_about_the_connection_is_not_passed_on() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONNECTION, HeaderValue::from_static("close, X-Mine"));
        headers.insert(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        headers.insert("x-mine", HeaderValue::from_static("1"));
        headers.insert("x-other", HeaderValue::from_static("1"));
        remove_hop_headers(&mut headers);
        assert_eq!(
            headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(),
            ["x-other"]
        );
    }
}
