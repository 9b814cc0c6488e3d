//! Vals: making, reading, changing, listing and deleting them.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use hamlet_models::{
    ExtendedVal, NewSchedule, NewVal, Page, PageLinks, PageQuery, Privacy, PutVal, Timestamp, UserId,
    ValFilter, ValId, ValKind, ValUpdate,
};
use hamlet_store::{Ticks, ValRecord, ValScope};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{CurrentUser, MaybeUser, VAL_READ, VAL_WRITE},
    clock,
    error::{ApiError, ApiResult},
    extract::{ApiCode, ApiJson, ApiPath, ApiQuery, CODE_BODY_MAX_BYTES},
    present::{Links, ValAnswer},
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(create_val, put_val, list_vals))
        .routes(routes!(get_val, update_val, delete_val))
}

/// Makes a val. Making it never runs it.
///
/// The body may also be the bare code, as `text/plain`, `text/javascript`, `application/javascript`,
/// `text/typescript` or `application/typescript`.
#[utoipa::path(post, path = "/v1/vals", tag = "vals", request_body = NewVal,
    responses((status = 200, description = "The val, at version 0", body = ExtendedVal), ApiError))]
async fn create_val(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiCode(new): ApiCode<NewVal>,
) -> ApiResult<ValAnswer> {
    user.must_have(VAL_WRITE)?;
    check_schedule(new.schedule.as_ref(), new.kind.unwrap_or_default())?;
    let val = state.store.create_val(user.id(), &new).await?;
    Ok(saved(&state, &links, &val).await)
}

/// Saves a val by its name: makes it if there is none of that name, else saves a new version of it.
#[utoipa::path(put, path = "/v1/vals", tag = "vals", request_body = PutVal,
    responses((status = 200, description = "The val as it is now", body = ExtendedVal), ApiError))]
async fn put_val(
    State(state): State<AppState>,
    user: CurrentUser,
    links: Links,
    ApiJson(put): ApiJson<PutVal, CODE_BODY_MAX_BYTES>,
) -> ApiResult<ValAnswer> {
    user.must_have(VAL_WRITE)?;
    let val = state.store.put_val(user.id(), &put).await?;
    Ok(saved(&state, &links, &val).await)
}

/// The answer to a save, which is on disk already whatever becomes of what it imports.
async fn saved(state: &AppState, links: &Links, val: &Arc<ValRecord>) -> ValAnswer {
    ValAnswer(ExtendedVal {
        warnings: state.runs.lock_imports(val).await,
        ..links.extended_val(val)
    })
}

/// A place in the list of all vals, and which of them to list.
#[derive(Clone, Debug, Deserialize, Serialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct ValsQuery {
    /// How many vals to answer, 1 to 100.
    #[serde(default = "ValsQuery::default_limit")]
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: u64,
    /// Only vals made before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<Timestamp>,
    /// Only vals of this privacy.
    #[serde(skip_serializing_if = "Option::is_none")]
    privacy: Option<Privacy>,
    /// Only vals of this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<UserId>,
}

impl ValsQuery {
    fn default_limit() -> u64 {
        PageQuery::default().limit
    }
}

/// Every val that the caller may find, newest first.
#[utoipa::path(get, path = "/v1/vals", tag = "vals", params(ValsQuery),
    responses((status = 200, description = "The vals, and where the next ones are", body = Page<ExtendedVal>), ApiError))]
async fn list_vals(
    State(state): State<AppState>,
    viewer: MaybeUser,
    links: Links,
    ApiQuery(query): ApiQuery<ValsQuery>,
) -> ApiResult<Json<Page<ExtendedVal>>> {
    viewer.must_have(VAL_READ)?;
    if let Some((path, message)) = (PageQuery {
        limit: query.limit,
        offset: 0,
    })
    .problem()
    {
        return Err(ApiError::invalid(path, message));
    }
    let scope = ValScope {
        owner: query.user_id,
        viewer: viewer.id(),
    };
    let filter = ValFilter {
        privacy: query.privacy,
        ..ValFilter::default()
    };
    let slice = state
        .store
        .list_vals_before(&scope, &filter, query.cursor, query.limit)
        .await?;
    Ok(Json(vals_page(
        &links,
        &query,
        slice.more,
        slice.items.iter().map(|val| links.extended_val(val)).collect(),
    )))
}

