//! The interface described: for programs as OpenAPI 3.1, for people as a page.

mod page;

use std::sync::LazyLock;

use axum::{
    http::header,
    response::{Html, IntoResponse},
};
use bytes::Bytes;
use utoipa::openapi::{
    Components, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, SecurityRequirement,
    security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    tag::TagBuilder,
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::state::AppState;

static DOCUMENT: LazyLock<OpenApi> = LazyLock::new(super::document);

/// What the routes are about, in the order of the page.
const TAGS: [(&str, &str); 14] = [
    ("vals", "Small programs with a name, a kind and versions."),
    ("versions", "What each save left behind."),
    ("runs", "Every execution of a val, recorded."),
    ("run", "Calling a val and getting what it returns."),
    ("eval", "Evaluating code that is not kept."),
    ("modules", "Vals as code to import."),
    ("blob", "Bytes that each account keeps by key."),
    ("email", "Mail that goes out."),
    ("sqlite", "The SQLite database that each account has for its own."),
    ("users", "People and what they show."),
    ("aliases", "Users and vals by name."),
    ("me", "The caller's own account, tokens and runs."),
    ("session", "Signing in to the web app."),
    ("instance", "This instance itself."),
];

const DESCRIPTION: &str = "\
Send a token as `Authorization: Bearer hmlt_…`; without one, public vals can be read. Times are RFC 3339 in UTC, \
identifiers are UUIDs. Lists are newest first and read a page at a time: follow `links.next` until there is none. \
Every failure is a JSON object with a sentence in `message`, a stable `code`, and `details` where values were refused.";

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(get_openapi))
        .routes(routes!(get_docs))
}

/// What the document says of the interface as a whole.
pub(super) fn frame() -> OpenApi {
    let license = LicenseBuilder::new()
        .name("Apache-2.0")
        .identifier(Some("Apache-2.0"))
        .build();
    let info = InfoBuilder::new()
        .title("Hamlet")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .license(Some(license))
        .build();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An API token"))
        .build();
    let mut components = Components::new();
    components.add_security_scheme("token", SecurityScheme::Http(bearer));
    let tags = TAGS.map(|(name, description)| {
        TagBuilder::new()
            .name(name)
            .description(Some(description))
            .build()
    });
    // A token is never needed to ask: what is public can be read without one.
    let security = [
        SecurityRequirement::default(),
        SecurityRequirement::new("token", Vec::<String>::new()),
    ];
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .tags(Some(tags))
        .security(Some(security))
        .build()
}

/// This interface as an OpenAPI document.
#[utoipa::path(get, path = "/v1/openapi.json", tag = "instance",
    responses((status = 200, description = "The document", body = Object)))]
async fn get_openapi() -> impl IntoResponse {
    static JSON: LazyLock<Bytes> = LazyLock::new(|| {
        DOCUMENT
            .to_json()
            .expect("the document is made of texts and numbers")
            .into()
    });
    ([(header::CONTENT_TYPE, "application/json")], JSON.clone())
}

/// This interface as a page to read.
#[utoipa::path(get, path = "/docs", tag = "instance",
    responses((status = 200, description = "The page", body = String, content_type = "text/html")))]
async fn get_docs() -> impl IntoResponse {
    static PAGE: LazyLock<Bytes> = LazyLock::new(|| page::of(&DOCUMENT).into());
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(PAGE.clone()))
}
