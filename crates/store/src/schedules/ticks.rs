//! When a schedule ticks.

use croner::{
    Cron,
    parser::{CronParser, Seconds},
};
use hamlet_models::Timestamp;
use jiff::tz::TimeZone;

/// The fields of a cron expression, and what each may be.
const FIELDS: [(&str, &str); 5] = [
    ("minute", "0 to 59"),
    ("hour", "0 to 23"),
    ("day of the month", "1 to 31"),
    ("month", "1 to 12, or JAN to DEC"),
    ("day of the week", "0 to 7, or SUN to SAT"),
];

/// A schedule that was understood.
#[derive(Clone, Debug)]
pub struct Ticks(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Every so many milliseconds.
    Every(i64),
    /// By a cron expression, read in a time zone.
    Cron(Box<Cron>, TimeZone),
}

/// Why a schedule can't be understood: which part of it, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct InvalidSchedule {
    /// The part, as the wire names it.
    pub path: &'static str,
    /// What is wrong with it.
    pub sentence: String,
}

impl Ticks {
    /// Reads a schedule: `every 15 minutes`, or a cron expression with 5 fields.
    pub fn parse(cron: &str, timezone: &str) -> Result<Self, InvalidSchedule> {
        let zone = TimeZone::get(timezone).map_err(|_| InvalidSchedule {
            path: "schedule.timezone",
            sentence: format!("{timezone} is no time zone: they are named like Europe/Berlin or UTC"),
        })?;
        if let Some(millis) = interval(cron) {
            return Ok(Self(Kind::Every(millis)));
        }
        let parser = CronParser::builder().seconds(Seconds::Disallowed).build();
        let cron = parser.parse(cron).map_err(|_| InvalidSchedule {
            path: "schedule.cron",
            sentence: wrong_in(cron, &parser),
        })?;
        Ok(Self(Kind::Cron(Box::new(cron), zone)))
    }

    /// The first tick after `now`, for a schedule that ticked, or was set, at `last`; none if there never is one.
    pub fn next(&self, last: Timestamp, now: Timestamp) -> Option<Timestamp> {
        match &self.0 {
            Kind::Every(millis) => {
                let passed = now.as_millis().saturating_sub(last.as_millis()).max(0);
                let steps = (passed / millis).saturating_add(1);
                Some(Timestamp::from_millis(
                    last.as_millis().saturating_add(steps.saturating_mul(*millis)),
                ))
            }
            Kind::Cron(cron, zone) => {
                let now = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?;
                let next = cron
                    .find_next_occurrence(&now.to_zoned(zone.clone()), false)
                    .ok()?;
                Some(Timestamp::from_millis(next.timestamp().as_millisecond()))
            }
        }
    }

    /// The tick at `first` and those that follow it.
    pub fn from(&self, first: Timestamp, count: usize) -> Vec<Timestamp> {
        std::iter::successors(Some(first), |&tick| self.next(tick, tick))
            .take(count)
            .collect()
    }
}

/// What is wrong with a cron expression: the first field that can't be read by itself.
fn wrong_in(cron: &str, parser: &CronParser) -> String {
    let fields = cron.split_whitespace().zip(FIELDS).enumerate();
    let wrong = fields.into_iter().find(|(place, (field, _))| {
        let mut alone = ["*"; FIELDS.len()];
        alone[*place] = field;
        parser.parse(&alone.join(" ")).is_err()
    });
    match wrong {
        Some((_, (field, (name, range)))) => {
            format!("{cron:?} is no cron expression: {field} is no {name}, which is {range}")
        }
        None => format!("{cron:?} is no cron expression: it has 5 fields, like */15 * * * *"),
    }
}

