//! What was written and not saved, kept in this browser: it survives a reload, a crash and signing out.

use std::time::Duration;

use hamlet_models::{ValId, VersionNumber};
use leptos::{ev, prelude::*};
use serde::{Deserialize, Serialize};

use crate::hooks::{clock, storage};

/// A text up to this many bytes is kept at each key press: that costs less than drawing it.
const AT_ONCE_BYTES: usize = 20_000;
/// How long after the last key press a longer text is kept.
const PAUSE: Duration = Duration::from_millis(300);

/// A text that isn't saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The text.
    pub text: String,
    /// The version that it began on.
    pub base: VersionNumber,
    /// When it was kept, in milliseconds since 1970.
    pub at: i64,
}

/// Where the draft of a val's code is kept.
pub fn code_key(val: ValId) -> String {
    format!("hamlet.draft.{val}")
}

/// Where the draft of a val's readme is kept.
pub fn readme_key(val: ValId) -> String {
    format!("hamlet.draft.readme.{val}")
}

impl Draft {
    /// The draft that is kept under this key, if there is one that differs from what is saved.
    pub fn load(key: &str, saved: &str) -> Option<Self> {
        let draft: Self = serde_json::from_str(&storage::get(key)?).ok()?;
        if draft.text == saved {
            storage::set(key, None);
            return None;
        }
        Some(draft)
    }
}

/// Keeps `text` under this key while `unsaved` holds, and forgets it when it no longer does. The answer says whether
/// this browser could keep it.
pub fn use_draft(
    key: String,
    text: RwSignal<String>,
    base: Signal<VersionNumber>,
    unsaved: Signal<bool>,
) -> Signal<bool> {
    let kept = RwSignal::new(true);
    let keep = move || {
        // The page may be on its way out: nothing is tracked, and what is gone is left alone.
        let Some(unsaved) = unsaved.try_get_untracked() else {
            return;
        };
        let draft = unsaved.then(|| Draft {
            text: text.get_untracked(),
            base: base.get_untracked(),
            at: clock::now(),
        });
        let draft = draft.and_then(|draft| serde_json::to_string(&draft).ok());
        let done = storage::set(&key, draft.as_deref());
        if kept.get_untracked() != (done || draft.is_none()) {
            kept.set(done || draft.is_none());
        }
    };
    let later = keep.clone();
    Effect::new(move |waiting: Option<Option<TimeoutHandle>>| {
        text.track();
        base.track();
        if let Some(Some(waiting)) = waiting {
            waiting.clear();
        }
        if !unsaved.get() || text.with_untracked(String::len) <= AT_ONCE_BYTES {
            later();
            return None;
        }
        set_timeout_with_handle(later.clone(), PAUSE).ok()
    });
    let hidden = keep.clone();
    let leaving = window_event_listener(ev::pagehide, move |_| hidden());
    on_cleanup(move || {
        leaving.remove();
        keep();
    });
    kept.into()
}
