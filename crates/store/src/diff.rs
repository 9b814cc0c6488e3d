//! How much a save changed.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// How long to look for the smallest difference; after that a larger one will do.
const PATIENCE: Duration = Duration::from_millis(50);
/// Texts of more bytes than this in all are compared off the threads that serve requests.
const LARGE: usize = 32_000;

/// Lines that a version has and the one before it had not, and the other way round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// The lines of a first version.
pub(crate) fn all_lines(code: &str) -> Lines {
    Lines {
        added: code.split_inclusive('\n').count(),
        removed: 0,
    }
}

/// The lines that differ.
pub(crate) fn changed_lines(old: &str, new: &str) -> Lines {
    let old: Vec<_> = old.split_inclusive('\n').collect();
    let new: Vec<_> = new.split_inclusive('\n').collect();
    let deadline = Instant::now() + PATIENCE;
    let mut lines = Lines::default();
    for step in capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline)) {
        if !matches!(step, DiffOp::Equal { .. }) {
            lines.added += step.new_range().len();
            lines.removed += step.old_range().len();
        }
    }
    lines
}

/// As [`changed_lines`], without holding up other tasks for long.
pub(crate) async fn changed_lines_aside(old: &str, new: &str) -> Lines {
    if old.len() + new.len() <= LARGE {
        return changed_lines(old, new);
    }
    let (old_text, new_text) = (old.to_owned(), new.to_owned());
    let counted = tokio::task::spawn_blocking(move || changed_lines(&old_text, &new_text)).await;
    // It only fails while the process ends, when nobody will see the figures.
    counted.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_a_comparison_shows_them() {
        for (old, new, added, removed) in [
            ("a\nb\nc\n", "a\nb\nc\n", 0, 0),
            ("a\nb\nc\n", "a\nx\nc\n", 1, 1),
            ("a\n", "a\nb\nc\n", 2, 0),
            ("a\nb\n", "", 0, 2),
            ("a", "a\n", 1, 1),
        ] {
            assert_eq!(
                changed_lines(old, new),
                Lines { added, removed },
                "{old:?} to {new:?}"
            );
        }
        assert_eq!(all_lines("a\nb").added, 2);
    }

    #[test]
    fn texts_with_nothing_in_common_are_compared_in_bounded_time() {
        let text = |word: &str| {
            (0..60_000)
                .map(|n| format!("{word}{}\n", n * 7 % 1_000))
                .collect::<String>()
        };
        let begun = Instant::now();
        let lines = changed_lines(&text("a"), &text("b"));
        assert_eq!(
            lines,
            Lines {
                added: 60_000,
                removed: 60_000
            }
        );
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}
