//! What an owner does to versions: restore one, delete one.

use hamlet_models::{ExtendedVal, NewVersion, ProblemCode, VersionNumber};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    api::{ApiClient, error::ClientError, versions::Saved},
    components::{confirm::Confirm, version_list::VersionCommands},
    paths,
    ui::{
        button::Button,
        dialog::Dialog,
        icon::{Icon, IconName},
        part::part,
    },
};

/// What became of the last thing that was done.
#[derive(Clone, PartialEq)]
enum Said {
    Nothing,
    /// A version was restored: its number, and the new version's.
    Restored(VersionNumber, VersionNumber),
    /// The version has the code that the latest has too.
    Same(VersionNumber),
    Deleted(VersionNumber),
    Failed(ClientError),
    /// Someone else has saved meanwhile.
    Overtaken,
}

/// Restores and deletes versions of a val, and says what came of it.
#[derive(Clone, Copy)]
pub(in crate::pages) struct VersionActions {
    api: ApiClient,
    val: RwSignal<ExtendedVal>,
    /// Called with a version's number once it is deleted.
    on_deleted: Callback<VersionNumber>,
    said: RwSignal<Said>,
    busy: RwSignal<bool>,
    asking: RwSignal<bool>,
    only_one: RwSignal<bool>,
    doomed: RwSignal<VersionNumber>,
    refused: RwSignal<Option<ClientError>>,
}

impl VersionActions {
    /// For this val, which changes with what is done.
    pub(in crate::pages) fn new(val: RwSignal<ExtendedVal>, on_deleted: Callback<VersionNumber>) -> Self {
        Self {
            api: expect_context(),
            val,
            on_deleted,
            said: RwSignal::new(Said::Nothing),
            busy: RwSignal::new(false),
            asking: RwSignal::new(false),
            only_one: RwSignal::new(false),
            doomed: RwSignal::new(0),
            refused: RwSignal::new(None),
        }
    }

    /// The buttons of a list; `is_only` says whether there is one version alone.
    pub(in crate::pages) fn commands(self, is_only: bool) -> VersionCommands {
        VersionCommands {
            on_restore: Callback::new(move |version| self.restore(version)),
            on_delete: Callback::new(move |version| self.ask_to_delete(version, is_only)),
            busy: self.busy.into(),
        }
    }

    /// Makes a new version with the code of this one.
    fn restore(self, version: VersionNumber) {
        self.busy.set(true);
        self.said.set(Said::Nothing);
        spawn_local(async move {
            let said = match self.restored(version).await {
                Ok(saved) => {
                    let number = saved.val.version;
                    if self.val.try_set(saved.val).is_some() {
                        return;
                    }
                    if saved.created {
                        Said::Restored(version, number)
                    } else {
                        Said::Same(version)
                    }
                }
                Err(error) if error.code() == Some(ProblemCode::VersionMismatch) => Said::Overtaken,
                Err(error) => Said::Failed(error),
            };
            if self.busy.try_set(false).is_none() {
                self.said.set(said);
            }
        });
    }

    async fn restored(self, version: VersionNumber) -> Result<Saved, ClientError> {
        let (id, latest) = self.val.with_untracked(|val| (val.id, val.version));
        let old = self.api.get_version(id, version).await?;
        let code = old.code.clone().ok_or(ClientError::Unreadable)?;
        let restored = NewVersion {
            message: Some(format!("Restore version {version}")),
            ..NewVersion::of_code(code)
        };
        self.api.create_version(id, &restored, Some(latest)).await
    }

    fn ask_to_delete(self, version: VersionNumber, is_only: bool) {
        self.said.set(Said::Nothing);
        self.refused.set(None);
        self.doomed.set(version);
        if is_only {
            self.only_one.set(true);
        } else {
            self.asking.set(true);
        }
    }

