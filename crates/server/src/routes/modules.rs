//! Vals as modules to import. A val's page in the web app has the same address: a browser that asks for a page gets
//! that one.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
};
use hamlet_models::{Privacy, UserId, VersionNumber};
use hamlet_store::ValRecord;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};
use uuid::Uuid;

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

/// A version of a val as a module: TypeScript, or JavaScript for who takes no types, as browsers do.
///
/// A name that ends in `.ts` or `.js` says which.
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
    let ApiPath((username, file)) =
        ApiPath::<(String, String)>::from_request_parts(&mut parts, &state).await?;
    let ApiQuery(query) = ApiQuery::<ModuleQuery>::from_request_parts(&mut parts, &state).await?;
    let (name, ending) = file.split_once('.').unwrap_or((&file, ""));
    let form = Form::asked_for(ending, &parts.headers);

    if username == standard_library::OWNER {
        let code = standard_library::code(name).ok_or(ApiError::NotFound("module"))?;
        let address = links.to(&format!("/v/{username}/{file}"));
        let nobody = UserId(Uuid::nil());
        return form
            .answer(&state, nobody, &code, address, &links, "no-cache")
            .await;
    }
    user.must_have(VAL_READ)?;
    let latest = state
        .store
        .find_val(username.strip_prefix('@').unwrap_or(&username), name)
        .await?;
    user.must_see(&latest)?;
    let Some(version) = query.v else {
        let dot = if ending.is_empty() { "" } else { "." };
        let module = links.module(&latest.owner.username, &latest.name);
        let location = format!("{module}{dot}{ending}?v={}", latest.version);
        let found = (StatusCode::FOUND, [(header::LOCATION, location)]);
        return Ok((SHARED, [(header::CACHE_CONTROL, "no-cache")], found).into_response());
    };
    let val = match version {
        version if version == latest.version => latest,
        version => state.store.get_version(latest.id, version).await?,
    };
    let address = format!("{}?v={version}", links.module(&val.owner.username, &val.name));
    form.answer(&state, val.owner.id, &val.code, address, &links, caching(&val))
        .await
}

/// Any page may import what its visitor may read; who asks, and for what, changes the answer.
const SHARED: [(header::HeaderName, &str); 2] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::VARY, "accept, authorization, sec-fetch-dest, user-agent"),
];

/// What a module is answered as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    TypeScript,
    JavaScript,
}

impl Form {
    /// As the address says, else as whoever asks can run it: TypeScript, but for browsers and who asks for JavaScript.
    fn asked_for(ending: &str, headers: &HeaderMap) -> Self {
        let text = |name| {
            headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
        };
        match ending {
            "ts" | "tsx" | "jsx" => return Self::TypeScript,
            "js" | "mjs" => return Self::JavaScript,
            _ => {}
        }
        let accept = text(header::ACCEPT);
        let for_javascript = accept.contains("javascript") && !accept.contains("typescript");
        let by_browser = matches!(
            text(SEC_FETCH_DEST),
            "script" | "worker" | "sharedworker" | "serviceworker"
        ) || text(header::USER_AGENT).starts_with("Mozilla/");
        if for_javascript || by_browser {
            Self::JavaScript
        } else {
            Self::TypeScript
        }
    }

    async fn answer(
        self,
        state: &AppState,
        owner: UserId,
        code: &Arc<str>,
        address: String,
        links: &Links,
        caching: &'static str,
    ) -> ApiResult<Response> {
        let (media_type, code) = match self {
            Self::TypeScript => (media_type(code), code.as_ref().to_owned()),
            Self::JavaScript => {
                let made = state
                    .compilers
                    .javascript(owner.0, code, &address, &links.to(""))
                    .await;
                let code = made.map_err(|error| ApiError::invalid("code", error.stack))?;
                ("text/javascript; charset=utf-8", code)
            }
        };
        let fixed = [
            (header::CONTENT_TYPE, media_type),
            (header::CACHE_CONTROL, caching),
        ];
        Ok((SHARED, fixed, code).into_response())
    }
}

const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

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
