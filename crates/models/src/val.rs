//! Vals: small programs with a name, a kind and versions.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    Author, NewSchedule, RunId, RunStatus, Schedule, Scope, ScopeAction, ScopeResource, Scopes, Timestamp,
    UserId, ValId, ValName, VersionNumber, both::Both,
};

/// The most characters that a val's code may have.
pub const CODE_MAX_CHARS: usize = 256_000;
/// The most characters that a val's readme may have.
pub const README_MAX_CHARS: usize = 64_000;

/// Who may see a val.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Privacy {
    /// Anyone, and it is listed.
    Public,
    /// Anyone who has its id, alias or link; only its owner finds it in a list.
    Unlisted,
    /// Its owner alone.
    #[default]
    Private,
}

impl Privacy {
    /// Every privacy, from open to closed.
    pub const ALL: [Self; 3] = [Self::Public, Self::Unlisted, Self::Private];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Unlisted => "unlisted",
            Self::Private => "private",
        }
    }
}

/// What starts a val; `type` on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ValKind {
    /// A person, or another program through `/v1/run`.
    #[default]
    Script,
    /// A request to its address.
    Http,
    /// A schedule.
    Interval,
    /// A message to its e-mail address.
    Email,
}

impl ValKind {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Script, Self::Http, Self::Interval, Self::Email];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Script => "script",
            Self::Http => "http",
            Self::Interval => "interval",
            Self::Email => "email",
        }
    }
}

impl std::str::FromStr for ValKind {
    type Err = &'static str;

    /// Reads a kind; `httpnext`, an older word for `http`, is accepted too.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "script" => Ok(Self::Script),
            "http" | "httpnext" => Ok(Self::Http),
            "interval" => Ok(Self::Interval),
            "email" => Ok(Self::Email),
            "express" => {
                Err("vals of type express are no longer made: use http, whose handler takes a Request")
            }
            "rpc" => Err("vals of type rpc are no longer made: use script, and call it through /v1/run"),
            _ => Err("a val's type is script, http, interval or email"),
        }
    }
}

impl<'de> Deserialize<'de> for ValKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Where a val is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ValLinks {
    /// The val.
    #[serde(rename = "self")]
    pub self_: String,
    /// Its versions.
    pub versions: String,
    /// Its latest code as a module to import.
    pub module: String,
    /// Where an HTTP val answers; other kinds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Where mail reaches an e-mail val (ours); other kinds have none, and none has where no mail is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// How a val's last run ended, in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastRun {
    /// The run.
    pub id: RunId,
    /// How it ended, or that it goes on.
    pub status: RunStatus,
    /// When it began.
    pub run_start_at: Timestamp,
    /// How long it took, in milliseconds; `null` while it goes on.
    pub duration_ms: Option<f64>,
}

/// A val as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BasicVal {
    /// Names the val for ever.
    pub id: ValId,
    /// What its owner calls it.
    pub name: ValName,
    /// The version that is shown: the latest, unless another was asked for.
    pub version: VersionNumber,
    /// The code of that version.
    pub code: Option<String>,
    /// Whether anyone may see it and find it in lists.
    pub public: bool,
    /// Who may see it.
    pub privacy: Privacy,
    /// What starts it.
    #[serde(rename = "type")]
    pub kind: ValKind,
    /// When the val was made.
    pub created_at: Timestamp,
    /// When the val was last changed.
    pub updated_at: Timestamp,
    /// Its owner.
    pub author: Option<Author>,
    /// Its page in the web app.
    pub url: String,
    /// Where it is in the interface and on the web.
    pub links: ValLinks,
    /// How its last run ended (ours); only in lists, and only for the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run: Option<LastRun>,
}

/// A val with everything there is to say of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", from = "Both<BasicVal, OfExtendedVal>")]
pub struct ExtendedVal {
    /// What lists show too.
    #[serde(flatten)]
    pub val: BasicVal,
    /// Its readme, in Markdown.
    pub readme: Option<String>,
    /// How many users like it.
    pub like_count: u64,
    /// How many vals import it.
    pub reference_count: u64,
    /// When the version that is shown was saved.
    pub version_created_at: Timestamp,
    /// Whether others may call it through `/v1/run` (ours).
    #[serde(default)]
    pub callable: bool,
    /// What its runs may do beside the usual (ours): nothing, `val:write`, `user:write` or both.
    #[serde(default)]
    pub grants: Scopes,
    /// When it runs (ours); scheduled vals only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// What its author should know of the save that this answers (ours): a sentence for each import that can't be had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What an extended val has of its own.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfExtendedVal {
    readme: Option<String>,
    like_count: u64,
    reference_count: u64,
    version_created_at: Timestamp,
    #[serde(default)]
    callable: bool,
    #[serde(default)]
    grants: Scopes,
    #[serde(default)]
    schedule: Option<Schedule>,
    #[serde(default)]
    warnings: Vec<String>,
}

