//! Records of the store as the wire shows them, with the addresses that the store doesn't know.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, header, request::Parts},
    response::{IntoResponse, Response},
};
use hamlet_models::{
    BasicVal, ExtendedVal, Me, Page, PageLinks, PageQuery, Privacy, Schedule, TestEmail, Timestamp, User,
    UserLinks, Username, ValKind, ValLinks, ValName,
};
use hamlet_store::{ScheduleRecord, Slice, Ticks, UserRecord, ValRecord};
use serde::Serialize;

use crate::{
    config::Config,
    error::{ApiError, ApiResult},
    gateway,
    mail::email_input,
    state::AppState,
};

/// How many of the next ticks of a schedule are shown.
const SHOWN_TICKS: usize = 5;

/// Writes addresses as the client reaches this instance.
#[derive(Clone, Debug)]
pub struct Links {
    base: String,
    config: Arc<Config>,
}

/// The origin under which the client reaches this instance: the setting, else what its request says.
pub fn origin_of(config: &Config, headers: &HeaderMap) -> ApiResult<String> {
    if let Some(base) = &config.base_url {
        return Ok(base.clone());
    }
    let Some(host) = headers.get(header::HOST) else {
        return Ok(config.own_url());
    };
    // It goes into every address of the answer: nothing but what a host and port are made of.
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(byte);
    match host.to_str() {
        Ok(host) if !host.is_empty() && host.len() <= 261 && host.as_bytes().iter().all(plain) => {
            Ok(["http://", host].concat())
        }
        _ => Err(ApiError::Malformed("the Host header names no host".to_owned())),
    }
}

impl FromRequestParts<AppState> for Links {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> ApiResult<Self> {
        let base = origin_of(&state.config, &parts.headers)?;
        Ok(Self {
            base,
            config: state.config.clone(),
        })
    }
}

impl Links {
    /// Addresses for where no request tells how the instance is reached.
    pub fn of_config(config: Arc<Config>) -> Self {
        Self {
            base: config.own_url(),
            config,
        }
    }

    /// The address of a path of this instance.
    pub fn to(&self, path: &str) -> String {
        [&self.base, path].concat()
    }

    /// Where the val's code is imported from, and what the stacks of its runs name; its page is at the same address.
    pub fn module(&self, username: &Username, name: &ValName) -> String {
        [&self.base, "/v/", username.as_str(), "/", name.as_str()].concat()
    }

    /// Where an HTTP val answers.
    pub fn endpoint(&self, val: &ValRecord) -> String {
        let scheme = if self.base.starts_with("https:") {
            "https://"
        } else {
            "http://"
        };
        [scheme, &gateway::label_of(val), ".", &self.config.vals_domain].concat()
    }

    /// A val with its code.
    pub fn basic_val(&self, val: &ValRecord) -> BasicVal {
        let id = val.id.0.as_hyphenated();
        let mut buffer = uuid::Uuid::encode_buffer();
        let own = [&self.base, "/v1/vals/", id.encode_lower(&mut buffer)].concat();
        let module = self.module(&val.owner.username, &val.name);
        BasicVal {
            id: val.id,
            name: val.name.clone(),
            version: val.version,
            code: Some(val.code.as_ref().to_owned()),
            public: val.privacy == Privacy::Public,
            privacy: val.privacy,
            kind: val.kind,
            created_at: val.created_at,
            updated_at: val.updated_at,
            author: Some(val.owner.clone()),
            url: module.clone(),
            links: ValLinks {
                versions: [&own, "/versions"].concat(),
                self_: own,
                module,
                endpoint: (val.kind == ValKind::Http).then(|| self.endpoint(val)),
                email: self.email_address(val).filter(|_| val.kind == ValKind::Email),
            },
            last_run: None,
        }
    }

    /// Where mail reaches a val; nowhere if this instance takes none.
    fn email_address(&self, val: &ValRecord) -> Option<String> {
        let domain = self.config.mail.domain.as_ref()?;
        Some(format!("{}.{}@{domain}", val.owner.username, val.name))
    }

