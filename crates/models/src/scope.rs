//! What a token may do.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a scope is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScopeResource {
    /// Vals and their versions.
    Val,
    /// The user's profile, tokens and secrets.
    User,
    /// Runs: starting them and reading them.
    Run,
    /// Blobs.
    Blob,
    /// The account's SQLite database.
    Sqlite,
    /// Sending mail.
    Email,
}

impl ScopeResource {
    /// Every resource, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::Val,
        Self::User,
        Self::Run,
        Self::Blob,
        Self::Sqlite,
        Self::Email,
    ];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Val => "val",
            Self::User => "user",
            Self::Run => "run",
            Self::Blob => "blob",
            Self::Sqlite => "sqlite",
            Self::Email => "email",
        }
    }
}

/// What may be done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScopeAction {
    /// Look.
    Read,
    /// Create, change, delete, start.
    Write,
}

impl ScopeAction {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// One permission of a token, written `val:read`. Writing doesn't include reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Scope {
    /// What it is about.
    pub resource: ScopeResource,
    /// What may be done.
    pub action: ScopeAction,
}

/// The text names no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a scope is one of val, user, run, blob, sqlite or email, a colon, and read or write")]
pub struct InvalidScope;

impl Scope {
    /// The permission to do this to that.
    pub const fn new(resource: ScopeResource, action: ScopeAction) -> Self {
        Self { resource, action }
    }

    /// Every scope there is, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Self> {
        ScopeResource::ALL.into_iter().flat_map(|resource| {
            [ScopeAction::Read, ScopeAction::Write].map(|action| Self { resource, action })
        })
    }

    /// The bit that stands for this scope in a [`Scopes`].
    fn bit(self) -> u16 {
        1 << (2 * self.resource as u16 + self.action as u16)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.resource.as_str(), self.action.as_str())
    }
}

impl FromStr for Scope {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::all()
            .find(|scope| scope.to_string() == text)
            .ok_or(InvalidScope)
    }
}

impl TryFrom<String> for Scope {
    type Error = InvalidScope;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> Self {
        scope.to_string()
    }
}

/// A set of scopes; a list of them on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(from = "Vec<Scope>", into = "Vec<Scope>")]
#[schema(value_type = Vec<String>, examples(json!(["val:read", "run:write"])))]
pub struct Scopes(u16);

impl Scopes {
    /// Every scope: what a session has, and a token made without a choice.
    pub fn all() -> Self {
        Scope::all().collect()
    }

    /// Whether this scope is in the set.
    pub fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// The set without these scopes.
    #[must_use]
    pub fn without(self, scopes: &[Scope]) -> Self {
        Self(scopes.iter().fold(self.0, |bits, scope| bits & !scope.bit()))
    }

    /// Whether each of these scopes is in `other` too.
    pub fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The scopes of the set, in the order in which they are shown.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::all().filter(move |&scope| self.has(scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl From<Vec<Scope>> for Scopes {
    fn from(scopes: Vec<Scope>) -> Self {
        scopes.into_iter().collect()
    }
}

impl From<Scopes> for Vec<Scope> {
    fn from(scopes: Scopes) -> Self {
        scopes.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_survives_the_wire() {
        for scope in Scope::all() {
            assert_eq!(scope.to_string().parse(), Ok(scope));
        }
        for bad in ["", "val", "val:", "val:delete", "VAL:read", "vals:read"] {
            assert_eq!(bad.parse::<Scope>(), Err(InvalidScope), "{bad}");
        }
    }

    #[test]
    fn a_set_holds_what_was_put_in_and_nothing_else() {
        let read: Scope = "val:read".parse().expect("a scope");
        let write: Scope = "val:write".parse().expect("a scope");
        let set: Scopes = [read].into_iter().collect();
        assert!(set.has(read) && !set.has(write));
        assert!(Scope::all().all(|scope| Scopes::all().has(scope)));
        assert!(!Scopes::all().without(&[write]).has(write));
        assert!(set.within(Scopes::all()) && !Scopes::all().within(set));
        assert_eq!(serde_json::to_string(&set).expect("JSON"), r#"["val:read"]"#);
    }
}
