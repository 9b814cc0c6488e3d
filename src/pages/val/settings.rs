//! A val's settings, for its owner: name, kind, privacy, who may call it, and its end.

use hamlet_models::{ExtendedVal, Privacy, ValKind, ValName, ValUpdate};
use leptos::{ev::SubmitEvent, prelude::*, task::spawn_local};
use leptos_router::{NavigateOptions, hooks::use_navigate};

use crate::{
    api::{
        ApiClient,
        error::{ClientError, sentence},
    },
    components::{
        confirm::ConfirmByName,
        form::FormEnd,
        labels::kind_word,
        loaded::loaded,
        val_heading::{ValHeading, ValTab},
    },
    hooks::{session::use_session, val::use_val},
    paths,
    ui::{
        button::{Button, ButtonKind},
        field::{Checkbox, TextField},
        select::Select,
        skeleton::SkeletonBox,
        state::EmptyState,
    },
};

/// A val's settings.
#[component]
pub fn ValSettingsPage() -> AnyView {
    let val = use_val();
    let session = use_session();
    let known = Memo::new(move |_| session.get().is_some());
    loaded(val, skeleton, move |val| {
        let author = val.author.clone();
        let owner = Memo::new(move |_| session.is(author.as_ref()));
        let val = StoredValue::new(val);
        (move || match (known.get(), owner.get()) {
            (false, _) => skeleton(),
            (true, true) => view! { <Settings val=val.get_value() owner /> }.into_any(),
            (true, false) => refused(val.get_value(), owner),
        })
        .into_any()
    })
}

fn skeleton() -> AnyView {
    view! {
        <div class="val-page__heading"></div>
        <SkeletonBox height="60vh" />
    }
    .into_any()
}

fn refused(val: ExtendedVal, owner: Memo<bool>) -> AnyView {
    let address = val.author.as_ref().map_or_else(paths::home, |author| {
        paths::val(author.username.as_str(), val.name.as_str())
    });
    view! {
        <ValHeading val=Signal::stored(val) tab=ValTab::Settings owner />
        <EmptyState title="Only its owner sees and changes a val’s settings.">
            <a class="button" href=address>"Go to its code"</a>
        </EmptyState>
    }
    .into_any()
}

#[component]
fn Settings(val: ExtendedVal, owner: Memo<bool>) -> AnyView {
    let val = RwSignal::new(val);
    view! {
        <ValHeading val tab=ValTab::Settings owner />
        <div class="val-settings">
            <SettingsForm val />
            <DeleteSection val />
        </div>
    }
    .into_any()
}

#[component]
fn SettingsForm(val: RwSignal<ExtendedVal>) -> AnyView {
    let api = expect_context::<ApiClient>();
    let before = val.get_untracked();
    let name = RwSignal::new(before.name.to_string());
    let kind = RwSignal::new(before.kind);
    let privacy = RwSignal::new(before.privacy);
    let callable = RwSignal::new(before.callable);
    let (busy, done) = (RwSignal::new(false), RwSignal::new(false));
    let error = RwSignal::new(None::<ClientError>);
    let wrong_name = RwSignal::new(None::<String>);
    let navigate = use_navigate();

    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        done.set(false);
        error.set(None);
        let new_name = match name.get_untracked().trim().parse::<ValName>() {
            Ok(name) => name,
            Err(problem) => return wrong_name.set(Some(sentence(&problem.to_string()))),
        };
        wrong_name.set(None);
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        let update = ValUpdate {
            name: Some(new_name.clone()),
            privacy: Some(privacy.get_untracked()),
            kind: Some(kind.get_untracked()),
            callable: Some(callable.get_untracked()),
            ..ValUpdate::default()
        };
        let navigate = navigate.clone();
        spawn_local(async move {
            let id = val.with_untracked(|val| val.id);
            let answer = api.update_val(id, &update).await;
            if busy.try_set(false).is_some() {
                return;
            }
            if let Err(refused) = answer {
                return error.set(Some(refused));
            }
            done.set(true);
            let renamed = val.with_untracked(|val| val.name != new_name);
            // Its addresses and times are the server's to tell; what was sent is known all the same.
            match api.get_val(id).await {
                Ok(changed) => drop(val.try_set(changed)),
                Err(_) => drop(val.try_update(|val| {
                    val.val.name = new_name.clone();
                    val.val.privacy = privacy.get_untracked();
                    val.val.kind = kind.get_untracked();
                    val.callable = callable.get_untracked();
                })),
            }
            if busy.try_get_untracked().is_none() {
                return;
            }
            let username =
                val.with_untracked(|val| val.author.as_ref().map(|author| author.username.clone()));
            // The address that this page has no longer names the val.
            if let Some(username) = username.filter(|_| renamed) {
                let page = paths::val_settings(username.as_str(), new_name.as_str());
                navigate(
                    &page,
                    NavigateOptions {
                        replace: true,
                        ..NavigateOptions::default()
                    },
                );
            }
        });
    };
    let name_error = Signal::derive(move || {
        wrong_name
            .get()
            .or_else(|| error.with(|error| error.as_ref()?.field("name")))
    });
    view! {
        <form class="form" on:submit=submit>
            <TextField
                label="Name"
                value=name
                code=true
                hint="Its addresses change with it: links and imports of the old name stop working."
                error=name_error
            />
            <KindSelect kind />
            <PrivacySelect privacy />
            <Checkbox
                label="Others may call it through /v1/run. It runs as you, with your environment."
                checked=callable
                on_change=move |yes| callable.set(yes)
            />
            <FormEnd verb="Save settings" busy error done done_word="Saved." fields=&["name"] />
        </form>
    }
    .into_any()
}