    /// The message that an e-mail val is tried with.
    pub fn test_email(&self, val: &ValRecord, sender: &UserRecord, email: TestEmail) -> serde_json::Value {
        let own = || {
            sender
                .email
                .clone()
                .unwrap_or_else(|| format!("{}@localhost", sender.username))
        };
        let to = self
            .email_address(val)
            .unwrap_or_else(|| format!("{}.{}@localhost", val.owner.username, val.name));
        let TestEmail {
            from,
            subject,
            text,
            html,
        } = email;
        let given = serde_json::json!({"to": [to], "subject": subject, "text": text, "html": html});
        email_input(&from.unwrap_or_else(own), given)
    }

    /// A val with everything there is to say of it.
    pub fn extended_val(&self, val: &ValRecord) -> ExtendedVal {
        ExtendedVal {
            val: self.basic_val(val),
            readme: val.readme.clone(),
            like_count: 0,
            reference_count: 0,
            version_created_at: val.version_created_at,
            callable: val.callable,
            grants: val.grants,
            schedule: val.schedule.as_ref().map(schedule),
            warnings: Vec::new(),
        }
    }

    /// A user as everyone may see them.
    pub fn user(&self, user: &UserRecord) -> User {
        User {
            id: user.id,
            username: Some(user.username.clone()),
            bio: user.bio.clone(),
            profile_image_url: user.profile_image_url.clone(),
            url: format!("{}/u/{}", self.base, user.username),
            links: UserLinks {
                self_: format!("{}/v1/users/{}", self.base, user.id),
            },
        }
    }

    /// A user as they see themselves.
    pub fn me(&self, user: &UserRecord) -> Me {
        Me {
            user: self.user(user),
            email: user.email.clone(),
            tier: None,
            admin: user.admin,
            has_password: user.password_hash.is_some(),
        }
    }

    /// A page of the list at `path`, with links that carry the page's place and every filter.
    pub fn page<T>(&self, path: &str, query: PageQuery, filter: &impl Serialize, slice: Slice<T>) -> Page<T> {
        // Filters hold words, numbers and times: all of them can be written in a query.
        let filter = serde_urlencoded::to_string(filter).unwrap_or_default();
        let at = |offset: u64| {
            let separator = if filter.is_empty() { "" } else { "&" };
            format!(
                "{}{path}?limit={}&offset={offset}{separator}{filter}",
                self.base, query.limit
            )
        };
        Page {
            links: PageLinks {
                self_: at(query.offset),
                prev: (query.offset > 0).then(|| at(query.offset.saturating_sub(query.limit))),
                next: slice.more.then(|| at(query.offset.saturating_add(query.limit))),
            },
            data: slice.items,
        }
    }
}

fn schedule(schedule: &ScheduleRecord) -> Schedule {
    Schedule {
        cron: schedule.cron.clone(),
        timezone: schedule.timezone.clone(),
        paused: schedule.paused,
        catch_up: schedule.catch_up,
        overlap: schedule.overlap,
        next_run_at: schedule.next_run_at,
        last_run_at: schedule.last_run_at,
        next_ticks: next_ticks(schedule),
    }
}

fn next_ticks(schedule: &ScheduleRecord) -> Vec<Timestamp> {
    let ticks = Ticks::parse(&schedule.cron, &schedule.timezone);
    let next = schedule.next_run_at.zip(ticks.ok());
    next.map(|(next, ticks)| ticks.from(next, SHOWN_TICKS))
        .unwrap_or_default()
}

/// A val as an answer, with its version as `ETag`: what a client sends back as `If-Match`.
pub struct ValAnswer(pub ExtendedVal);

impl IntoResponse for ValAnswer {
    fn into_response(self) -> Response {
        let val = &self.0.val;
        // Room for the code with some escapes: most answers are written without growing.
        let code_bytes = val.code.as_ref().map_or(0, String::len);
        let mut body = Vec::with_capacity(code_bytes + code_bytes / 8 + 1_024);
        if let Err(error) = serde_json::to_writer(&mut body, &self.0) {
            return ApiError::Internal(error.into()).into_response();
        }
        let etag = HeaderValue::try_from(format!("\"{}\"", val.version)).expect("digits in quotes");
        let json = HeaderValue::from_static("application/json");
        ([(header::CONTENT_TYPE, json), (header::ETAG, etag)], body).into_response()
    }
}
