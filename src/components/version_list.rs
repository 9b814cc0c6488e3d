//! A val's history.

use hamlet_models::{Version, VersionNumber};
use leptos::{ev::KeyboardEvent, prelude::*};

use crate::{
    hooks::arrows,
    paths,
    ui::{
        button::{Button, ButtonKind},
        icon::{Icon, IconName},
        number::{bytes, plural},
        time::RelativeTime,
    },
};

/// What an owner may do to a version.
#[derive(Clone, Copy)]
pub struct VersionCommands {
    /// Makes a new version with its code.
    pub on_restore: Callback<VersionNumber>,
    /// Deletes it, after asking.
    pub on_delete: Callback<VersionNumber>,
    /// Whether one of them goes on.
    pub busy: Signal<bool>,
}

/// One page of a val's versions, newest first. The arrow keys move between rows; Enter opens one.
#[component]
pub fn VersionList(
    /// Whose val it is.
    #[prop(into)]
    username: String,
    /// The val's name.
    #[prop(into)]
    val: String,
    /// The versions.
    versions: Vec<Version>,
    /// The number of the latest.
    latest: VersionNumber,
    /// The versions that are chosen to be compared.
    #[prop(into)]
    picked: Signal<Vec<VersionNumber>>,
    /// Called with a version that is chosen, or no longer.
    on_pick: Callback<VersionNumber>,
    /// What the one who looks may do; nothing for others than the owner.
    commands: Option<VersionCommands>,
) -> AnyView {
    let rows: Vec<AnyView> = versions
        .into_iter()
        .map(|version| {
            let href = paths::version(&username, &val, version.version);
            row(version, href, latest, picked, on_pick, commands)
        })
        .collect();
    let on_key = |event: KeyboardEvent| arrows::move_focus(&event, ".row__link");
    view! {
        <ol class="rows version-list" role="list" aria-label="Versions" on:keydown=on_key>
            {rows}
        </ol>
    }
    .into_any()
}

fn row(
    version: Version,
    href: String,
    latest: VersionNumber,
    picked: Signal<Vec<VersionNumber>>,
    on_pick: Callback<VersionNumber>,
    commands: Option<VersionCommands>,
) -> AnyView {
    let number = version.version;
    let is_picked = move || picked.with(|picked| picked.contains(&number));
    let is_latest = number == latest;
    let label = is_latest.then(|| view! { <span class="label">"latest"</span> }.into_any());
    let message = match version.message {
        Some(message) => view! { <span class="version-list__message">{message}</span> }.into_any(),
        None => view! { <span class="version-list__message version-list__message--none">"No message"</span> }
            .into_any(),
    };
    let author = version
        .author
        .map(|author| view! { <span>{author.username.to_string()}</span> }.into_any());
    let commands = commands.map(|commands| command_buttons(number, is_latest, commands));
    view! {
        <li class="row version-list__row" class:version-list__row--picked=is_picked>
            <label class="version-list__pick" title="Choose to compare">
                <input
                    type="checkbox"
                    aria-label=format!("Compare version {number}")
                    prop:checked=is_picked
                    on:change=move |_| on_pick.run(number)
                />
            </label>
            <a class="row__link version-list__number" href=href>
                <span class="visually-hidden">"Version "</span>
                <span aria-hidden="true">"v"</span>
                {number}
            </a>
            {label}
            {message}
            <span class="version-list__end">
                {lines_changed(version.lines_added, version.lines_removed)}
                <span class="version-list__size">{bytes(version.size)}</span>
                {author}
                <RelativeTime at=version.created_at.as_millis() />
                {commands}
            </span>
        </li>
    }
    .into_any()
}

/// How many lines came and went, as `+12 −3`.
pub fn lines_changed(added: u32, removed: u32) -> AnyView {
    let words = format!(
        "{} added, {removed} removed",
        plural(added.into(), "line", "lines")
    );
    let title = words.clone();
    view! {
        <span class="lines-changed" title=title>
            <span class="lines-changed__added" aria-hidden="true">{format!("+{added}")}</span>
            " "
            <span class="lines-changed__removed" aria-hidden="true">{format!("−{removed}")}</span>
            <span class="visually-hidden">{words}</span>
        </span>
    }
    .into_any()
}

fn command_buttons(number: VersionNumber, is_latest: bool, commands: VersionCommands) -> AnyView {
    let VersionCommands {
        on_restore,
        on_delete,
        busy,
    } = commands;
    let restore = (!is_latest).then(|| {
        let label = format!("Restore version {number}");
        view! {
            <Button kind=ButtonKind::Quiet busy label on_click=move |()| on_restore.run(number)>
                <Icon name=IconName::History />
            </Button>
        }
    });
    view! {
        <span class="version-list__commands">
            {restore}
            <Button
                kind=ButtonKind::Quiet
                busy
                label=format!("Delete version {number}")
                on_click=move |()| on_delete.run(number)
            >
                <Icon name=IconName::Trash />
            </Button>
        </span>
    }
    .into_any()
}
