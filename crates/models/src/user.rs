//! People.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{UserId, Username, both::Both};

/// A user as everyone may see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Names the user for ever.
    pub id: UserId,
    /// The user's name; `null` is allowed by the contract, and never sent by Hamlet.
    pub username: Option<Username>,
    /// A few words about the user.
    pub bio: Option<String>,
    /// Where the user's picture is.
    pub profile_image_url: Option<String>,
    /// The user's page in the web app.
    pub url: String,
    /// Where else to look.
    pub links: UserLinks,
}

/// Where a user is in the interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserLinks {
    /// The user.
    #[serde(rename = "self")]
    pub self_: String,
}

/// The caller, with what only they may see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", from = "Both<User, OfMe>")]
pub struct Me {
    /// What everyone may see.
    #[serde(flatten)]
    pub user: User,
    /// Where mail reaches the user.
    pub email: Option<String>,
    /// The hosted service's plans don't exist here: always `null`.
    pub tier: Option<String>,
    /// Whether the user administers this instance (ours).
    #[serde(default)]
    pub admin: bool,
    /// Whether the user has a password (ours): one who came by the one-time link has none yet.
    #[serde(default)]
    pub has_password: bool,
}

/// What the caller sees of themselves beside.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfMe {
    email: Option<String>,
    tier: Option<String>,
    #[serde(default)]
    admin: bool,
    #[serde(default)]
    has_password: bool,
}

impl From<Both<User, OfMe>> for Me {
    fn from(Both(user, own): Both<User, OfMe>) -> Self {
        Self {
            user,
            email: own.email,
            tier: own.tier,
            admin: own.admin,
            has_password: own.has_password,
        }
    }
}

/// A val's owner, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Author {
    /// Names the user for ever.
    pub id: UserId,
    /// The user's name.
    pub username: Username,
}

/// What to change of the caller's profile; what is left out stays, and `null` empties a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeUpdate {
    /// A new name; every address of the user's vals changes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<Username>,
    /// At most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "double_option")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub bio: Option<Option<String>>,
    /// At most 320 characters.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "double_option")]
    #[schema(value_type = Option<String>, max_length = 320)]
    pub email: Option<Option<String>>,
    /// An `https:` address of at most 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "double_option")]
    #[schema(value_type = Option<String>, max_length = 2000)]
    pub profile_image_url: Option<Option<String>>,
}

impl MeUpdate {
    /// The most characters that a bio may have.
    pub const BIO_MAX_CHARS: usize = 500;
    /// The most characters that an e-mail address may have.
    pub const EMAIL_MAX_CHARS: usize = 320;
    /// The most characters that a picture's address may have.
    pub const IMAGE_URL_MAX_CHARS: usize = 2_000;

    /// Each part that breaks a rule: the field's name and a sentence.
    pub fn problems(&self) -> Vec<(&'static str, &'static str)> {
        let mut problems = Vec::new();
        if let Some(Some(bio)) = &self.bio
            && (bio.chars().count() > Self::BIO_MAX_CHARS || bio.contains('\0'))
        {
            problems.push(("bio", "a bio has at most 500 characters, and no NUL"));
        }
        if let Some(Some(email)) = &self.email
            && (email.chars().count() > Self::EMAIL_MAX_CHARS
                || email.chars().any(|c| c.is_whitespace() || c.is_control())
                || !matches!(email.split_once('@'), Some((name, host)) if !name.is_empty() && !host.is_empty()))
        {
            problems.push(("email", "an e-mail address is written like ada@example.com"));
        }
        if let Some(Some(url)) = &self.profile_image_url
            && (url.chars().count() > Self::IMAGE_URL_MAX_CHARS
                || !url.starts_with("https://")
                || url.chars().any(char::is_control))
        {
            problems.push((
                "profileImageUrl",
                "a picture's address begins with https:// and has at most 2,000 characters",
            ));
        }
        problems
    }
}

/// A change of the caller's password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordChange {
    /// The password in force; left out by a user who has none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// 10 to 1,000 characters.
    #[schema(min_length = 10, max_length = 1000)]
    pub new: String,
}

impl PasswordChange {
    /// The fewest characters that a password may have.
    pub const MIN_CHARS: usize = 10;
    /// The most characters that a password may have.
    pub const MAX_CHARS: usize = 1_000;

    /// What is wrong with a password that someone chose, if anything.
    pub fn problem(password: &str) -> Option<&'static str> {
        let chars = password.chars().count();
        (!(Self::MIN_CHARS..=Self::MAX_CHARS).contains(&chars))
            .then_some("a password has 10 to 1,000 characters")
    }
}

/// Tells "left out" (`None`) from `null` (`Some(None)`).
pub(crate) mod double_option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        value: &Option<Option<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<T>>, D::Error> {
        Option::<T>::deserialize(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_empties_a_field_and_silence_leaves_it() {
        let update: MeUpdate = serde_json::from_str(r#"{"bio":null}"#).expect("an update");
        assert_eq!(update.bio, Some(None));
        assert_eq!(update.email, None);
        assert_eq!(serde_json::to_string(&update).expect("JSON"), r#"{"bio":null}"#);
    }

    #[test]
    fn a_profile_keeps_its_limits() {
        let update = |json: &str| serde_json::from_str::<MeUpdate>(json).expect("an update");
        assert!(
            update(r#"{"email":"ada@example.com","profileImageUrl":"https://x/y.png"}"#)
                .problems()
                .is_empty()
        );
        for bad in [
            r#"{"email":"ada"}"#,
            r#"{"email":"@x"}"#,
            r#"{"email":"a b@x"}"#,
            r#"{"profileImageUrl":"javascript:alert(1)"}"#,
            r#"{"profileImageUrl":"http://x"}"#,
            r#"{"profileImageUrl":"https://x/\u0000"}"#,
            r#"{"bio":"a\u0000b"}"#,
        ] {
            assert_eq!(update(bad).problems().len(), 1, "{bad}");
        }
        let bio = |n: usize| MeUpdate {
            bio: Some(Some("é".repeat(n))),
            ..MeUpdate::default()
        };
        assert!(bio(500).problems().is_empty());
        assert_eq!(bio(501).problems().len(), 1);
    }

    #[test]
    fn a_password_has_10_to_1000_characters() {
        for (chars, good) in [(9, false), (10, true), (1_000, true), (1_001, false)] {
            assert_eq!(
                PasswordChange::problem(&"é".repeat(chars)).is_none(),
                good,
                "{chars}"
            );
        }
    }

    #[test]
    fn me_is_a_user_with_more() {
        let json = r#"{"id":"018f3c7e-0000-7000-8000-000000000001","username":"ada","bio":null,"profileImageUrl":null,
            "url":"http://x/u/ada","links":{"self":"http://x/v1/users/1"},"email":null,"tier":null}"#;
        let me: Me = serde_json::from_str(json).expect("me");
        assert_eq!(me.user.username.map(String::from).as_deref(), Some("ada"));
        assert!(!me.admin);
    }
}
