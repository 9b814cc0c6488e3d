//! A new token: its name, how long it works, what it may do.

use hamlet_models::{
    CreatedToken, NewToken, Scope, ScopeAction, ScopeResource, Scopes, Timestamp, TokenName,
};
use leptos::{ev::SubmitEvent, prelude::*, task::spawn_local};

use crate::{
    api::{
        ApiClient,
        error::{ClientError, sentence},
    },
    components::form::FormEnd,
    hooks::clock,
    ui::{
        button::{Button, ButtonKind},
        field::{Checkbox, TextField},
        select::Select,
    },
};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// How many days a token works, unless another choice is made.
const DEFAULT_DAYS: &str = "90";

/// The form for a new token.
#[component]
pub fn NewTokenForm(
    /// Called with the token and its secret.
    on_created: Callback<CreatedToken>,
    /// Called to make none.
    #[prop(into)]
    on_cancel: Callback<()>,
) -> AnyView {
    let api = expect_context::<ApiClient>();
    let (name, days) = (
        RwSignal::new(String::new()),
        RwSignal::new(DEFAULT_DAYS.to_owned()),
    );
    let scopes = RwSignal::new(Scopes::all());
    let busy = RwSignal::new(false);
    let error = RwSignal::<Option<ClientError>>::new(None);
    let problem = RwSignal::<Option<String>>::new(None);

    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        error.set(None);
        let name = match name.get_untracked().trim().parse::<TokenName>() {
            Ok(name) => name,
            Err(wrong) => return problem.set(Some(sentence(&wrong.to_string()))),
        };
        problem.set(None);
        if busy.get_untracked() {
            return;
        }
        let days = days.get_untracked().parse::<i64>().ok();
        let expires_at = days.map(|days| Timestamp::from_millis(clock::now() + days * DAY_MS));
        let token = NewToken {
            name,
            scopes: scopes.get_untracked(),
            expires_at,
        };
        busy.set(true);
        spawn_local(async move {
            let answer = api.create_token(&token).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(created) => on_created.run(created),
                Err(refused) => error.set(Some(refused)),
            }
        });
    };

    let expiries = [
        ("30", "30 days"),
        (DEFAULT_DAYS, "90 days"),
        ("365", "1 year"),
        ("never", "until it is revoked"),
    ];
    let expiries = expiries
        .map(|(days, words)| (days.to_owned(), words.to_owned()))
        .to_vec();
    let nothing = Signal::derive(move || scopes.get() == Scopes::default());
    view! {
        <form class="form tokens__form" on:submit=submit>
            <TextField
                label="Name"
                value=name
                hint="What will use it, as: CI on my laptop."
                error=problem
                autofocus=true
            />
            <Select label="Works for" options=expiries value=days on_change=move |chosen| days.set(chosen) />
            <fieldset class="scopes">
                <legend>"It may"</legend>
                {ScopeResource::ALL.map(|resource| scope_row(resource, scopes))}
            </fieldset>
            <FormEnd verb="Make token" busy error disabled=nothing>
                <Button kind=ButtonKind::Quiet on_click=on_cancel>"Cancel"</Button>
            </FormEnd>
        </form>
    }
    .into_any()
}

/// What may be done to one kind of thing.
fn scope_row(resource: ScopeResource, scopes: RwSignal<Scopes>) -> AnyView {
    let (read, write) = match resource {
        ScopeResource::Val => ("Read vals and versions", "Create, change and delete vals"),
        ScopeResource::User => ("Read your profile", "Change your profile and tokens"),
        ScopeResource::Run => ("Read runs and logs", "Start and cancel runs"),
        ScopeResource::Blob => ("Read blobs", "Write and delete blobs"),
        ScopeResource::Sqlite => ("Query your SQLite database", "Change your SQLite database"),
        ScopeResource::Email => ("Read about sent e-mail", "Send e-mail"),
    };
    let choice = move |action: ScopeAction, words: &'static str| {
        let scope = Scope::new(resource, action);
        let checked = Signal::derive(move || scopes.get().has(scope));
        let change = move |on: bool| {
            scopes.update(|scopes| {
                let others = scopes.without(&[scope]);
                *scopes = others.iter().chain(on.then_some(scope)).collect();
            });
        };
        view! { <Checkbox label=words checked on_change=change /> }.into_any()
    };
    view! {
        {choice(ScopeAction::Read, read)}
        {choice(ScopeAction::Write, write)}
    }
    .into_any()
}
