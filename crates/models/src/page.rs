//! Lists that are read a page at a time.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// One page of a list, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The items of this page.
    pub data: Vec<T>,
    /// Where this page, the one before it and the one after it are.
    pub links: PageLinks,
}

/// Absolute addresses; `prev` and `next` are left out where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageLinks {
    /// This page.
    #[serde(rename = "self")]
    pub self_: String,
    /// The page before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev: Option<String>,
    /// The page after this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Which part of a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// How many items to pass over.
    #[serde(default)]
    #[param(minimum = 0, default = 0)]
    pub offset: u64,
    /// How many items to answer, 1 to 100.
    #[serde(default = "PageQuery::default_limit")]
    #[param(minimum = 1, maximum = 100, default = 20)]
    pub limit: u64,
}

impl PageQuery {
    /// The most items that a page can have.
    pub const MAX_LIMIT: u64 = 100;

    fn default_limit() -> u64 {
        20
    }

    /// What is wrong with the limit or offset, if anything: the field's name and a sentence.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        if !(1..=Self::MAX_LIMIT).contains(&self.limit) {
            return Some(("limit", "limit is a number from 1 to 100"));
        }
        // Databases count in signed 64-bit numbers.
        if i64::try_from(self.offset).is_err() {
            return Some(("offset", "offset is a number from 0 to 9223372036854775807"));
        }
        None
    }
}

impl Default for PageQuery {
    fn default() -> Self {
        Self {
            offset: 0,
            limit: Self::default_limit(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_asks_for_1_to_100_items() {
        for (limit, good) in [(0, false), (1, true), (100, true), (101, false)] {
            assert_eq!(
                PageQuery { offset: 0, limit }.problem().is_none(),
                good,
                "limit {limit}"
            );
        }
        assert!(
            PageQuery {
                offset: u64::MAX,
                limit: 1
            }
            .problem()
            .is_some()
        );
        assert_eq!(PageQuery::default(), PageQuery { offset: 0, limit: 20 });
    }

    #[test]
    fn links_that_lead_nowhere_are_left_out() {
        let links = PageLinks {
            self_: "http://x/v1/vals".into(),
            prev: None,
            next: None,
        };
        assert_eq!(
            serde_json::to_string(&links).expect("JSON"),
            r#"{"self":"http://x/v1/vals"}"#
        );
    }
}
