//! What an address asks of a list of runs.

use hamlet_models::{RunFilter, RunStatus, Timestamp, Trigger, VersionNumber};
use wasm_bindgen::JsValue;

use crate::components::status_dot::status_word;

/// The spans of time that have a word: `?last=hour`; each with its length in milliseconds.
pub(super) const SPANS: [(&str, i64); 3] = [("hour", 3_600_000), ("day", 86_400_000), ("week", 604_800_000)];

/// What an address asks of a list of runs; what it doesn't understand it leaves out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunsQuery {
    /// How the runs stand: `?status=`.
    pub status: Option<StatusChoice>,
    /// What started them: `?trigger=`.
    pub trigger: Option<Trigger>,
    /// Which version ran: `?version=`.
    pub version: Option<VersionNumber>,
    /// When they began: `?last=`, or `?since=` and `?until=`.
    pub period: Option<Period>,
}

/// How the runs of a list stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusChoice {
    /// They failed, in whatever way.
    Failed,
    /// They stand so.
    Is(RunStatus),
}

impl StatusChoice {
    /// The word in the address.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Is(status) => status.as_str(),
        }
    }

    /// The word for a person.
    pub fn word(self) -> &'static str {
        match self {
            Self::Failed => "not ok",
            Self::Is(status) => status_word(status),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let status = RunStatus::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
            .map(Self::Is);
        if text == Self::Failed.as_str() {
            Some(Self::Failed)
        } else {
            status
        }
    }
}

/// When the runs of a list began.
#[derive(Clone, Debug, PartialEq)]
pub enum Period {
    /// Within the last hour, day or week: a span's place in the list of them.
    Last(usize),
    /// From one time to another.
    Between {
        /// At this time or later.
        since: Option<Timestamp>,
        /// Before this time.
        until: Option<Timestamp>,
    },
}

impl Period {
    /// The words for a person.
    pub fn word(&self) -> String {
        match self {
            Self::Last(span) => format!("last {}", SPANS[*span].0),
            Self::Between {
                since: Some(since),
                until: None,
            } => format!("since {}", short(*since)),
            Self::Between {
                since: None,
                until: Some(until),
            } => format!("until {}", short(*until)),
            Self::Between { since, until } => {
                format!(
                    "{} to {}",
                    since.map(short).unwrap_or_default(),
                    until.map(short).unwrap_or_default()
                )
            }
        }
    }

    fn read(get: &impl Fn(&str) -> Option<String>) -> Option<Self> {
        let last = get("last").and_then(|last| SPANS.iter().position(|(word, _)| *word == last));
        let time = |name: &str| get(name).and_then(|time| time.parse::<Timestamp>().ok());
        match (last, time("since"), time("until")) {
            (Some(span), ..) => Some(Self::Last(span)),
            (None, None, None) => None,
            (None, since, until) => Some(Self::Between { since, until }),
        }
    }
}

impl RunsQuery {
    /// Reads an address' query, whose values `get` gives.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            status: get("status").and_then(|status| StatusChoice::read(&status)),
            trigger: get("trigger")
                .and_then(|word| Trigger::ALL.into_iter().find(|trigger| trigger.as_str() == word)),
            version: get("version").and_then(|version| version.parse().ok()),
            period: Period::read(&get),
        }
    }

    /// What to ask the server for at this time, in milliseconds since 1970.
    pub fn filter(&self, now: i64) -> RunFilter {
        let (since, until) = match &self.period {
            None => (None, None),
            Some(Period::Last(span)) => (Some(Timestamp::from_millis(now - SPANS[*span].1)), None),
            Some(Period::Between { since, until }) => (*since, *until),
        };
        let (status, error) = match self.status {
            None => (None, None),
            Some(StatusChoice::Failed) => (None, Some(true)),
            Some(StatusChoice::Is(status)) => (Some(status), None),
        };
        RunFilter {
            status,
            trigger: self.trigger,
            version: self.version,
            since,
            until,
            error,
        }
    }
}

fn local(time: Timestamp) -> js_sys::Date {
    js_sys::Date::new(&JsValue::from_f64(time.as_millis() as f64))
}

/// A time to the minute in the reader's time zone, as `2026-01-31 13:00`.
fn short(time: Timestamp) -> String {
    local_input(Some(time)).replace('T', " ")
}

/// A time as an input of the type `datetime-local` has it, in the reader's time zone; empty for none.
pub(super) fn local_input(time: Option<Timestamp>) -> String {
    let Some(time) = time.map(local) else {
        return String::new();
    };
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}",
        time.get_full_year(),
        time.get_month() + 1,
        time.get_date(),
        time.get_hours(),
        time.get_minutes(),
    )
}

/// The time that such an input names.
pub(super) fn local_time(input: &str) -> Option<Timestamp> {
    let millis = js_sys::Date::new(&JsValue::from_str(input)).get_time();
    millis.is_finite().then(|| Timestamp::from_millis(millis as i64))
}