impl From<Both<BasicVal, OfExtendedVal>> for ExtendedVal {
    fn from(Both(val, own): Both<BasicVal, OfExtendedVal>) -> Self {
        Self {
            val,
            readme: own.readme,
            like_count: own.like_count,
            reference_count: own.reference_count,
            version_created_at: own.version_created_at,
            callable: own.callable,
            grants: own.grants,
            schedule: own.schedule,
            warnings: own.warnings,
        }
    }
}

impl std::ops::Deref for ExtendedVal {
    type Target = BasicVal;

    fn deref(&self) -> &BasicVal {
        &self.val
    }
}

/// A val to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewVal {
    /// 1 to 256,000 characters.
    #[schema(min_length = 1, max_length = 256000)]
    pub code: String,
    /// What to call it; a readable name is made up if this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<ValName>,
    /// A text about it, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readme: Option<String>,
    /// Who may see it; private if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privacy: Option<Privacy>,
    /// What starts it; a script if left out.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ValKind>,
    /// When it runs; for scheduled vals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<NewSchedule>,
}

impl NewVal {
    /// A val of this code, with everything else left to the defaults.
    pub fn of_code(code: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            name: None,
            readme: None,
            privacy: None,
            kind: None,
            schedule: None,
        }
    }

    /// Each part that breaks a rule: the field's name and a sentence.
    pub fn problems(&self) -> Vec<(&'static str, &'static str)> {
        let mut problems = text_problems(Some(&self.code), self.readme.as_deref());
        problems.extend(self.schedule.iter().flat_map(NewSchedule::problems));
        problems
    }
}

/// What to change of a val beside its code; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValUpdate {
    /// A new name; the val's addresses change with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<ValName>,
    /// A new readme; the empty text takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readme: Option<String>,
    /// Who may see it from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privacy: Option<Privacy>,
    /// What starts it from now on.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ValKind>,
    /// Whether others may call it through `/v1/run` (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callable: Option<bool>,
    /// What its runs may do beside the usual (ours): `val:write`, `user:write` or both. Who grants it needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<Scopes>,
    /// When it runs from now on; `null` takes the schedule away.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::user::double_option"
    )]
    #[schema(value_type = Option<NewSchedule>)]
    pub schedule: Option<Option<NewSchedule>>,
}

/// What runs may not do unless their val grants it: change vals, and the account.
pub fn withheld_scopes() -> Scopes {
    [ScopeResource::Val, ScopeResource::User]
        .map(|resource| Scope::new(resource, ScopeAction::Write))
        .into_iter()
        .collect()
}

impl ValUpdate {
    /// Each part that breaks a rule: the field's name and a sentence.
    pub fn problems(&self) -> Vec<(&'static str, &'static str)> {
        let mut problems = text_problems(None, self.readme.as_deref());
        if self
            .grants
            .is_some_and(|grants| !grants.within(withheld_scopes()))
        {
            problems.push((
                "grants",
                "a val may be granted val:write and user:write: its runs have the rest",
            ));
        }
        problems.extend(self.schedule.iter().flatten().flat_map(NewSchedule::problems));
        problems
    }
}

/// A save by name: makes the val if there is none of that name, else a new version of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PutVal {
    /// The val's name.
    pub name: ValName,
    /// 1 to 256,000 characters.
    #[schema(min_length = 1, max_length = 256000)]
    pub code: String,
}

impl PutVal {
    /// Each part that breaks a rule: the field's name and a sentence.
    pub fn problems(&self) -> Vec<(&'static str, &'static str)> {
        text_problems(Some(&self.code), None)
    }
}

/// Which vals of a list are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct ValFilter {
    /// Only vals of this kind.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ValKind>,
    /// Only vals of this privacy; of use to the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privacy: Option<Privacy>,
    /// Only vals that have this text in their name, without regard to case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Only vals of this user; for lists that aren't one user's anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
}

impl ValFilter {
    /// The most characters that the text to look for may have.
    const QUERY_MAX_CHARS: usize = 512;

    /// Each part that breaks a rule: the field's name and a sentence.
    pub fn problems(&self) -> Vec<(&'static str, &'static str)> {
        self.query
            .iter()
            .filter(|query| query.chars().count() > Self::QUERY_MAX_CHARS || query.contains('\0'))
            .map(|_| {
                (
                    "query",
                    "the text to look for has at most 512 characters, and no NUL",
                )
            })
            .collect()
    }
}

