//! When a scheduled val runs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;

/// When a scheduled val runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// A cron expression with 5 fields.
    pub cron: String,
    /// The time zone in which it is read, by its IANA name.
    pub timezone: String,
    /// Whether it is held back.
    pub paused: bool,
    /// When it runs next; `null` while it is paused.
    pub next_run_at: Option<Timestamp>,
    /// When it last ran; `null` before the first time.
    pub last_run_at: Option<Timestamp>,
}

/// A schedule to set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewSchedule {
    /// A cron expression with 5 fields (`*/15 * * * *`), or an interval (`every 15 minutes`).
    pub cron: String,
    /// The IANA name of the time zone in which the expression is read.
    #[serde(default = "NewSchedule::utc")]
    pub timezone: String,
    /// Whether to hold it back.
    #[serde(default)]
    pub paused: bool,
}

impl NewSchedule {
    fn utc() -> String {
        "UTC".to_owned()
    }
}
