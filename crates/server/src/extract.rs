//! What handlers take from a request, each refused in the words of the contract.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::{
    extract::{ConnectInfo, FromRequest, FromRequestParts, OptionalFromRequest, Path, Request},
    http::{HeaderMap, header, request::Parts},
};
use bytes::Bytes;
use hamlet_models::{
    Eval, EvalArgs, Markdown, MeUpdate, NewEmail, NewRun, NewSession, NewSqlBatch, NewSqlExecution, NewToken,
    NewVal, NewVersion, PageQuery, PasswordChange, PutVal, SecretUpdate, ValUpdate,
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use crate::error::{ApiError, ApiResult};

/// The most bytes of a JSON body, unless a route says otherwise: a readme, however it is escaped, fits.
pub const BODY_MAX_BYTES: usize = 1 << 20;
/// The most bytes of a body that holds code: 256,000 characters and a readme fit, however they are escaped.
pub const CODE_BODY_MAX_BYTES: usize = 4 << 20;

/// The parts of the path.
pub struct ApiPath<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for ApiPath<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(rejection) => Err(ApiError::Malformed(format!(
                "this address can't be read: {}",
                rejection.body_text().trim_start_matches("Invalid URL: ")
            ))),
        }
    }
}

/// A version's number as a path writes it: digits alone. Numbers beyond all that are given name no version.
pub struct VersionInPath(pub u32);

impl<'de> Deserialize<'de> for VersionInPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(serde::de::Error::custom("a version is a number from 0"));
        }
        const MOST: u32 = i32::MAX.cast_unsigned();
        Ok(Self(text.parse().unwrap_or(MOST).min(MOST)))
    }
}

/// The query.
pub struct ApiQuery<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for ApiQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> ApiResult<Self> {
        let query = parts.uri.query().unwrap_or_default();
        let fields = serde_urlencoded::Deserializer::new(url::form_urlencoded::parse(query.as_bytes()));
        serde_path_to_error::deserialize(fields)
            .map(Self)
            .map_err(|error| ApiError::invalid(error.path().to_string(), error.inner().to_string()))
    }
}

/// Which part of a list is asked for, within its limits.
pub struct ApiPage(pub PageQuery);

impl<S: Send + Sync> FromRequestParts<S> for ApiPage {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let ApiQuery(query) = ApiQuery::<PageQuery>::from_request_parts(parts, state).await?;
        match query.problem() {
            Some((path, message)) => Err(ApiError::invalid(path, message)),
            None => Ok(Self(query)),
        }
    }
}

/// A body that a handler may ask for: it knows its own rules.
pub trait ApiBody: DeserializeOwned {
    /// The shape in words, for bodies that can have several.
    const SHAPE: &'static str = "an object with the fields that the reference at /docs names";

    /// Each part that breaks a rule: the field's name and a sentence.
    fn problems(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

macro_rules! body_with_rules {
    ($($body:ty),*) => {
        $(impl ApiBody for $body {
            fn problems(&self) -> Vec<(&'static str, &'static str)> {
                self.problems()
            }
        })*
    };
}

body_with_rules!(
    NewVal,
    NewVersion,
    PutVal,
    ValUpdate,
    MeUpdate,
    Eval,
    SecretUpdate
);

impl ApiBody for NewEmail {}
impl ApiBody for NewRun {}
impl ApiBody for NewToken {}
impl ApiBody for EvalArgs {
    const SHAPE: &'static str = "a list of arguments, or an object with such a list as args";
}
impl ApiBody for NewSqlExecution {
    const SHAPE: &'static str = "an object with the SQL as statement, a text or {\"sql\", \"args\"}";
}
impl ApiBody for NewSqlBatch {
    const SHAPE: &'static str = "an object with a list as statements, each a text or {\"sql\", \"args\"}";
}
impl ApiBody for NewSession {
    const SHAPE: &'static str = "an object with username and password, with token, or with link, each a text";
}
impl ApiBody for PasswordChange {
    fn problems(&self) -> Vec<(&'static str, &'static str)> {
        Self::problem(&self.new)
            .map(|problem| ("new", problem))
            .into_iter()
            .collect()
    }
}
impl ApiBody for Markdown {
    fn problems(&self) -> Vec<(&'static str, &'static str)> {
        let longer = self.markdown.chars().count() > hamlet_models::README_MAX_CHARS;
        longer
            .then_some(("markdown", "the text has at most 64,000 characters"))
            .into_iter()
            .collect()
    }
}

/// A JSON body of at most that many bytes that keeps the rules of its type. As an `Option`: no body is `None`,
/// whatever the content type says.
pub struct ApiJson<T, const MAX_BYTES: usize = BODY_MAX_BYTES>(pub T);

impl<S: Send + Sync, T: ApiBody, const MAX_BYTES: usize> FromRequest<S> for ApiJson<T, MAX_BYTES> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> ApiResult<Self> {
        <Self as OptionalFromRequest<S>>::from_request(request, state)
            .await?
            .ok_or_else(|| ApiError::Malformed("this address needs a JSON body".to_owned()))
    }
}

impl<S: Send + Sync, T: ApiBody, const MAX_BYTES: usize> OptionalFromRequest<S> for ApiJson<T, MAX_BYTES> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> ApiResult<Option<Self>> {
        let content = Content::of(request.headers());
        let body = read_body(request, MAX_BYTES).await?;
        match content {
            _ if body.is_empty() => Ok(None),
            Content::Json | Content::Unsaid => parse_json(&body).map(Self).map(Some),
            Content::Code | Content::Other => Err(ApiError::UnsupportedMediaType("application/json")),
        }
    }
}