/// The rules that code and readme have wherever they are sent.
pub(crate) fn text_problems(code: Option<&str>, readme: Option<&str>) -> Vec<(&'static str, &'static str)> {
    let mut problems = Vec::new();
    // No more characters than bytes: most texts need no counting.
    let longer = |text: &str, most: usize| text.len() > most && text.chars().count() > most;
    if let Some(code) = code
        && (code.is_empty() || longer(code, CODE_MAX_CHARS))
    {
        problems.push(("code", "a val's code has 1 to 256,000 characters"));
    }
    // PostgreSQL can't keep this character, and no program needs it as it is.
    if code.is_some_and(|code| code.contains('\0')) {
        problems.push(("code", "a val's code has no NUL character"));
    }
    if readme.is_some_and(|readme| longer(readme, README_MAX_CHARS)) {
        problems.push(("readme", "a readme has at most 64,000 characters"));
    }
    if readme.is_some_and(|readme| readme.contains('\0')) {
        problems.push(("readme", "a readme has no NUL character"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_val(json: &str) -> Result<NewVal, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn code_has_1_to_256000_characters_of_any_width() {
        for (code, good) in [
            (String::new(), false),
            ("1".into(), true),
            ("é".repeat(256_000), true),
            ("é".repeat(256_001), false),
            ("a".repeat(256_001), false),
            ("a\0b".into(), false),
        ] {
            assert_eq!(
                NewVal::of_code(code.as_str()).problems().is_empty(),
                good,
                "{} bytes",
                code.len()
            );
        }
    }

    #[test]
    fn a_new_val_needs_only_code() {
        assert_eq!(new_val(r#"{"code":"1"}"#).expect("a val"), NewVal::of_code("1"));
        assert!(new_val("{}").is_err());
        assert!(new_val(r#"{"code":"1","name":"no-good"}"#).is_err());
    }

    #[test]
    fn an_older_word_for_http_is_understood_and_never_written() {
        let val = new_val(r#"{"code":"1","type":"httpnext"}"#).expect("a val");
        assert_eq!(val.kind, Some(ValKind::Http));
        assert!(
            serde_json::to_string(&val)
                .expect("JSON")
                .contains(r#""type":"http""#)
        );
    }

    #[test]
    fn kinds_that_are_gone_name_their_replacement() {
        let express = new_val(r#"{"code":"1","type":"express"}"#)
            .expect_err("refused")
            .to_string();
        assert!(express.contains("use http"), "{express}");
        let rpc = new_val(r#"{"code":"1","type":"rpc"}"#)
            .expect_err("refused")
            .to_string();
        assert!(rpc.contains("use script"), "{rpc}");
    }

    #[test]
    fn every_kind_and_privacy_survives_the_wire() {
        for kind in ValKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).expect("JSON"), kind.as_str());
        }
        for privacy in Privacy::ALL {
            assert_eq!(serde_json::to_value(privacy).expect("JSON"), privacy.as_str());
        }
        assert_eq!(Privacy::default(), Privacy::Private);
    }

    #[test]
    fn an_update_tells_no_schedule_from_nothing_said() {
        let update = |json: &str| serde_json::from_str::<ValUpdate>(json).expect("an update");
        assert_eq!(update("{}"), ValUpdate::default());
        assert_eq!(update(r#"{"schedule":null}"#).schedule, Some(None));
        let set = update(r#"{"schedule":{"cron":"* * * * *"}}"#)
            .schedule
            .flatten()
            .expect("a schedule");
        assert_eq!((set.timezone.as_str(), set.paused), ("UTC", false));
    }

    #[test]
    fn an_extended_val_is_one_flat_object() {
        let json = serde_json::json!({
            "id": "018f3c7e-0000-7000-8000-000000000001", "name": "hello", "version": 0, "code": "1",
            "public": false, "privacy": "private", "type": "script",
            "createdAt": "2026-01-31T12:00:00.000Z", "updatedAt": "2026-01-31T12:00:00.000Z",
            "author": {"id": "018f3c7e-0000-7000-8000-000000000002", "username": "ada"},
            "url": "http://x/v/ada/hello",
            "links": {"self": "s", "versions": "v", "module": "m"},
            "readme": null, "likeCount": 0, "referenceCount": 0,
            "versionCreatedAt": "2026-01-31T12:00:00.000Z", "callable": false, "grants": [],
        });
        let val: ExtendedVal = serde_json::from_value(json.clone()).expect("a val");
        assert_eq!(serde_json::to_value(&val).expect("JSON"), json);
    }
}
