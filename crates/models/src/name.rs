//! Names that people choose: each checked once, when it is read.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::secret::check_secret_name;

/// Why a name can't be taken: a sentence for the person who chose it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidName(&'static str);

impl InvalidName {
    /// What the name breaks, in a sentence.
    pub(crate) const fn new(sentence: &'static str) -> Self {
        Self(sentence)
    }
}

/// Names that mean something else in an address (`/v/std/…`) or would pass for the instance itself.
const RESERVED_USERNAMES: [&str; 8] = ["admin", "api", "hamlet", "me", "new", "root", "std", "system"];

fn check_username(text: &str) -> Result<(), InvalidName> {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let outer = |c: char| c.is_ascii_alphanumeric();
    if text.is_empty() || text.len() > Username::MAX_CHARS {
        return Err(InvalidName("a username has 1 to 32 characters"));
    }
    if !text.chars().all(inner) || !text.starts_with(outer) || !text.ends_with(outer) {
        return Err(InvalidName(
            "a username is made of letters, digits, - and _, and begins and ends with a letter or digit",
        ));
    }
    if RESERVED_USERNAMES.contains(&text.to_ascii_lowercase().as_str()) {
        return Err(InvalidName("this username is reserved: choose another"));
    }
    Ok(())
}

fn check_val_name(text: &str) -> Result<(), InvalidName> {
    if text.is_empty() || text.len() > ValName::MAX_CHARS {
        return Err(InvalidName("a val's name has 1 to 48 characters"));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) || !text.chars().all(allowed) {
        return Err(InvalidName(
            "a val's name is made of letters, digits and _, and begins with a letter",
        ));
    }
    Ok(())
}

fn check_token_name(text: &str) -> Result<(), InvalidName> {
    if text.trim().is_empty() || text.chars().count() > TokenName::MAX_CHARS {
        return Err(InvalidName("a token's name has 1 to 64 characters"));
    }
    if text.chars().any(char::is_control) {
        return Err(InvalidName(
            "a token's name has no line breaks or other control characters",
        ));
    }
    Ok(())
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $max:literal, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schema(value_type = String)]
        pub struct $name(String);

        impl $name {
            /// The most characters that such a name may have.
            pub const MAX_CHARS: usize = $max;

            /// The name as its owner wrote it.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The form by which names are compared: case does not matter.
            pub fn key(&self) -> String {
                self.0.to_lowercase()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $check(text)?;
                Ok(Self(text.to_owned()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                $check(&text)?;
                Ok(Self(text))
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

name! {
    /// A user's name: 1 to 32 of letters, digits, `-` and `_`, beginning and ending with a letter or digit; unique
    /// without regard to case. Never a leading `@`.
    Username, 32, check_username
}
name! {
    /// A val's name: 1 to 48 of letters, digits and `_`, beginning with a letter; unique per owner without regard to
    /// case.
    ValName, 48, check_val_name
}
name! {
    /// What a person calls a token: 1 to 64 characters on one line.
    TokenName, 64, check_token_name
}
name! {
    /// The name of an environment variable: 1 to 64 of letters, digits and `_`, not beginning with a digit, and none
    /// that every run has.
    SecretName, 64, check_secret_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_val_name_has_1_to_48_letters_digits_and_underscores() {
        let longest = "a".repeat(48);
        for good in ["a", "Z", "hello", "a_1", "camelCase", longest.as_str()] {
            assert_eq!(good.parse::<ValName>().map(String::from), Ok(good.to_owned()));
        }
        let too_long = "a".repeat(49);
        for bad in ["", "1a", "_a", "a-b", "a b", "a.b", "ä", "a\n", too_long.as_str()] {
            assert!(bad.parse::<ValName>().is_err(), "{bad:?} must be refused");
        }
    }

    #[test]
    fn a_username_fits_an_address_and_is_not_reserved() {
        let longest = "a".repeat(32);
        for good in ["a", "ada", "Ada-Lovelace", "a_1", "1a", longest.as_str()] {
            assert!(good.parse::<Username>().is_ok(), "{good:?} must be taken");
        }
        let too_long = "a".repeat(33);
        for bad in [
            "",
            "@ada",
            "-ada",
            "ada-",
            "_ada",
            "a.b",
            "a b",
            "std",
            "STD",
            "é",
            too_long.as_str(),
        ] {
            assert!(bad.parse::<Username>().is_err(), "{bad:?} must be refused");
        }
    }

    #[test]
    fn a_token_name_is_one_line_of_1_to_64_characters() {
        assert!("CI on my laptop".parse::<TokenName>().is_ok());
        assert!("é".repeat(64).parse::<TokenName>().is_ok());
        for bad in ["", "  ", "a\nb", "é".repeat(65).as_str()] {
            assert!(bad.parse::<TokenName>().is_err(), "{bad:?} must be refused");
        }
    }

    #[test]
    fn names_that_differ_in_case_alone_have_one_key() {
        let name = |text: &str| text.parse::<ValName>().expect("a name");
        assert_eq!(name("Hello").key(), name("hELLO").key());
        assert_ne!(name("Hello"), name("hello"));
    }

    #[test]
    fn the_wire_refuses_a_name_with_the_rule_in_words() {
        let refused = serde_json::from_str::<ValName>(r#""1a""#).expect_err("a bad name");
        assert!(refused.to_string().contains("begins with a letter"), "{refused}");
    }
}
