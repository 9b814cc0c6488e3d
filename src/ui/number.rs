//! Amounts in words.

/// A number with its thousands apart, as `12,034`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, as `1 line` or `12,034 lines`.
pub fn plural(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// A size in bytes, as `812 B`, `4.2 kB` or `31.0 MB`.
pub fn bytes(size: u64) -> String {
    const KB: f64 = 1_000.0;
    match size as f64 {
        size if size < KB => format!("{size:.0} B"),
        size if size < KB * KB => format!("{:.1} kB", size / KB),
        size => format!("{:.1} MB", size / KB / KB),
    }
}