fn vals_page(links: &Links, query: &ValsQuery, more: bool, data: Vec<ExtendedVal>) -> Page<ExtendedVal> {
    let at = |query: &ValsQuery| {
        let query = serde_urlencoded::to_string(query).unwrap_or_default();
        links.to(&format!("/v1/vals?{query}"))
    };
    let last = data.last().filter(|_| more).map(|val| val.val.created_at);
    let next = last.map(|cursor| {
        at(&ValsQuery {
            cursor: Some(cursor),
            ..query.clone()
        })
    });
    Page {
        links: PageLinks {
            self_: at(query),
            prev: None,
            next,
        },
        data,
    }
}

/// A val with its latest code.
#[utoipa::path(get, path = "/v1/vals/{val_id}", tag = "vals", params(("val_id" = ValId, Path, description = "The val")),
    responses((status = 200, description = "The val", body = ExtendedVal), ApiError))]
async fn get_val(
    State(state): State<AppState>,
    viewer: MaybeUser,
    links: Links,
    ApiPath(val_id): ApiPath<ValId>,
) -> ApiResult<ValAnswer> {
    viewer.must_have(VAL_READ)?;
    let val = state.store.get_val(val_id).await?;
    viewer.must_see(&val)?;
    Ok(ValAnswer(links.extended_val(&val)))
}

/// Changes a val's name, readme, privacy, type or schedule; the owner's alone to do.
#[utoipa::path(put, path = "/v1/vals/{val_id}", tag = "vals", params(("val_id" = ValId, Path, description = "The val")),
    request_body = ValUpdate, responses((status = 204, description = "Changed"), ApiError))]
async fn update_val(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(val_id): ApiPath<ValId>,
    ApiJson(update): ApiJson<ValUpdate>,
) -> ApiResult<StatusCode> {
    user.must_have(VAL_WRITE)?;
    let val = state.store.get_val(val_id).await?;
    user.must_own(&val)?;
    let schedule = update.schedule.as_ref().and_then(Option::as_ref);
    check_schedule(schedule, update.kind.unwrap_or(val.kind))?;
    for scope in update.grants.unwrap_or_default().iter() {
        user.must_have(scope)?;
    }
    state.store.update_val(val_id, &update).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses a schedule that has the right shape and yet no meaning for a val of this kind.
fn check_schedule(schedule: Option<&NewSchedule>, kind: ValKind) -> ApiResult<()> {
    let Some(NewSchedule { cron, timezone, .. }) = schedule else {
        return Ok(());
    };
    if kind != ValKind::Interval {
        return Err(ApiError::invalid(
            "schedule",
            "only scheduled vals have a schedule: set the type to interval too",
        ));
    }
    let now = clock::now();
    match Ticks::parse(cron, timezone)?.next(now, now) {
        Some(_) => Ok(()),
        None => Err(ApiError::invalid(
            "schedule.cron",
            format!("{cron:?} never comes: no month has such a day"),
        )),
    }
}

/// Deletes a val with its versions and runs. It is gone at once, and its name is free again.
#[utoipa::path(delete, path = "/v1/vals/{val_id}", tag = "vals", params(("val_id" = ValId, Path, description = "The val")),
    responses((status = 204, description = "Deleted"), ApiError))]
async fn delete_val(
    State(state): State<AppState>,
    user: CurrentUser,
    ApiPath(val_id): ApiPath<ValId>,
) -> ApiResult<StatusCode> {
    user.must_have(VAL_WRITE)?;
    let val = state.store.get_val(val_id).await?;
    user.must_own(&val)?;
    state.store.delete_val(val_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
