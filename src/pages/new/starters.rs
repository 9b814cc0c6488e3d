//! What a new val begins with: small programs that run as they are.

use hamlet_models::ValKind;

/// A program to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starter {
    /// Its word in the address: `/new?starter=page`.
    pub key: &'static str,
    /// The kind of val that it is.
    pub kind: ValKind,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What starts it.
    pub summary: &'static str,
    /// The program.
    pub code: &'static str,
}

/// Every starter, in the order of the kinds.
pub const STARTERS: [Starter; 4] = [
    Starter {
        key: "script",
        kind: ValKind::Script,
        title: "Script",
        summary: "You run it, or a program calls it.",
        code: include_str!("starters/script.ts"),
    },
    Starter {
        key: "page",
        kind: ValKind::Http,
        title: "Page or API",
        summary: "It answers requests at an address of its own.",
        code: include_str!("starters/page.ts"),
    },
    Starter {
        key: "cron",
        kind: ValKind::Interval,
        title: "Cron",
        summary: "It runs on a schedule.",
        code: include_str!("starters/cron.ts"),
    },
    Starter {
        key: "mail",
        kind: ValKind::Email,
        title: "Mail robot",
        summary: "It reads messages to its address.",
        code: include_str!("starters/mail.ts"),
    },
];

/// The starter of this word; the first one if there is none.
pub fn starter_of(key: Option<&str>) -> Starter {
    let named = STARTERS.into_iter().find(|starter| Some(starter.key) == key);
    named.unwrap_or(STARTERS[0])
}

/// Whether a text is a starter as it is, so that nothing is lost when another takes its place.
pub fn is_untouched(code: &str) -> bool {
    code.trim().is_empty() || STARTERS.iter().any(|starter| starter.code == code)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn each_kind_has_one_starter() {
        assert_eq!(STARTERS.map(|starter| starter.kind), ValKind::ALL);
        for starter in STARTERS {
            assert_eq!(starter_of(Some(starter.key)), starter);
            assert!(
                starter.code.contains("export default"),
                "{} has no handler",
                starter.key
            );
        }
    }

    #[wasm_bindgen_test]
    fn an_unknown_word_begins_with_a_script() {
        assert_eq!(starter_of(None).kind, ValKind::Script);
        assert_eq!(starter_of(Some("spaceship")).kind, ValKind::Script);
    }

    #[wasm_bindgen_test]
    fn what_someone_wrote_is_not_a_starter() {
        assert!(is_untouched(STARTERS[1].code) && is_untouched(" \n"));
        assert!(!is_untouched("export default 1;"));
    }
}
