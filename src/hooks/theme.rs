//! System, light or dark, remembered in this browser. `index.html` applies it ahead of the first paint.

use leptos::prelude::*;

use crate::hooks::storage;

const KEY: &str = "hamlet.theme";

/// How the app looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// As the system does.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Scheme {
    /// Every scheme, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn saved() -> Self {
        let saved = storage::get(KEY);
        let named = |scheme: &Self| saved.as_deref() == Some(scheme.as_str());
        Self::ALL.into_iter().find(named).unwrap_or_default()
    }

    fn apply(self) {
        let Some(root) = document().document_element() else {
            return;
        };
        // The tokens' `light-dark()` follows `color-scheme`, which follows this attribute.
        let _ = match self {
            Self::System => root.remove_attribute("data-theme"),
            Self::Light | Self::Dark => root.set_attribute("data-theme", self.as_str()),
        };
    }
}

/// The scheme in force.
#[derive(Clone, Copy)]
pub struct Theme(RwSignal<Scheme>);

impl Default for Theme {
    fn default() -> Self {
        Self::new()
    }
}

impl Theme {
    /// The scheme that was chosen before.
    pub fn new() -> Self {
        Self(RwSignal::new(Scheme::saved()))
    }

    /// The scheme in force; tracked.
    pub fn get(self) -> Scheme {
        self.0.get()
    }

    /// Chooses a scheme and remembers it.
    pub fn set(self, scheme: Scheme) {
        storage::set(KEY, (scheme != Scheme::System).then(|| scheme.as_str()));
        scheme.apply();
        self.0.set(scheme);
    }
}
