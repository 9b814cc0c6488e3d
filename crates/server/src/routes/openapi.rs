//! The interface described: for programs as OpenAPI 3.1, for people as a page.

use std::sync::LazyLock;

use axum::{
    http::header,
    response::IntoResponse,
};
use bytes::Bytes;
use utoipa::openapi::{InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::state::AppState;

static DOCUMENT: LazyLock<OpenApi> = LazyLock::new(super::document);

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(get_openapi))
}

/// What the document says of the interface as a whole.
pub(super) fn frame() -> OpenApi {
    let license = LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build();
    let info = InfoBuilder::new()
        .title("Hamlet")
        .version(env!("CARGO_PKG_VERSION"))
        .license(Some(license))
        .build();
    OpenApiBuilder::new().info(info).build()
}

/// This interface as an OpenAPI document.
#[utoipa::path(get, path = "/v1/openapi.json", tag = "instance", responses((status = 200, description = "The document")))]
async fn get_openapi() -> impl IntoResponse {
    static JSON: LazyLock<Bytes> = LazyLock::new(|| DOCUMENT.to_json().map(Bytes::from).unwrap_or_default());
    ([(header::CONTENT_TYPE, "application/json")], JSON.clone())
}
