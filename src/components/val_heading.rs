//! The heading of every page of a val.

use hamlet_models::ExtendedVal;
use leptos::prelude::*;

use crate::{
    components::{
        heading::PageHeading,
        labels::{KindLabel, PrivacyLabel},
    },
    paths,
    ui::{
        icon::{Icon, IconName},
        tabs::{Tab, Tabs},
        time::RelativeTime,
    },
};

/// Which part of a val is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValTab {
    /// Its code.
    Code,
    /// Its runs.
    Runs,
    /// Its versions.
    Versions,
    /// Its settings.
    Settings,
}

impl ValTab {
    fn word(self) -> &'static str {
        match self {
            Self::Code => "Code",
            Self::Runs => "Runs",
            Self::Versions => "Versions",
            Self::Settings => "Settings",
        }
    }
}

/// `user / name`, kind and privacy, the version that answers, and the tabs. Runs and settings are the owner's.
#[component]
pub fn ValHeading(
    /// The val as it is now.
    #[prop(into)]
    val: Signal<ExtendedVal>,
    /// Which part is shown.
    tab: ValTab,
    /// Whether the one who looks owns the val.
    #[prop(into)]
    owner: Signal<bool>,
    /// What stands at the end of the heading: the page's own buttons.
    #[prop(optional)]
    children: Option<Children>,
) -> AnyView {
    let username = Memo::new(move |_| {
        val.with(|val| {
            val.author
                .as_ref()
                .map(|author| author.username.to_string())
                .unwrap_or_default()
        })
    });
    let name = Memo::new(move |_| val.with(|val| val.name.to_string()));
    let title = Signal::derive(move || match tab {
        ValTab::Code => format!("{} / {}", username.get(), name.get()),
        tab => format!("{} · {} / {}", tab.word(), username.get(), name.get()),
    });
    let tabs = move || {
        let (username, name) = (username.get(), name.get());
        let all: &[ValTab] = if owner.get() {
            &[ValTab::Code, ValTab::Runs, ValTab::Versions, ValTab::Settings]
        } else {
            &[ValTab::Code, ValTab::Versions]
        };
        let tabs: Vec<_> = all
            .iter()
            .map(|&each| Tab {
                label: each.word(),
                href: href(each, &username, &name),
                current: each == tab,
            })
            .collect();
        view! { <Tabs label=format!("Parts of {name}") tabs /> }
    };
    let kind = Memo::new(move |_| val.with(|val| val.kind));
    let privacy = Memo::new(move |_| val.with(|val| val.privacy));
    let version = Memo::new(move |_| val.with(|val| (val.version, val.version_created_at)));
    let chip = move || {
        let (number, saved) = version.get();
        view! {
            <a class="version-chip" href=paths::versions(&username.get(), &name.get())>
                <Icon name=IconName::History />
                {format!("v{number}, saved ")}
                <RelativeTime at=saved.as_millis() />
            </a>
        }
    };
    view! {
        <header class="val-heading">
            <div class="val-heading__top">
                <PageHeading title>
                    <a class="val-heading__user" href=move || paths::user(&username.get())>{username}</a>
                    <span class="val-heading__slash" aria-hidden="true">" / "</span>
                    <span class="val-heading__name">{name}</span>
                </PageHeading>
                {move || view! { <KindLabel kind=kind.get() /> }}
                {move || view! { <PrivacyLabel privacy=privacy.get() /> }}
                {chip}
                <div class="val-heading__actions">{children.map(|children| children())}</div>
            </div>
            {tabs}
        </header>
    }
    .into_any()
}

fn href(tab: ValTab, username: &str, name: &str) -> String {
    match tab {
        ValTab::Code => paths::val(username, name),
        ValTab::Runs => paths::runs(username, name),
        ValTab::Versions => paths::versions(username, name),
        ValTab::Settings => paths::val_settings(username, name),
    }
}
