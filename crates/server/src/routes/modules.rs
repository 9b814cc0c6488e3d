//! Vals as modules to import. A val's page in the web app has the same address: a browser that asks for a page gets
//! that one.

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use hamlet_models::{Privacy, VersionNumber};
use hamlet_store::ValRecord;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{MaybeUser, VAL_READ},
    error::{ApiError, ApiResult},
    extract::{ApiPath, ApiQuery},
    present::Links,
    standard_library,
    state::AppState,
    static_app,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(get_module))
}

/// Which version of a module is asked for.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ModuleQuery {
    /// The version; without it, the answer leads to the latest.
    v: Option<VersionNumber>,
}

/// A version of a val as a TypeScript module.
#[utoipa::path(get, path = "/v/{username}/{val_name}", tag = "modules",
    params(("username" = String, Path), ("val_name" = String, Path), ModuleQuery),
    responses((status = 200, description = "The code", content_type = "application/typescript", body = String),
        (status = 302, description = "Leads to the latest version"), ApiError))]
async fn get_module(State(state): State<AppState>, request: Request) -> ApiResult<Response> {
    if static_app::wants_page(request.headers()) {
        return Ok(static_app::answer(request).await);
    }
    let (mut parts, _) = request.into_parts();
    let user = MaybeUser::from_request_parts(&mut parts, &state).await?;
    let links = Links::from_request_parts(&mut parts, &state).await?;
    let ApiPath((username, name)) =
        ApiPath::<(String, String)>::from_request_parts(&mut parts, &state).await?;
    let ApiQuery(query) = ApiQuery::<ModuleQuery>::from_request_parts(&mut parts, &state).await?;

    if username == standard_library::OWNER {
        return standard_module(&name);
    }
    user.must_have(VAL_READ)?;
    let latest = state
        .store
        .find_val(username.strip_prefix('@').unwrap_or(&username), &name)
        .await?;
    user.must_see(&latest)?;
    let Some(version) = query.v else {
        let location = format!(
            "{}?v={}",
            links.module(&latest.owner.username, &latest.name),
            latest.version
        );
        let found = (StatusCode::FOUND, [(header::LOCATION, location)]);
        return Ok((SHARED, [(header::CACHE_CONTROL, "no-cache")], found).into_response());
    };
    let val = match version {
        version if version == latest.version => latest,
        version => state.store.get_version(latest.id, version).await?,
    };
    let fixed = [
        (header::CONTENT_TYPE, media_type(&val.code)),
        (header::CACHE_CONTROL, caching(&val)),
    ];
    Ok((SHARED, fixed, val.code.as_ref().to_owned()).into_response())
}

/// Any page may import what its visitor may read; who asks, and for what, changes the answer.
const SHARED: [(header::HeaderName, &str); 2] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::VARY, "accept, authorization"),
];

/// A module of the standard library: what it is changes with the version of Hamlet.
fn standard_module(name: &str) -> ApiResult<Response> {
    let code = standard_library::code(name).ok_or(ApiError::NotFound("module"))?;
    let fixed = [
        (header::CONTENT_TYPE, media_type(&code)),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok((SHARED, fixed, code.as_ref().to_owned()).into_response())
}

/// A version never changes, but who may see it does.
fn caching(val: &ValRecord) -> &'static str {
    match val.privacy {
        Privacy::Public => "public, max-age=31536000, immutable",
        Privacy::Unlisted | Privacy::Private => "private, no-cache",
    }
}

/// JSX means something in a val only with a pragma that says what.
fn media_type(code: &str) -> &'static str {
    if code.contains("@jsx") {
        "text/tsx; charset=utf-8"
    } else {
        "application/typescript; charset=utf-8"
    }
}
