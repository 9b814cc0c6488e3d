//! What the palette offers.

use hamlet_models::{BasicVal, Me};

use crate::{components::labels::kind_word, hooks::theme::Scheme, paths};

/// What choosing an entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Goes to this address.
    Go(String),
    /// Changes the colours.
    Theme(Scheme),
    /// Shows the shortcuts.
    Shortcuts,
    /// Signs out.
    SignOut,
}

/// One thing to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) title: String,
    /// What kind of thing it is.
    pub(super) note: String,
    pub(super) act: Act,
}

impl Entry {
    fn new(title: impl Into<String>, note: impl Into<String>, act: Act) -> Self {
        Self {
            title: title.into(),
            note: note.into(),
            act,
        }
    }

    /// A val, by its address.
    pub(super) fn of_val(val: &BasicVal) -> Self {
        let username = val
            .author
            .as_ref()
            .map(|author| author.username.as_str())
            .unwrap_or_default();
        let note = format!("{}, {}", kind_word(val.kind), val.privacy.as_str());
        Self::new(
            format!("{username} / {}", val.name),
            note,
            Act::Go(paths::val(username, val.name.as_str())),
        )
    }

    /// Whether what was typed, in lower case, is in the title.
    pub(super) fn matches(&self, wanted: &str) -> bool {
        wanted
            .split_whitespace()
            .all(|word| self.title.to_lowercase().contains(word))
    }
}

/// The pages and actions for this user, or for nobody, that match what was typed.
pub(super) fn commands(me: Option<&Me>, wanted: &str) -> Vec<Entry> {
    let go = |title: &str, path: String| Entry::new(title, "page", Act::Go(path));
    let mut all = vec![go("Home", paths::home())];
    match me {
        Some(me) => {
            let username = me
                .user
                .username
                .as_ref()
                .map(|name| name.as_str())
                .unwrap_or_default();
            all.extend([
                go("New val", paths::new_val(None)),
                go("Your page", paths::user(username)),
                go("Settings", paths::settings()),
                go("Outbox", paths::outbox()),
            ]);
        }
        None => all.push(go("Sign in", paths::login(None))),
    }
    all.extend([
        Entry::new("Theme: as the system", "action", Act::Theme(Scheme::System)),
        Entry::new("Theme: light", "action", Act::Theme(Scheme::Light)),
        Entry::new("Theme: dark", "action", Act::Theme(Scheme::Dark)),
        Entry::new("Keyboard shortcuts", "action", Act::Shortcuts),
    ]);
    if me.is_some() {
        all.push(Entry::new("Sign out", "action", Act::SignOut));
    }
    all.retain(|entry| entry.matches(wanted));
    all
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    fn titles(wanted: &str) -> Vec<String> {
        commands(None, wanted)
            .into_iter()
            .map(|entry| entry.title)
            .collect()
    }

    #[wasm_bindgen_test]
    fn every_word_that_is_typed_must_be_there() {
        assert_eq!(titles("dark"), ["Theme: dark"]);
        assert_eq!(titles("theme dark"), ["Theme: dark"]);
        assert!(titles("dark home").is_empty());
    }

    #[wasm_bindgen_test]
    fn what_needs_someone_is_not_offered_to_nobody() {
        let all = titles("");
        assert!(all.contains(&"Sign in".to_owned()));
        assert!(!all.contains(&"New val".to_owned()) && !all.contains(&"Sign out".to_owned()));
    }
}
