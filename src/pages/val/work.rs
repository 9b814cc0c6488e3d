//! What is being written of a val, how it stands against what is saved, and saving it.

use hamlet_models::{ExtendedVal, NewVersion, Problem, ProblemCode, VersionNumber};
use leptos::prelude::*;

use super::draft::{Draft, code_key, use_draft};
use crate::{
    api::{ApiClient, error::ClientError},
    components::save_status::SaveState,
    hooks::connection::on_restored,
};

/// A val under someone's hands; a handle that is copied freely.
#[derive(Clone, Copy)]
pub struct Work {
    api: ApiClient,
    /// The val as it is saved, as far as this page knows.
    pub val: RwSignal<ExtendedVal>,
    /// What is written.
    pub code: RwSignal<String>,
    /// The version that what is written began on.
    pub base: RwSignal<VersionNumber>,
    /// The draft that was found when the page was opened, until it is discarded or saved.
    pub restored: RwSignal<Option<Draft>>,
    /// The val as it is elsewhere, after a save that met a newer version.
    pub newer: RwSignal<Option<ExtendedVal>>,
    last: RwSignal<Last>,
}

/// What became of the last save.
#[derive(Clone, PartialEq)]
enum Last {
    /// It went well, or there was none.
    Well,
    /// It goes on.
    Going,
    /// It failed.
    Failed(ClientError),
}

impl Work {
    /// Opens a val; its owner goes on with the draft, if this browser kept one.
    pub fn open(api: ApiClient, val: ExtendedVal, owner: bool) -> Self {
        let saved = val.code.clone().unwrap_or_default();
        let draft = owner.then(|| Draft::load(&code_key(val.id), &saved)).flatten();
        Self {
            api,
            code: RwSignal::new(draft.as_ref().map_or(saved, |draft| draft.text.clone())),
            base: RwSignal::new(draft.as_ref().map_or(val.version, |draft| draft.base)),
            restored: RwSignal::new(draft),
            newer: RwSignal::new(None),
            last: RwSignal::new(Last::Well),
            val: RwSignal::new(val),
        }
    }

    /// Keeps what isn't saved in this browser; says whether that works.
    pub fn keep_draft(self) -> Signal<bool> {
        let key = code_key(self.val.with_untracked(|val| val.id));
        use_draft(key, self.code, self.base.into(), self.unsaved())
    }

    /// Saves by itself what could not be saved for want of a server, once that is back.
    pub fn save_when_restored(self, save: Callback<()>) {
        on_restored(move || {
            if self.last.get_untracked() == Last::Failed(ClientError::Offline) {
                save.run(());
            }
        });
    }

    /// Whether what is written differs from what is saved; tracked.
    pub fn unsaved(self) -> Signal<bool> {
        let unsaved = Memo::new(move |_| {
            self.val.with(|val| {
                self.code
                    .with(|code| val.code.as_deref().unwrap_or_default() != code)
            })
        });
        unsaved.into()
    }

    /// How what is written stands against what is saved.
    pub fn state(self) -> Signal<SaveState> {
        let unsaved = self.unsaved();
        let state = Memo::new(move |_| match self.last.get() {
            Last::Going => SaveState::Saving,
            _ if !unsaved.get() => SaveState::Saved,
            Last::Well => SaveState::Unsaved,
            Last::Failed(error) => match self.newer.with(|newer| newer.as_ref().map(|newer| newer.version)) {
                Some(newer) => SaveState::Outdated(newer),
                None => failed(&error),
            },
        });
        state.into()
    }

    /// Saves what is written as a version; says whether all that is written is saved now.
    pub async fn save(self) -> bool {
        let code = self.code.get_untracked();
        let (id, same) = self
            .val
            .with_untracked(|val| (val.id, val.code.as_ref() == Some(&code)));
        if same || self.last.get_untracked() == Last::Going {
            return same;
        }
        let version = NewVersion::of_code(code.as_str());
        if let Some((_, problem)) = version.problems().first() {
            let problem = Problem::new(ProblemCode::Invalid, *problem);
            self.last.set(Last::Failed(ClientError::Refused {
                status: problem.code.status(),
                problem,
            }));
            return false;
        }
        self.last.set(Last::Going);
        let answer = self
            .api
            .create_version(id, &version, Some(self.base.get_untracked()))
            .await;
        // The page may be gone by now; what was written is saved, or kept as a draft.
        if self.last.try_get_untracked().is_none() {
            return false;
        }
        match answer {
            Ok(saved) => {
                self.restored.set(None);
                self.newer.set(None);
                self.base.set(saved.val.version);
                self.val.set(saved.val);
                self.last.set(Last::Well);
                self.code.with_untracked(|now| *now == code)
            }
            Err(error) => {
                if error.code() == Some(ProblemCode::VersionMismatch) {
                    self.look_for_newer().await;
                }
                if self.last.try_get_untracked().is_some() {
                    self.last.set(Last::Failed(error));
                }
                false
            }
        }
    }

    async fn look_for_newer(self) {
        let id = self.val.with_untracked(|val| val.id);
        match self.api.get_val(id).await {
            Ok(newer) => drop(self.newer.try_set(Some(newer))),
            Err(error) => leptos::logging::warn!("the newer version can't be read: {error}"),
        }
    }

    /// Goes on with what is written, on top of the newer version: the next save is of that one's successor.
    pub fn keep_mine(self) {
        if let Some(newer) = self.newer.get_untracked() {
            self.base.set(newer.version);
            self.val.set(newer);
            self.newer.set(None);
            self.last.set(Last::Well);
        }
    }

    /// Goes on with the newer version; undo in the editor brings back what was written.
    pub fn take_theirs(self) {
        if let Some(newer) = self.newer.get_untracked() {
            self.code.set(newer.code.clone().unwrap_or_default());
            self.restored.set(None);
            self.keep_mine();
        }
    }

    /// Goes back to what is saved.
    pub fn discard(self) {
        let (code, version) = self
            .val
            .with_untracked(|val| (val.code.clone().unwrap_or_default(), val.version));
        self.code.set(code);
        self.base.set(version);
        self.restored.set(None);
        self.newer.set(None);
        self.last.set(Last::Well);
    }
}

fn failed(error: &ClientError) -> SaveState {
    match error {
        error if error.is_offline() => SaveState::Unreachable,
        error if error.is_signed_out() => SaveState::SignedOut,
        error => SaveState::Refused(error.sentence()),
    }
}