/// The milliseconds of `every 15 minutes`.
fn interval(text: &str) -> Option<i64> {
    let mut words = text.split_whitespace();
    if words.next() != Some("every") {
        return None;
    }
    let word = words.next()?;
    let (count, unit) = match words.next() {
        Some(unit) => (word.parse::<u16>().ok().filter(|&count| count > 0)?, unit),
        None => (1, word),
    };
    let minutes = match unit.trim_end_matches('s') {
        "minute" => 1,
        "hour" => 60,
        "day" => 24 * 60,
        _ => return None,
    };
    Some(i64::from(count) * minutes * 60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn ticks(cron: &str, timezone: &str, from: &str, count: usize) -> Vec<String> {
        let ticks = Ticks::parse(cron, timezone).expect("a schedule");
        let first = ticks.next(at(from), at(from)).expect("a tick");
        ticks
            .from(first, count)
            .iter()
            .map(|tick| tick.to_string().replace(":00.000Z", ""))
            .collect()
    }

    #[test]
    fn a_cron_expression_ticks_in_its_time_zone() {
        assert_eq!(
            ticks("*/15 * * * *", "UTC", "2026-01-31T12:07:00Z", 2),
            ["2026-01-31T12:15", "2026-01-31T12:30"]
        );
        assert_eq!(
            ticks("0 7 * * MON-FRI", "Europe/Berlin", "2026-01-30T12:00:00Z", 2),
            ["2026-02-02T06:00", "2026-02-03T06:00"]
        );
        assert_eq!(
            ticks("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", 1),
            ["2028-02-29T00:00"]
        );
        assert_eq!(
            ticks("0 0 * * *", "UTC", "2026-01-31T00:00:00Z", 1),
            ["2026-02-01T00:00"],
            "never the same moment twice"
        );
    }

    #[test]
    fn the_hour_that_is_skipped_or_repeated_gives_one_tick_a_day() {
        let spring = ticks("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2);
        assert_eq!(spring.len(), 2);
        assert!(
            spring[0].starts_with("2026-03-29") && spring[1] == "2026-03-30T00:30",
            "{spring:?}"
        );
        let autumn = ticks("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2);
        assert!(
            autumn[0].starts_with("2026-10-25") && autumn[1] == "2026-10-26T01:30",
            "{autumn:?}"
        );
    }

    #[test]
    fn an_interval_ticks_from_when_it_was_set_and_skips_what_was_missed() {
        assert_eq!(
            ticks("every 90 minutes", "UTC", "2026-01-31T12:07:00Z", 2),
            ["2026-01-31T13:37", "2026-01-31T15:07"]
        );
        assert_eq!(
            ticks("every day", "UTC", "2026-01-31T12:07:00Z", 1),
            ["2026-02-01T12:07"]
        );
        let hourly = Ticks::parse("every hour", "UTC").expect("a schedule");
        let next = hourly.next(at("2026-01-31T12:00:00Z"), at("2026-01-31T15:30:00Z"));
        assert_eq!(next, Some(at("2026-01-31T16:00:00Z")));
    }

    #[test]
    fn what_has_no_meaning_is_refused_by_name() {
        for (cron, timezone, path) in [
            ("61 * * * *", "UTC", "schedule.cron"),
            ("* * * 13 *", "UTC", "schedule.cron"),
            ("0 * * * * *", "UTC", "schedule.cron"),
            ("* * * * *", "Europe/Atlantis", "schedule.timezone"),
            ("every 2 hours", "Mars", "schedule.timezone"),
        ] {
            assert_eq!(
                Ticks::parse(cron, timezone).expect_err(cron).path,
                path,
                "{cron} {timezone}"
            );
        }
        let never = Ticks::parse("0 0 30 2 *", "UTC").expect("a schedule");
        assert_eq!(
            never.next(at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z")),
            None
        );
    }

    #[test]
    fn what_is_wrong_with_an_expression_is_told_by_its_field() {
        for (cron, what) in [
            ("61 * * * *", "61 is no minute, which is 0 to 59"),
            ("0 7-25 * * *", "7-25 is no hour, which is 0 to 23"),
            ("0 0 32 13 *", "32 is no day of the month, which is 1 to 31"),
            ("0 0 * 13 *", "13 is no month, which is 1 to 12, or JAN to DEC"),
            (
                "0 0 * * MOO",
                "MOO is no day of the week, which is 0 to 7, or SUN to SAT",
            ),
            ("0 0 * * * *", "it has 5 fields, like */15 * * * *"),
        ] {
            let refused = Ticks::parse(cron, "UTC").expect_err(cron);
            assert_eq!(
                refused.sentence,
                format!("{cron:?} is no cron expression: {what}")
            );
        }
    }
}
