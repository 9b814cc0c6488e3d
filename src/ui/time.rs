//! Times and durations in words.

use leptos::prelude::*;

use crate::hooks::clock::{self, Clock};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How far a time is from another in words, both in milliseconds: `2 min ago`, `in 3 h`; a date beyond 30 days.
pub fn relative(at: i64, now: i64) -> String {
    let distance = (now - at).abs();
    let words = match distance {
        0..SECOND => return "now".to_owned(),
        SECOND..MINUTE => format!("{} s", distance / SECOND),
        MINUTE..HOUR => format!("{} min", distance / MINUTE),
        HOUR..DAY => format!("{} h", distance / HOUR),
        _ if distance < 2 * DAY => "1 day".to_owned(),
        _ if distance < 30 * DAY => format!("{} days", distance / DAY),
        _ => return format!("on {}", date(at)),
    };
    if at > now {
        format!("in {words}")
    } else {
        format!("{words} ago")
    }
}

/// The day in the reader's time zone, as `2026-01-31`.
fn date(at: i64) -> String {
    let date = local(at);
    format!(
        "{}-{:02}-{:02}",
        date.get_full_year(),
        date.get_month() + 1,
        date.get_date()
    )
}

/// The time in the reader's time zone to the minute, as `2026-01-31 13:00`.
pub fn to_the_minute(at: i64) -> String {
    let time = local(at);
    format!("{} {:02}:{:02}", date(at), time.get_hours(), time.get_minutes())
}

/// The time in the reader's time zone to the millisecond, as `2026-01-31 13:00:00.000 UTC+01:00`.
pub fn exact(at: i64) -> String {
    let time = local(at);
    // Minutes from here to UTC: negative in the east.
    #[expect(clippy::cast_possible_truncation, reason = "a few hundred minutes")]
    let offset = -(time.get_timezone_offset() as i32);
    format!(
        "{} {:02}:{:02}:{:02}.{:03} UTC{}{:02}:{:02}",
        date(at),
        time.get_hours(),
        time.get_minutes(),
        time.get_seconds(),
        time.get_milliseconds(),
        if offset < 0 { '−' } else { '+' },
        offset.abs() / 60,
        offset.abs() % 60,
    )
}

fn local(at: i64) -> js_sys::Date {
    js_sys::Date::new(&wasm_bindgen::JsValue::from_f64(at as f64))
}

/// The time as a machine reads it.
fn machine(at: i64) -> String {
    local(at).to_iso_string().into()
}

/// A duration in milliseconds, as `0.4 ms`, `132 ms`, `4.21 s` or `2 min 5 s`.
pub fn duration(ms: f64) -> String {
    // Each bound is where rounding would reach the next unit.
    match ms {
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms if ms < 9_995.0 => format!("{:.2} s", ms / 1_000.0),
        ms if ms < 59_950.0 => format!("{:.1} s", ms / 1_000.0),
        ms => {
            let seconds = (ms / 1_000.0).round();
            format!("{} min {} s", (seconds / 60.0).floor(), seconds % 60.0)
        }
    }
}

/// A time in words, kept true, with the exact one on hover.
#[component]
pub fn RelativeTime(
    /// The time in milliseconds since 1970.
    at: i64,
) -> AnyView {
    let now = use_context::<Clock>();
    // The shared clock may be a tick behind: nothing that has just happened lies ahead.
    let words = move || {
        let shared = now.map_or_else(clock::now, Clock::get);
        relative(at, shared.max(at.min(clock::now())))
    };
    view! {
        <time datetime=machine(at) title=exact(at)>
            {words}
        </time>
    }
    .into_any()
}
