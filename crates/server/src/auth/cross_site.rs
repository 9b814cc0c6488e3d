//! Keeps other sites from acting with a visitor's session.

use axum::http::{HeaderMap, header, request::Parts};

use crate::{
    error::{ApiError, ApiResult},
    present::origin_of,
    state::AppState,
};

/// Refuses a request by session that this instance's own pages did not send.
///
/// A read that no page sent (an address typed by its user) passes; what has effects passes only if the browser says
/// that it came from here.
pub(super) fn must_be_ours(state: &AppState, parts: &Parts) -> ApiResult<()> {
    // Calling a val or evaluating code has effects whatever the method is.
    let path = parts.uri.path();
    let only_reads =
        parts.method.is_safe() && !path.starts_with("/v1/run/") && !path.starts_with("/v1/eval/");
    match said_origin(state, &parts.headers) {
        Said::Ours => Ok(()),
        Said::Nothing if only_reads => Ok(()),
        Said::Nothing | Said::Foreign => Err(ApiError::CrossSite),
    }
}

/// Refuses what the browser says came from another site; who says nothing is no browser.
pub fn must_be_same_origin(state: &AppState, headers: &HeaderMap) -> ApiResult<()> {
    match said_origin(state, headers) {
        Said::Ours | Said::Nothing => Ok(()),
        Said::Foreign => Err(ApiError::CrossSite),
    }
}

/// What the browser says of where a request came from.
enum Said {
    Ours,
    Foreign,
    Nothing,
}

fn said_origin(state: &AppState, headers: &HeaderMap) -> Said {
    if let Some(site) = headers.get("sec-fetch-site") {
        return match site.as_bytes() {
            b"same-origin" => Said::Ours,
            b"none" => Said::Nothing,
            _ => Said::Foreign,
        };
    }
    let Some(origin) = headers.get(header::ORIGIN) else {
        return Said::Nothing;
    };
    match origin_of(&state.config, headers) {
        Ok(own) if own.as_bytes().eq_ignore_ascii_case(origin.as_bytes()) => Said::Ours,
        _ => Said::Foreign,
    }
}