/// What starts a val.
#[component]
pub fn KindSelect(
    /// The kind that is chosen.
    kind: RwSignal<ValKind>,
) -> AnyView {
    let options = ValKind::ALL.map(|kind| (kind.as_str().to_owned(), kind_word(kind).to_owned()));
    let choose = move |value: String| {
        if let Ok(chosen) = value.parse() {
            kind.set(chosen);
        }
    };
    view! {
        <Select
            label="Kind"
            options=options.to_vec()
            value=Signal::derive(move || kind.get().as_str().to_owned())
            on_change=choose
            hint="What starts it."
        />
    }
    .into_any()
}

/// Who may see a val.
#[component]
pub fn PrivacySelect(
    /// The privacy that is chosen.
    privacy: RwSignal<Privacy>,
) -> AnyView {
    let words = |privacy| match privacy {
        Privacy::Public => "public: anyone, and it is listed",
        Privacy::Unlisted => "unlisted: anyone who has the link",
        Privacy::Private => "private: only you",
    };
    let options = Privacy::ALL.map(|privacy| (privacy.as_str().to_owned(), words(privacy).to_owned()));
    let choose = move |value: String| {
        let chosen = Privacy::ALL.into_iter().find(|privacy| privacy.as_str() == value);
        if let Some(chosen) = chosen {
            privacy.set(chosen);
        }
    };
    view! {
        <Select
            label="Privacy"
            options=options.to_vec()
            value=Signal::derive(move || privacy.get().as_str().to_owned())
            on_change=choose
            hint="Who may see it."
        />
    }
    .into_any()
}

#[component]
fn DeleteSection(val: RwSignal<ExtendedVal>) -> AnyView {
    let api = expect_context::<ApiClient>();
    let navigate = use_navigate();
    let open = RwSignal::new(false);
    let busy = RwSignal::new(false);
    let error = RwSignal::new(None::<ClientError>);
    let name = Signal::derive(move || val.with(|val| val.name.to_string()));
    let title = Signal::derive(move || format!("Delete {}?", name.get()));
    let versions = Signal::derive(move || val.with(|val| val.version));
    let endpoint = move || val.with(|val| val.links.endpoint.clone());
    let on_confirm = Callback::new(move |()| {
        let navigate = navigate.clone();
        busy.set(true);
        error.set(None);
        spawn_local(async move {
            let (id, owner) =
                val.with_untracked(|val| (val.id, val.author.as_ref().map(|author| author.username.clone())));
            let answer = api.delete_val(id).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(()) => {
                    open.set(false);
                    let page = owner.map_or_else(paths::home, |owner| paths::user(owner.as_str()));
                    navigate(
                        &page,
                        NavigateOptions {
                            replace: true,
                            ..NavigateOptions::default()
                        },
                    );
                }
                Err(refused) => error.set(Some(refused)),
            }
        });
    });
    view! {
        <section class="val-settings__end" aria-label="Delete this val">
            <h2>"Delete this val"</h2>
            <p>"Its code, its versions and its runs go with it, and nothing brings them back."</p>
            <Button kind=ButtonKind::Danger on_click=move |()| open.set(true)>"Delete this val…"</Button>
            <ConfirmByName open title name verb="Delete the val" busy error on_confirm>
                <p>
                    {move || format!("All its versions, up to version {}, and all its runs are deleted with it.", versions.get())}
                </p>
                {move || endpoint().map(|address| view! { <p>"Its address stops answering: " <code>{address}</code></p> })}
                <p>"Vals that import it stop working."</p>
            </ConfirmByName>
        </section>
    }
    .into_any()
}
