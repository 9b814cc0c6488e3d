//! The signed-in user's profile, password and tokens, and the limits that their runs meet.

pub mod limits;
pub mod password;
pub mod profile;
pub mod secrets;
pub mod tokens;

use hamlet_models::Me;
use leptos::prelude::*;

use self::{
    limits::LimitsSection, password::PasswordForm, profile::ProfileForm, secrets::SecretsSection,
    tokens::TokensSection,
};
use crate::{
    api::{ApiClient, error::ClientError},
    components::{heading::PageHeading, loaded::loaded},
    hooks::fetched::Fetched,
    ui::skeleton::SkeletonBox,
};

/// The signed-in user's settings.
#[component]
pub fn SettingsPage() -> AnyView {
    let api = expect_context::<ApiClient>();
    // Not the app's own session: saving the profile changes that one, and must leave the page as it is.
    let me =
        Fetched::new(move || async move { api.get_session().await?.ok_or_else(ClientError::signed_out) });
    loaded(
        me,
        || view! { <SkeletonBox height="70vh" /> }.into_any(),
        |me| view! { <SettingsDetail me /> }.into_any(),
    )
}

#[component]
fn SettingsDetail(me: Me) -> AnyView {
    let (user, has_password) = (me.user.id, me.has_password);
    let username = me
        .user
        .username
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    view! {
        <PageHeading title="Settings" />
        <div class="settings">
            {section("profile", "Profile", "What others see of you.", view! { <ProfileForm me /> }.into_any())}
            {section(
                "password",
                "Password",
                "With your username it signs you in on this page.",
                view! { <PasswordForm username has_password /> }.into_any(),
            )}
            {section(
                "tokens",
                "API tokens",
                "For programs that speak to this instance in your name.",
                view! { <TokensSection /> }.into_any(),
            )}
            {section(
                "secrets",
                "Secrets",
                "Environment variables of your vals: keys and passwords that are in no code.",
                view! { <SecretsSection user /> }.into_any(),
            )}
            {section(
                "limits",
                "Limits in force",
                "What runs and an account may use. Who runs this server sets those that have a flag.",
                view! { <LimitsSection /> }.into_any(),
            )}
        </div>
    }
    .into_any()
}

fn section(id: &'static str, title: &'static str, words: &'static str, content: AnyView) -> AnyView {
    view! {
        <section class="settings__section" id=id aria-labelledby=format!("{id}-title")>
            <header class="settings__words">
                <h2 id=format!("{id}-title")>{title}</h2>
                <p>{words}</p>
            </header>
            <div class="settings__content">{content}</div>
        </section>
    }
    .into_any()
}
