//! Which lines of a log are shown.

use std::{ops::Range, sync::Arc};

use hamlet_models::{LogLevel, LogLine};

/// Which lines of a log are shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogFilter {
    /// Lines of this level and louder ones.
    pub level: LogLevel,
    /// Lines that have this text, without regard to the case of ASCII letters; empty means every line.
    pub search: String,
}

impl Default for LogFilter {
    fn default() -> Self {
        Self {
            level: LogLevel::Debug,
            search: String::new(),
        }
    }
}

impl LogFilter {
    /// The positions of the lines that are shown.
    pub fn matching(&self, lines: &[LogLine]) -> Arc<Vec<u32>> {
        let needle = self.search.to_ascii_lowercase();
        let matching = lines
            .iter()
            .zip(0..)
            .filter(|(line, _)| loudness(line.level) >= loudness(self.level))
            .filter(|(line, _)| needle.is_empty() || line.message.to_ascii_lowercase().contains(&needle))
            .map(|(_, index)| index);
        Arc::new(matching.collect())
    }

    /// Where the searched text stands in a message.
    pub(super) fn found(&self, message: &str) -> Vec<Range<usize>> {
        if self.search.is_empty() {
            return Vec::new();
        }
        // Lowering ASCII letters alone keeps every position.
        let needle = self.search.to_ascii_lowercase();
        let haystack = message.to_ascii_lowercase();
        haystack
            .match_indices(&needle)
            .map(|(start, _)| start..start + needle.len())
            .collect()
    }
}

/// How many lines are of this level or louder.
pub(super) fn count_from(lines: &[LogLine], level: LogLevel) -> usize {
    lines
        .iter()
        .filter(|line| loudness(line.level) >= loudness(level))
        .count()
}

/// A level's place from quiet to loud.
fn loudness(level: LogLevel) -> u8 {
    match level {
        LogLevel::Debug => 0,
        LogLevel::Info => 1,
        LogLevel::Warn => 2,
        LogLevel::Error => 3,
    }
}