    fn delete(self) {
        self.busy.set(true);
        spawn_local(async move {
            let version = self.doomed.get_untracked();
            let id = self.val.with_untracked(|val| val.id);
            let mut deleted = self.api.delete_version(id, version).await;
            // Another version may be the latest now.
            if deleted.is_ok() {
                match self.api.get_val(id).await {
                    Ok(val) => drop(self.val.try_set(val)),
                    Err(error) => deleted = Err(error),
                }
            }
            if self.busy.try_set(false).is_some() {
                return;
            }
            match deleted {
                Ok(()) => {
                    self.asking.set(false);
                    self.said.set(Said::Deleted(version));
                    self.on_deleted.run(version);
                }
                Err(error) if error.code() == Some(ProblemCode::LastVersion) => {
                    self.asking.set(false);
                    self.only_one.set(true);
                }
                Err(error) => self.refused.set(Some(error)),
            }
        });
    }

    /// Looks what the latest version is now.
    fn catch_up(self) {
        spawn_local(async move {
            let id = self.val.with_untracked(|val| val.id);
            match self.api.get_val(id).await {
                Ok(val) => {
                    if self.val.try_set(val).is_none() {
                        self.said.set(Said::Nothing);
                    }
                }
                Err(error) => drop(self.said.try_set(Said::Failed(error))),
            }
        });
    }

    fn names(self) -> (String, String) {
        self.val.with(|val| {
            let username = val.author.as_ref().map(|author| author.username.to_string());
            (username.unwrap_or_default(), val.name.to_string())
        })
    }

    /// What was done, and the question before a deletion.
    pub(in crate::pages) fn view(self) -> AnyView {
        let said = move || {
            match self.said.get() {
            Said::Nothing => None,
            Said::Restored(old, new) => {
                let (username, name) = self.names();
                let href = paths::version(&username, &name, new);
                Some(
                    view! {
                        <p class="said said--ok">
                            <Icon name=IconName::Check />
                            <span>
                                <a href=href>{format!("Version {new}")}</a>
                                {format!(" is new: it has the code of version {old} and answers from now on.")}
                            </span>
                        </p>
                    }
                    .into_any(),
                )
            }
            Said::Same(version) => {
                let words = format!(
                    "Version {version} has the same code as the latest: there is nothing to restore, and no new version was made."
                );
                Some(view! { <p class="said"><span>{words}</span></p> }.into_any())
            }
            Said::Deleted(version) => {
                let words = format!("Version {version} is deleted. Its number will not be given again.");
                Some(view! { <p class="said said--ok"><Icon name=IconName::Check /><span>{words}</span></p> }.into_any())
            }
            Said::Overtaken => Some(
                view! {
                    <p class="said said--failed">
                        <span>"The val was saved elsewhere meanwhile: nothing was restored. Look at the newest version first."</span>
                        <Button on_click=move |()| self.catch_up()>"Show it"</Button>
                    </p>
                }
                .into_any(),
            ),
            Said::Failed(error) => {
                Some(view! { <p class="said said--failed"><span>{error.sentence()}</span></p> }.into_any())
            }
        }
        };
        let is_latest = move || self.val.with(|val| val.version) == self.doomed.get();
        let settings = move || {
            let (username, name) = self.names();
            paths::val_settings(&username, &name)
        };
        view! {
            <div role="status">{part(said)}</div>
            <Confirm
                open=self.asking
                title=Signal::derive(move || format!("Delete version {}?", self.doomed.get()))
                verb="Delete the version"
                busy=self.busy
                error=self.refused
                on_confirm=Callback::new(move |()| self.delete())
            >
                <p>"Its code is gone for good, and what imports this version by its number fails. Its runs stay."</p>
                {part(move || {
                    is_latest()
                        .then(|| {
                            view! {
                                <p>"It is the latest: the one before it answers from then on."</p>
                            }
                                .into_any()
                        })
                })}
            </Confirm>
            <Dialog open=self.only_one title="This is the only version">
                <p class="dialog__text">
                    "A val keeps at least one version. To be rid of it, delete the val itself, with its runs and its address."
                </p>
                <div class="dialog__actions">
                    <a class="button" href=settings>"Open the val’s settings"</a>
                    <Button on_click=move |()| self.only_one.set(false)>"Keep it"</Button>
                </div>
            </Dialog>
        }
        .into_any()
    }
}
