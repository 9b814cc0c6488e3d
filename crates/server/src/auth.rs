//! Who is asking, and what they may.
//!
//! A token is checked once for every request that brings one, before any route, so that a bad one is never passed
//! over. A session's cookie is looked at by the routes that ask who is there: its end makes its user a stranger.

mod cross_site;
mod password;
mod run_tokens;
mod secrets;
mod signer;
mod throttle;
mod visits;

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use hamlet_models::{Privacy, RunId, Scope, ScopeAction, ScopeResource, Scopes, UserId};
use hamlet_store::{UserRecord, ValRecord, hash_secret};

use crate::{
    error::{ApiError, ApiResult},
    state::AppState,
};

pub use cross_site::must_be_same_origin;
pub use password::Passwords;
pub use run_tokens::{RunGrant, RunTokens};
pub use secrets::{
    SESSION_SECONDS, TOKEN_PREFIX, new_secret, new_token_secret, session_cookie, session_cookie_gone,
    session_of,
};
pub use throttle::Throttle;
pub use visits::{Lasting, Visit, VisitPasses};

/// To read vals and versions.
pub const VAL_READ: Scope = Scope::new(ScopeResource::Val, ScopeAction::Read);
/// To create, change and delete vals and versions.
pub const VAL_WRITE: Scope = Scope::new(ScopeResource::Val, ScopeAction::Write);
/// To read users and the caller's own account.
pub const USER_READ: Scope = Scope::new(ScopeResource::User, ScopeAction::Read);
/// To change the caller's account and tokens.
pub const USER_WRITE: Scope = Scope::new(ScopeResource::User, ScopeAction::Write);
/// To read runs.
pub const RUN_READ: Scope = Scope::new(ScopeResource::Run, ScopeAction::Read);
/// To start and cancel runs.
pub const RUN_WRITE: Scope = Scope::new(ScopeResource::Run, ScopeAction::Write);

/// To look at the outbox.
pub const EMAIL_READ: Scope = Scope::new(ScopeResource::Email, ScopeAction::Read);
/// To send mail.
pub const EMAIL_WRITE: Scope = Scope::new(ScopeResource::Email, ScopeAction::Write);
/// To read blobs.
pub const BLOB_READ: Scope = Scope::new(ScopeResource::Blob, ScopeAction::Read);
/// To write and delete blobs.
pub const BLOB_WRITE: Scope = Scope::new(ScopeResource::Blob, ScopeAction::Write);
/// To read what the account's database holds.
pub const SQLITE_READ: Scope = Scope::new(ScopeResource::Sqlite, ScopeAction::Read);
/// To change what the account's database holds.
pub const SQLITE_WRITE: Scope = Scope::new(ScopeResource::Sqlite, ScopeAction::Write);

/// A caller who is signed in, by token or session.
#[derive(Clone)]
pub struct CurrentUser {
    /// The account.
    pub user: Arc<UserRecord>,
    /// What the token may do; a session may do everything.
    pub scopes: Scopes,
    /// How the caller showed who they are.
    pub credential: Credential,
    /// The session or token that came; none with the token of a run, which ends by itself.
    pub lasting: Option<Lasting>,
}

/// How a caller showed who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// By a token of their own.
    Token,
    /// By a token that one of their runs was given; which run, where the token is one run's alone.
    RunToken(Option<RunId>),
    /// By the web app's cookie.
    Session,
}

/// A caller who may or may not be signed in.
pub struct MaybeUser(pub Option<CurrentUser>);

impl CurrentUser {
    /// The caller's id.
    pub fn id(&self) -> UserId {
        self.user.id
    }

    /// The run that asks, if it is one and its token is its alone.
    pub fn run_id(&self) -> Option<RunId> {
        match self.credential {
            Credential::RunToken(run_id) => run_id,
            Credential::Token | Credential::Session => None,
        }
    }

    /// Refuses a token without this scope.
    pub fn must_have(&self, scope: Scope) -> ApiResult<()> {
        if self.scopes.has(scope) {
            Ok(())
        } else {
            Err(ApiError::MissingScope(scope))
        }
    }

    /// Refuses everyone but the val's owner, and tells only those that it is there who may see it.
    pub fn must_own(&self, val: &ValRecord) -> ApiResult<()> {
        match val.privacy {
            _ if val.owner.id == self.user.id => Ok(()),
            Privacy::Private => Err(ApiError::NotFound("val")),
            Privacy::Public | Privacy::Unlisted => Err(ApiError::NotOwner("val")),
        }
    }
}

