//! Places in a text, and the lines that a link names: `#L20-29`.

use leptos::{prelude::*, web_sys};
use leptos_router::hooks::use_location;
use wasm_bindgen::JsValue;

/// Lines from the first to the last, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The first line.
    pub from: u32,
    /// The last line; the first one again where there is only one.
    pub to: u32,
}

impl LineRange {
    /// Reads `#L20` or `#L20-29`, as [`Self::hash`] writes it.
    pub fn parse(hash: &str) -> Option<Self> {
        let lines = hash.strip_prefix("#L")?;
        let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
        let from: u32 = from.parse().ok().filter(|&line| line > 0)?;
        let to = to.trim_start_matches('L').parse().ok().filter(|&line| line > 0)?;
        Some(Self {
            from: from.min(to),
            to: from.max(to),
        })
    }

    /// The end of an address that names these lines.
    pub fn hash(self) -> String {
        let Self { from, to } = self;
        if from == to {
            format!("#L{from}")
        } else {
            format!("#L{from}-{to}")
        }
    }
}

/// A place in a text, where a cursor can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// A line to mark, and what to say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMark {
    /// Where.
    pub place: Place,
    /// What is wrong there.
    pub message: String,
}

/// The lines that the address names, kept in it when others are chosen.
pub fn use_selected_lines() -> RwSignal<Option<LineRange>> {
    let hash = use_location().hash;
    let lines = RwSignal::new(LineRange::parse(&hash.get_untracked()));
    Effect::new(move |before: Option<String>| {
        let hash = hash.get();
        if before.is_some_and(|before| before != hash) {
            lines.set(LineRange::parse(&hash));
        }
        hash
    });
    Effect::new(move |_| write_hash(lines.get()));
    lines
}

/// Writes lines into the address, in place: a choice of lines is no step to go back from.
fn write_hash(lines: Option<LineRange>) {
    let window = window();
    let hash = window.location().hash().unwrap_or_default();
    // A hash that names no lines belongs to someone else.
    if LineRange::parse(&hash) == lines {
        return;
    }
    let address = match lines {
        Some(lines) => lines.hash(),
        None => {
            let location = window.location();
            format!(
                "{}{}",
                location.pathname().unwrap_or_default(),
                location.search().unwrap_or_default()
            )
        }
    };
    let written = window.history().and_then(|history: web_sys::History| {
        let state = history.state().unwrap_or(JsValue::NULL);
        history.replace_state_with_url(&state, "", Some(&address))
    });
    if let Err(error) = written {
        leptos::logging::warn!("the address could not be changed: {error:?}");
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn lines_survive_the_address() {
        for (hash, from, to) in [("#L1", 1, 1), ("#L20-29", 20, 29)] {
            let lines = LineRange { from, to };
            assert_eq!(LineRange::parse(hash), Some(lines));
            assert_eq!(lines.hash(), hash);
        }
    }

    #[wasm_bindgen_test]
    fn other_ways_of_writing_lines_are_read_too() {
        assert_eq!(LineRange::parse("#L29-20"), Some(LineRange { from: 20, to: 29 }));
        assert_eq!(LineRange::parse("#L20-L29"), Some(LineRange { from: 20, to: 29 }));
    }

    #[wasm_bindgen_test]
    fn what_names_no_lines_is_left_alone() {
        for hash in ["", "#", "#L", "#L0", "#Lx", "#readme", "#L1-", "L1"] {
            assert_eq!(LineRange::parse(hash), None, "{hash}");
        }
    }
}