/// A body of at most that many bytes as it came, whatever its content type says.
pub struct ApiBytes<const MAX_BYTES: usize>(pub Bytes);

impl<S: Send + Sync, const MAX_BYTES: usize> FromRequest<S> for ApiBytes<MAX_BYTES> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> ApiResult<Self> {
        read_body(request, MAX_BYTES).await.map(Self)
    }
}

/// A body that holds code: the JSON of its type, or the bare code.
pub struct ApiCode<T>(pub T);

impl<S: Send + Sync, T: ApiBody + OfCode> FromRequest<S> for ApiCode<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> ApiResult<Self> {
        let content = Content::of(request.headers());
        let body = read_body(request, CODE_BODY_MAX_BYTES).await?;
        let value = match content {
            Content::Json | Content::Unsaid if body.is_empty() => {
                return Err(ApiError::Malformed(
                    "this address needs a JSON body or the bare code".to_owned(),
                ));
            }
            Content::Json | Content::Unsaid => return parse_json(&body).map(Self),
            Content::Code => T::of_code(
                String::from_utf8(body.into())
                    .map_err(|_| ApiError::invalid("code", "a val's code is text in UTF-8"))?,
            ),
            Content::Other => {
                return Err(ApiError::UnsupportedMediaType(
                    "application/json, or the bare code as text/plain, text/javascript or text/typescript",
                ));
            }
        };
        ApiError::check(value.problems())?;
        Ok(Self(value))
    }
}

/// Bodies that may be sent as their code alone.
pub trait OfCode {
    /// The body that this code stands for.
    fn of_code(code: String) -> Self;
}

impl OfCode for NewVal {
    fn of_code(code: String) -> Self {
        Self::of_code(code)
    }
}

impl OfCode for NewVersion {
    fn of_code(code: String) -> Self {
        Self::of_code(code)
    }
}

/// The body, unless it is larger than that.
pub async fn read_body(request: Request, max_bytes: usize) -> ApiResult<Bytes> {
    match Limited::new(request.into_body(), max_bytes).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ApiError::TooLarge { max_bytes }),
        Err(_) => Err(ApiError::Malformed(
            "the body broke off before its end".to_owned(),
        )),
    }
}

/// A body that keeps the rules of its type.
pub(crate) fn parse_json<T: ApiBody>(body: &[u8]) -> ApiResult<T> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let value: T = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        refused_json(error.into_inner(), path, T::SHAPE)
    })?;
    json.end()
        .map_err(|error| refused_json(error, String::new(), T::SHAPE))?;
    ApiError::check(value.problems())?;
    Ok(value)
}

fn refused_json(error: serde_json::Error, path: String, shape: &str) -> ApiError {
    if !error.is_data() {
        return ApiError::Malformed(format!("the body is not JSON: {error}"));
    }
    let path = if path == "." { String::new() } else { path };
    let text = error.to_string();
    // serde's own words for a value that fits none of several shapes name none of them.
    if text.starts_with("data did not match any variant") {
        return ApiError::invalid(path, format!("the body is {shape}"));
    }
    // The position is of no use to someone who sent an object from a program.
    let text = text.split(" at line ").next().unwrap_or(&text).to_owned();
    ApiError::invalid(path, text)
}

/// What the body says it is.
enum Content {
    Unsaid,
    Json,
    Code,
    Other,
}

impl Content {
    fn of(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(header::CONTENT_TYPE) else {
            return Self::Unsaid;
        };
        let Some(text) = value.to_str().ok() else {
            return Self::Other;
        };
        let mut parts = text.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
        let foreign_charset = parts
            .filter_map(|part| part.split_once('='))
            .any(|(name, value)| {
                name.trim().eq_ignore_ascii_case("charset")
                    && !value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
            });
        match essence.as_str() {
            _ if foreign_charset => Self::Other,
            "application/json" => Self::Json,
            "text/plain"
            | "text/javascript"
            | "application/javascript"
            | "text/typescript"
            | "application/typescript" => Self::Code,
            other if other.starts_with("application/") && other.ends_with("+json") => Self::Json,
            _ => Self::Other,
        }
    }
}

/// The address of the other end of the connection.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        // A request that came by no connection, as a test's, came from this machine.
        let address = parts
            .extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ConnectInfo(address)| {
                address.ip()
            });
        Ok(Self(address))
    }
}
