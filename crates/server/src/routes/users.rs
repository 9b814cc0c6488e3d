//! Users and their vals.

use axum::{Json, extract::State};
use hamlet_models::{BasicVal, Page, PageQuery, User, UserId, ValFilter};
use hamlet_store::{Slice, ValScope};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::{MaybeUser, USER_READ, VAL_READ},
    error::{ApiError, ApiResult},
    extract::{ApiPage, ApiPath, ApiQuery},
    present::Links,
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(get_user))
        .routes(routes!(list_user_vals))
}

/// A user as everyone may see them.
#[utoipa::path(get, path = "/v1/users/{user_id}", tag = "users", params(("user_id" = UserId, Path, description = "The user")),
    responses((status = 200, description = "The user", body = User), ApiError))]
async fn get_user(
    State(state): State<AppState>,
    viewer: MaybeUser,
    links: Links,
    ApiPath(user_id): ApiPath<UserId>,
) -> ApiResult<Json<User>> {
    viewer.must_have(USER_READ)?;
    let user = state.store.get_user(user_id).await?;
    Ok(Json(links.user(&user)))
}

/// A user's vals, newest first: all of them for the user, the public ones for others.
#[utoipa::path(get, path = "/v1/users/{user_id}/vals", tag = "users",
    params(("user_id" = UserId, Path, description = "The user"), PageQuery, ValFilter),
    responses((status = 200, description = "A page of vals", body = Page<BasicVal>), ApiError))]
async fn list_user_vals(
    State(state): State<AppState>,
    viewer: MaybeUser,
    links: Links,
    ApiPath(user_id): ApiPath<UserId>,
    ApiPage(page): ApiPage,
    ApiQuery(filter): ApiQuery<ValFilter>,
) -> ApiResult<Json<Page<BasicVal>>> {
    viewer.must_have(VAL_READ)?;
    ApiError::check(filter.problems())?;
    state.store.get_user(user_id).await?;
    let scope = ValScope {
        owner: Some(user_id),
        viewer: viewer.id(),
    };
    let vals = state.store.list_vals(&scope, &filter, page).await?;
    let mut items: Vec<BasicVal> = vals.items.iter().map(|val| links.basic_val(val)).collect();
    if viewer.id() == Some(user_id) {
        add_last_runs(&state, &mut items).await?;
    }
    let slice = Slice {
        items,
        more: vals.more,
    };
    Ok(Json(links.page(
        &format!("/v1/users/{user_id}/vals"),
        page,
        &filter,
        slice,
    )))
}

/// Says of each val how its last run ended.
async fn add_last_runs(state: &AppState, vals: &mut [BasicVal]) -> ApiResult<()> {
    let ids: Vec<_> = vals.iter().map(|val| val.id).collect();
    let mut runs = state.store.last_runs(&ids).await?;
    for val in vals {
        val.last_run = runs.remove(&val.id);
    }
    Ok(())
}
