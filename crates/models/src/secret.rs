//! Secrets: environment variables whose values are written and never read back.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{InvalidName, SecretName, Timestamp, ValId};

/// The most bytes that a secret's value may have.
pub const SECRET_MAX_BYTES: usize = 32_768;
/// The most vals that a secret may be limited to.
const VALS_MAX: usize = 100;

/// A secret as its owner sees it: everything but its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Secret {
    /// The environment variable's name.
    pub name: SecretName,
    /// The vals that get it; every val of the account if `null`.
    pub val_ids: Option<Vec<ValId>>,
    /// When it was first set.
    pub created_at: Timestamp,
    /// When it was last set or changed.
    pub updated_at: Timestamp,
}

/// What to set of a secret; what is left out stays.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretUpdate {
    /// Its value; a secret that isn't there yet needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 32768)]
    pub value: Option<String>,
    /// The vals that get it from now on; `null` means every val of the account.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::user::double_option"
    )]
    #[schema(value_type = Option<Vec<ValId>>)]
    pub val_ids: Option<Option<Vec<ValId>>>,
}

impl SecretUpdate {
    /// Each part that breaks a rule: the field's name and a sentence.
    pub fn problems(&self) -> Vec<(&'static str, &'static str)> {
        let mut problems = Vec::new();
        if self
            .value
            .as_ref()
            .is_some_and(|value| value.len() > SECRET_MAX_BYTES || value.contains('\0'))
        {
            problems.push(("value", "a secret's value has at most 32,768 bytes, and no NUL"));
        }
        if self.val_ids.iter().flatten().any(|vals| vals.len() > VALS_MAX) {
            problems.push(("valIds", "a secret is limited to at most 100 vals, or to none"));
        }
        problems
    }
}

/// Without the value: this may come into a log.
impl fmt::Debug for SecretUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretUpdate")
            .field("val_ids", &self.val_ids)
            .finish_non_exhaustive()
    }
}

/// Variables that every run has already.
const RESERVED: [&str; 4] = [
    "VAL_TOWN_API_KEY",
    "VAL_TOWN_BASE_URL",
    "VALTOWN_API_URL",
    "VALTOWN",
];

/// Variables by which the engine is led to other places for modules than the instance says, or to trust others: no val
/// gets them, or it would reach addresses that no val may reach, and miss those that it may.
pub const LEADING_VARIABLES: [&str; 15] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "NPM_CONFIG_REGISTRY",
    "npm_config_registry",
    "JSR_URL",
    "DENO_CERT",
    "DENO_TLS_CA_STORE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

impl SecretName {
    /// Why a secret of this name would be of no use, if it would be.
    pub fn problem(&self) -> Option<&'static str> {
        LEADING_VARIABLES.contains(&self.as_str()).then_some(
            "no val gets a variable of this name, which says where modules come from and who is trusted: choose another",
        )
    }
}

pub(crate) fn check_secret_name(text: &str) -> Result<(), InvalidName> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let well_formed = !text.is_empty()
        && text.len() <= SecretName::MAX_CHARS
        && text.chars().all(allowed)
        && !text.starts_with(|c: char| c.is_ascii_digit());
    if !well_formed {
        return Err(InvalidName::new(
            "a secret's name has 1 to 64 letters, digits and _, and doesn't begin with a digit",
        ));
    }
    let upper = text.to_ascii_uppercase();
    if RESERVED.contains(&upper.as_str()) || upper.starts_with("HAMLET_") {
        return Err(InvalidName::new(
            "every run has a variable of this name already: choose another",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_a_variable_that_no_run_has_yet() {
        for good in ["A", "_a1", "OPENAI_API_KEY"] {
            assert!(good.parse::<SecretName>().is_ok(), "{good}");
        }
        let long = "A".repeat(65);
        for bad in [
            "",
            "1A",
            "A-B",
            "A B",
            "A=B",
            "é",
            "valtown",
            "Val_Town_Api_Key",
            "HAMLET_RUN_ID",
            &long,
        ] {
            assert!(bad.parse::<SecretName>().is_err(), "{bad:?} must be refused");
        }
    }

    #[test]
    fn what_no_val_would_get_is_a_problem() {
        let problem = |name: &str| name.parse::<SecretName>().expect("a name").problem();
        for name in LEADING_VARIABLES {
            assert!(problem(name).is_some(), "{name}");
        }
        for name in ["PROXY", "MY_HTTP_PROXY", "DENO_DIR"] {
            assert_eq!(problem(name), None, "{name}");
        }
    }

    #[test]
    fn what_is_left_out_is_not_the_same_as_null() {
        let update = |json| {
            serde_json::from_str::<SecretUpdate>(json)
                .expect("an update")
                .val_ids
        };
        assert_eq!((update("{}"), update(r#"{"valIds":null}"#)), (None, Some(None)));
    }

    #[test]
    fn a_value_is_in_no_debug_text() {
        let update = SecretUpdate {
            value: Some("hunter2".into()),
            val_ids: None,
        };
        assert!(!format!("{update:?}").contains("hunter2"));
    }
}
