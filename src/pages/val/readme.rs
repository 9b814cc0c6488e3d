//! A val's readme on its page: rendered by the server, written by its owner.

use hamlet_models::{ExtendedVal, Markdown, README_MAX_CHARS, ValUpdate};
use leptos::{prelude::*, task::spawn_local};

use super::draft::{Draft, readme_key, use_draft};
use crate::{
    api::{ApiClient, error::ClientError},
    components::readme::{Readme, ReadmeState},
    hooks::fetched::Fetched,
};

/// The readme of a val. What its owner writes is kept in this browser until it is saved.
#[component]
pub fn ValReadme(
    /// The val.
    val: RwSignal<ExtendedVal>,
    /// Whether the one who looks owns it.
    owner: Memo<bool>,
) -> AnyView {
    let api = expect_context::<ApiClient>();
    let readme = Memo::new(move |_| {
        val.with(|val| val.readme.clone())
            .filter(|readme| !readme.trim().is_empty())
    });
    let rendered = Fetched::new(move || {
        let readme = readme.get();
        async move {
            match readme {
                Some(markdown) => api.render_markdown(&Markdown { markdown }).await.map(Some),
                None => Ok(None),
            }
        }
    });
    let state = Signal::derive(move || match (readme.get(), rendered.get()) {
        (None, _) => ReadmeState::None,
        (Some(_), None | Some(Ok(None))) => ReadmeState::Rendering,
        (Some(_), Some(Ok(Some(rendered)))) => ReadmeState::Rendered(rendered.html),
        (Some(markdown), Some(Err(_))) => ReadmeState::Plain(markdown),
    });

    let (id, version) = val.with_untracked(|val| (val.id, val.version));
    let saved = Signal::derive(move || readme.get().unwrap_or_default());
    let key = readme_key(id);
    let found = owner
        .get_untracked()
        .then(|| Draft::load(&key, &saved.get_untracked()))
        .flatten();
    let editing = RwSignal::new(found.is_some());
    let draft = RwSignal::new(found.map_or_else(|| saved.get_untracked(), |draft| draft.text));
    if owner.get_untracked() {
        let unsaved = Memo::new(move |_| editing.get() && draft.get() != saved.get());
        use_draft(key, draft, Signal::stored(version), unsaved.into());
    }

    let saving = RwSignal::new(false);
    let error = RwSignal::new(None::<String>);
    let on_save = Callback::new(move |()| {
        let text = draft.get_untracked();
        if text.chars().count() > README_MAX_CHARS {
            return error.set(Some("A readme has at most 64,000 characters.".to_owned()));
        }
        saving.set(true);
        spawn_local(async move {
            let update = ValUpdate {
                readme: Some(text.clone()),
                ..ValUpdate::default()
            };
            let answer = api.update_val(id, &update).await;
            if saving.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(()) => {
                    val.update(|val| val.readme = Some(text).filter(|text| !text.is_empty()));
                    error.set(None);
                    editing.set(false);
                }
                Err(refused) => error.set(Some(not_saved(&refused))),
            }
        });
    });
    let on_cancel = Callback::new(move |()| {
        draft.set(saved.get_untracked());
        error.set(None);
        editing.set(false);
    });
    view! { <Readme state writable=owner editing draft saving error on_save on_cancel /> }.into_any()
}

fn not_saved(error: &ClientError) -> String {
    match error {
        ClientError::Offline => {
            "Can’t reach the server: what you wrote is kept in this browser. Save again.".to_owned()
        }
        error => format!("Not saved. {}", error.sentence()),
    }
}