impl MaybeUser {
    /// The caller's id, if signed in.
    pub fn id(&self) -> Option<UserId> {
        self.0.as_ref().map(CurrentUser::id)
    }

    /// Refuses a token without this scope; who sent none may look at what is public.
    pub fn must_have(&self, scope: Scope) -> ApiResult<()> {
        self.0.as_ref().map_or(Ok(()), |user| user.must_have(scope))
    }

    /// Refuses who may not see the val, as if it were not there.
    pub fn must_see(&self, val: &ValRecord) -> ApiResult<()> {
        if val.privacy == Privacy::Private && self.id() != Some(val.owner.id) {
            return Err(ApiError::NotFound("val"));
        }
        Ok(())
    }
}

/// Who the request's token belongs to, if it has one.
pub async fn by_token(state: &AppState, headers: &HeaderMap) -> ApiResult<Option<CurrentUser>> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let text = value.to_str().map_err(|_| ApiError::BadToken)?;
    let (scheme, secret) = text.split_once(' ').ok_or(ApiError::BadToken)?;
    if !scheme.eq_ignore_ascii_case("bearer") || values.next().is_some() {
        return Err(ApiError::BadToken);
    }
    by_secret(state, secret.trim())
        .await?
        .ok_or(ApiError::BadToken)
        .map(Some)
}

/// Who this token belongs to, if it is one that works.
pub async fn by_secret(state: &AppState, secret: &str) -> ApiResult<Option<CurrentUser>> {
    if let Some(grant) = state.run_tokens.verify(secret) {
        let Some(grant) = grant.in_force(&state.store).await? else {
            return Ok(None);
        };
        let user = state
            .store
            .get_user(grant.user_id)
            .await
            .map_err(|error| match error {
                hamlet_store::StoreError::NotFound(_) => ApiError::BadToken,
                other => other.into(),
            })?;
        return Ok(Some(CurrentUser {
            user,
            scopes: grant.scopes,
            credential: Credential::RunToken(grant.run_id),
            lasting: None,
        }));
    }
    by_lasting(state, Lasting::Token(hash_secret(secret))).await
}

/// Who has this session or token, if it is one that works.
pub async fn by_lasting(state: &AppState, lasting: Lasting) -> ApiResult<Option<CurrentUser>> {
    let found = match lasting {
        Lasting::Session(hash) => {
            let user = state.store.find_session(hash).await?;
            user.map(|user| (user, Scopes::all(), Credential::Session))
        }
        Lasting::Token(hash) => {
            let grant = state.store.find_token(hash).await?;
            grant.map(|grant| (grant.user, grant.scopes, Credential::Token))
        }
    };
    Ok(found.map(|(user, scopes, credential)| CurrentUser {
        user,
        scopes,
        credential,
        lasting: Some(lasting),
    }))
}

/// Who the request's session belongs to, if it has one that has not ended.
async fn by_session(state: &AppState, parts: &Parts) -> ApiResult<Option<CurrentUser>> {
    let Some(secret) = session_of(&parts.headers, state.config.is_https()) else {
        return Ok(None);
    };
    // Someone who signed in by a token goes on with that token: its scopes, its expiry and its end hold here too.
    let user = if secret.starts_with(TOKEN_PREFIX) {
        by_secret(state, secret).await?.map(|user| CurrentUser {
            credential: Credential::Session,
            ..user
        })
    } else {
        by_lasting(state, Lasting::Session(hash_secret(secret))).await?
    };
    if user.is_some() {
        cross_site::must_be_ours(state, parts)?;
    }
    Ok(user)
}

async fn caller(state: &AppState, parts: &Parts) -> ApiResult<Option<CurrentUser>> {
    match parts.extensions.get::<CurrentUser>() {
        Some(user) => Ok(Some(user.clone())),
        None => by_session(state, parts).await,
    }
}

impl FromRequestParts<AppState> for CurrentUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> ApiResult<Self> {
        caller(state, parts).await?.ok_or(ApiError::SignedOut)
    }
}

impl FromRequestParts<AppState> for MaybeUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> ApiResult<Self> {
        caller(state, parts).await.map(Self)
    }
}
