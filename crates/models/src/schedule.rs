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
    /// Whether a tick that was missed while the instance was down runs once when it is back; without that, one that is
    /// up to a minute late runs still, and older ones are passed over.
    #[serde(default)]
    pub catch_up: bool,
    /// Whether a tick runs also while another run of the val goes on; else it waits, and those that come due meanwhile
    /// are one.
    #[serde(default)]
    pub overlap: bool,
    /// When it runs next; `null` while it is paused.
    pub next_run_at: Option<Timestamp>,
    /// When it last ran; `null` before the first time.
    pub last_run_at: Option<Timestamp>,
    /// The next five ticks; none while it is paused.
    #[serde(default)]
    pub next_ticks: Vec<Timestamp>,
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
    /// Whether a tick that is missed while the instance is down shall run once when it is back; without that, one that
    /// is up to a minute late runs still, and older ones are passed over.
    #[serde(default)]
    pub catch_up: bool,
    /// Whether a tick shall run also while another run of the val goes on; else it waits, and those that come due
    /// meanwhile are one.
    #[serde(default)]
    pub overlap: bool,
}

impl NewSchedule {
    /// The most characters that an expression or the name of a time zone may have.
    const MAX_CHARS: usize = 100;

    /// Each part that breaks a rule: the field's name and a sentence.
    pub(crate) fn problems(&self) -> Vec<(&'static str, &'static str)> {
        let mut problems = Vec::new();
        let short = |text: &str| text.len() <= Self::MAX_CHARS;
        if !short(&self.cron) || !(is_cron(&self.cron) || is_interval(&self.cron)) {
            problems.push((
                "schedule.cron",
                "a schedule is a cron expression with 5 fields like */15 * * * *, or an interval like every 15 minutes",
            ));
        }
        let in_name = |c: char| c.is_ascii_alphanumeric() || "/_+-".contains(c);
        if self.timezone.is_empty() || !short(&self.timezone) || !self.timezone.chars().all(in_name) {
            problems.push((
                "schedule.timezone",
                "a time zone is told by its IANA name, like Europe/Berlin or UTC",
            ));
        }
        problems
    }

    fn utc() -> String {
        "UTC".to_owned()
    }
}

/// Whether the text has the shape of a cron expression; whether it has any meaning is for who reads it.
fn is_cron(text: &str) -> bool {
    let in_field = |c: char| c.is_ascii_alphanumeric() || "*/,-?#".contains(c);
    let mut fields = text.split_whitespace();
    text.split_whitespace().count() == 5
        && fields.all(|field| {
            field.chars().all(in_field)
                && field.contains(|c: char| c == '*' || c == '?' || c.is_ascii_alphanumeric())
        })
}

/// Whether the text is `every`, a number from 1, and minutes, hours or days.
fn is_interval(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let unit = |word: &str| ["minute", "minutes", "hour", "hours", "day", "days"].contains(&word);
    match words.as_slice() {
        ["every", word] => unit(word),
        ["every", count, word] => {
            count.bytes().all(|byte| byte.is_ascii_digit())
                && count.parse().is_ok_and(|count: u16| count > 0)
                && unit(word)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(cron: &str, timezone: &str) -> Vec<&'static str> {
        let schedule = NewSchedule {
            cron: cron.into(),
            timezone: timezone.into(),
            paused: false,
            catch_up: false,
            overlap: false,
        };
        schedule.problems().into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn a_schedule_is_an_expression_of_5_fields_or_an_interval() {
        for good in [
            "* * * * *",
            "*/15 9-17 * * MON-FRI",
            "0 7 1,15 * ?",
            "every minute",
            "every 15 minutes",
            "every 1 hour",
            "every 2 days",
        ] {
            assert!(problems(good, "UTC").is_empty(), "{good:?} must be taken");
        }
        let long = format!("{} * * * *", "1,".repeat(60));
        for bad in [
            "",
            "* * * *",
            "0 * * * * *",
            "* * * * \0",
            "- - - - -",
            "every 0 minutes",
            "every -1 minutes",
            "every 15 moons",
            "every",
            long.as_str(),
        ] {
            assert_eq!(problems(bad, "UTC"), ["schedule.cron"], "{bad:?} must be refused");
        }
    }

    #[test]
    fn a_time_zone_has_a_name() {
        for good in ["UTC", "Europe/Berlin", "America/Port-au-Prince", "Etc/GMT+1"] {
            assert!(problems("* * * * *", good).is_empty(), "{good:?} must be taken");
        }
        for bad in ["", "Europe Berlin", "UTC\0", "é"] {
            assert_eq!(
                problems("* * * * *", bad),
                ["schedule.timezone"],
                "{bad:?} must be refused"
            );
        }
    }
}
