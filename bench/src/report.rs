//! How figures are printed.

use std::time::Duration;

/// What a ratio is held against.
pub(crate) enum Limit {
    /// At least this much; and the figure to aim at.
    AtLeast(f64, f64),
    /// At most this much; and the figure to aim at.
    AtMost(f64, f64),
}

/// The middle one of some numbers; of an even count the mean of the two.
pub(crate) fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The ratio of each round, then the median of the ratios.
pub(crate) fn median_ratio(ours: &[f64], theirs: &[f64]) -> f64 {
    let ratios: Vec<f64> = ours
        .iter()
        .zip(theirs)
        .map(|(ours, theirs)| ours / theirs)
        .collect();
    median(&ratios)
}

/// The time below which that part (0 to 1) of some sorted times lies, in milliseconds.
pub(crate) fn percentile_ms(sorted: &[Duration], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((last as f64 * part).round() as usize)
        .map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}

/// Prints a heading.
#[expect(clippy::print_stdout, reason = "printing is what this program is for")]
pub(crate) fn heading(text: &str) {
    println!("\n{text}");
}

/// Prints a figure on a line of its own.
#[expect(clippy::print_stdout, reason = "printing is what this program is for")]
pub(crate) fn figure(name: &str, value: f64, unit: &str) {
    println!("  {name:<58} {value:>12.2} {unit}");
}

/// Prints a ratio with what it is held against.
#[expect(clippy::print_stdout, reason = "printing is what this program is for")]
pub(crate) fn ratio(name: &str, value: f64, limit: &Limit) {
    let (word, limit, aim, met, aimed) = match *limit {
        Limit::AtLeast(limit, aim) => ("at least", limit, aim, value >= limit, value >= aim),
        Limit::AtMost(limit, aim) => ("at most", limit, aim, value <= limit, value <= aim),
    };
    let verdict = if aimed {
        "meets the aim"
    } else if met {
        "within the limit"
    } else {
        "FALLS SHORT"
    };
    println!("  {name:<58} {value:>12.2} {word} {limit}, aim {aim}: {verdict}");
}

/// Prints a sentence.
#[expect(clippy::print_stdout, reason = "printing is what this program is for")]
pub(crate) fn note(text: &str) {
    println!("  {text}");
}
