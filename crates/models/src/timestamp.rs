//! Points in time as the wire writes them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use time::{OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};
use utoipa::ToSchema;

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z; RFC 3339 in UTC with milliseconds on the wire
/// (`2026-01-31T12:00:00.000Z`). Any RFC 3339 offset is accepted when read; digits below a millisecond are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, format = DateTime, examples("2026-01-31T12:00:00.000Z"))]
pub struct Timestamp(i64);

/// The text isn't a time as RFC 3339 writes it, between the years 0 and 9999.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a time is written like 2026-01-31T12:00:00.000Z")]
pub struct InvalidTimestamp;

/// 0000-01-01T00:00:00Z, the first time that RFC 3339 can write.
const EARLIEST_MS: i64 = -62_167_219_200_000;
/// 9999-12-31T23:59:59.999Z, the last one.
const LATEST_MS: i64 = 253_402_300_799_999;

impl Timestamp {
    /// The time that many milliseconds after 1970-01-01T00:00:00Z; times that RFC 3339 can't write become the
    /// nearest one that it can.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(EARLIEST_MS, LATEST_MS))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn as_millis(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .map_err(|_| fmt::Error)?;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        // Every line that is recorded has its time: a description of the form, read each time, took a fifth of that work.
        let mut put = |last: usize, digits: usize, mut number: u32| {
            for digit in text[..=last].iter_mut().rev().take(digits) {
                *digit = b'0' + (number % 10) as u8;
                number /= 10;
            }
        };
        put(3, 4, time.year().unsigned_abs());
        put(6, 2, u8::from(time.month()).into());
        put(9, 2, time.day().into());
        put(12, 2, time.hour().into());
        put(15, 2, time.minute().into());
        put(18, 2, time.second().into());
        put(22, 3, time.millisecond().into());
        let text = std::str::from_utf8(&text).map_err(|_| fmt::Error)?;
        f.write_str(text)
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let time = OffsetDateTime::parse(text, &Rfc3339)
            .map_err(|_| InvalidTimestamp)?
            .to_offset(UtcOffset::UTC);
        let millis = time.unix_timestamp_nanos().div_euclid(1_000_000);
        i64::try_from(millis)
            .ok()
            .filter(|millis| (EARLIEST_MS..=LATEST_MS).contains(millis))
            .map(Self)
            .ok_or(InvalidTimestamp)
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_utc_with_milliseconds() {
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            Timestamp::from_millis(1_769_860_800_007).to_string(),
            "2026-01-31T12:00:00.007Z"
        );
    }

    #[test]
    fn an_offset_is_read_and_small_digits_are_dropped() {
        let time: Timestamp = "2026-01-31T13:00:00.0079+01:00".parse().expect("a time");
        assert_eq!(time, Timestamp::from_millis(1_769_860_800_007));
    }

    #[test]
    fn every_time_that_can_be_written_can_be_read_again() {
        for millis in [EARLIEST_MS, -1, 0, 1, LATEST_MS] {
            let time = Timestamp::from_millis(millis);
            assert_eq!(time.to_string().parse(), Ok(time), "{millis}");
        }
        assert_eq!(Timestamp::from_millis(i64::MAX).as_millis(), LATEST_MS);
        assert_eq!(Timestamp::from_millis(i64::MIN).as_millis(), EARLIEST_MS);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2026-01-31",
            "yesterday",
            "2026-13-01T00:00:00Z",
            "1769860800007",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(InvalidTimestamp), "{text}");
        }
    }
}
