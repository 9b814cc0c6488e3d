//! A schedule in words.

use std::fmt::Write;

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A schedule in words, as `Every day at 07:00, Europe/Berlin`; `None` for an expression that has no short ones.
pub fn schedule_words(cron: &str, timezone: &str) -> Option<String> {
    let fields: Vec<&str> = cron.split_whitespace().collect();
    if fields.first() == Some(&"every") {
        return Some(format!("E{}", &fields.join(" ")[1..]));
    }
    let [minute, hour, day, month, weekday] = fields.as_slice() else {
        return None;
    };
    let any = |field: &&str| matches!(*field, "*" | "?");
    if any(hour) || hour.starts_with("*/") {
        let all_days = any(day) && any(month) && any(weekday);
        return all_days.then(|| within_days(minute, hour)).flatten();
    }
    let (minute, hour) = (number(minute, 0, 59)?, number(hour, 0, 23)?);
    let days = match (any(day), any(month), any(weekday)) {
        (true, true, true) => "Every day".to_owned(),
        (true, true, false) => days_of_week(weekday)?,
        (false, true, true) => format!("On day {} of every month", number(day, 1, 31)?),
        (false, false, true) => {
            let month = name(month, &MONTHS, 1)?;
            format!("Every {} {}", MONTHS[month], number(day, 1, 31)?)
        }
        _ => return None,
    };
    Some(format!("{days} at {hour:02}:{minute:02}, {timezone}"))
}

/// Several times a day, by hours and minutes.
fn within_days(minute: &str, hour: &str) -> Option<String> {
    let every = |field: &str, most: usize| number(field.strip_prefix("*/")?, 1, most);
    if hour == "*" || hour == "?" {
        return match (minute, every(minute, 59)) {
            ("*", _) | (_, Some(1)) => Some("Every minute".to_owned()),
            (_, Some(step)) if 60 % step == 0 => Some(format!("Every {step} minutes")),
            // The last pause of each hour is shorter.
            (_, Some(step)) => Some(format!("Every {step} minutes from the full hour on")),
            _ => match number(minute, 0, 59)? {
                0 => Some("Every hour, on the hour".to_owned()),
                minute => Some(format!("Every hour at minute {minute}")),
            },
        };
    }
    let (minute, step) = (number(minute, 0, 59)?, every(hour, 23)?);
    let mut words = match step {
        1 => "Every hour".to_owned(),
        step if 24 % step == 0 => format!("Every {step} hours"),
        _ => return None,
    };
    if minute > 0 {
        let _ = write!(words, " at minute {minute}");
    }
    Some(words)
}

/// The days of a week: one, a range, or several.
fn days_of_week(field: &str) -> Option<String> {
    // Both 0 and 7 are Sunday.
    let day = |text: &str| name(text, &DAYS, 0).or_else(|| (text == "7").then_some(0));
    if let Some((first, last)) = field.split_once('-') {
        return Some(format!("{} to {}", DAYS[day(first)?], DAYS[day(last)?]));
    }
    let days = field
        .split(',')
        .map(|text| day(text).map(|day| DAYS[day]))
        .collect::<Option<Vec<_>>>()?;
    Some(format!("Every {}", days.join(", ")))
}

/// Which of these a field names, by its first three letters or its number, counted from `first`.
fn name(text: &str, names: &[&str], first: usize) -> Option<usize> {
    let by_name = names
        .iter()
        .position(|name| text.len() == 3 && name[..3].eq_ignore_ascii_case(text));
    by_name.or_else(|| number(text, first, first + names.len() - 1).map(|number| number - first))
}

fn number(text: &str, least: usize, most: usize) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits)?;
    (least..=most).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn common_schedules_have_words() {
        for (cron, words) in [
            ("every 15 minutes", "Every 15 minutes"),
            ("every hour", "Every hour"),
            ("* * * * *", "Every minute"),
            ("*/15 * * * *", "Every 15 minutes"),
            ("*/7 * * * *", "Every 7 minutes from the full hour on"),
            ("0 * * * *", "Every hour, on the hour"),
            ("5 * * * *", "Every hour at minute 5"),
            ("0 */6 * * *", "Every 6 hours"),
            ("30 */6 * * *", "Every 6 hours at minute 30"),
            ("0 7 * * *", "Every day at 07:00, Europe/Berlin"),
            ("5 17 * * 1-5", "Monday to Friday at 17:05, Europe/Berlin"),
            (
                "0 9 ? * MON,thu",
                "Every Monday, Thursday at 09:00, Europe/Berlin",
            ),
            ("0 9 * * 7", "Every Sunday at 09:00, Europe/Berlin"),
            ("0 9 1 * *", "On day 1 of every month at 09:00, Europe/Berlin"),
            ("0 0 24 DEC *", "Every December 24 at 00:00, Europe/Berlin"),
        ] {
            assert_eq!(
                schedule_words(cron, "Europe/Berlin").as_deref(),
                Some(words),
                "{cron}"
            );
        }
    }

    #[wasm_bindgen_test]
    fn others_have_none() {
        for cron in [
            "",
            "0 7 * *",
            "0 */7 * * *",
            "0 7 1 * MON",
            "61 7 * * *",
            "0,30 7 * * *",
            "0 7 * * MON#1",
            "0 7 L * *",
            "+1 7 * * *",
        ] {
            assert_eq!(schedule_words(cron, "UTC"), None, "{cron}");
        }
    }
}
