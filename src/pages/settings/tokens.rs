//! The user's API tokens.

pub mod form;

use hamlet_models::{CreatedToken, Page, PageQuery, ScopeAction, ScopeResource, Scopes, Token};
use leptos::prelude::*;

use self::form::NewTokenForm;
use crate::{
    api::ApiClient,
    components::{
        confirm::{ConfirmDelete, Doomed},
        loaded::loaded_part,
    },
    hooks::fetched::Fetched,
    ui::{button::Button, copy::CopyButton, skeleton::SkeletonRows, state::EmptyState, time::RelativeTime},
};

/// The list shows all: nobody has more.
const ALL: PageQuery = PageQuery {
    offset: 0,
    limit: PageQuery::MAX_LIMIT,
};

/// The tokens, a form for a new one, and the secret of one just made.
#[component]
pub fn TokensSection() -> AnyView {
    let api = expect_context::<ApiClient>();
    let tokens = Fetched::new(move || api.list_tokens(ALL));
    let created = RwSignal::<Option<CreatedToken>>::new(None);
    let writing = RwSignal::new(false);
    let revoking = RwSignal::<Option<Doomed>>::new(None);

    let on_created = Callback::new(move |token: CreatedToken| {
        created.set(Some(token));
        writing.set(false);
        tokens.refetch();
    });
    let above = move || match (created.get(), writing.get()) {
        (Some(token), _) => new_secret(token, created),
        (None, true) => {
            view! { <NewTokenForm on_created on_cancel=move |()| writing.set(false) /> }.into_any()
        }
        (None, false) => {
            view! { <Button on_click=move |()| writing.set(true)>"New token"</Button> }.into_any()
        }
    };
    let show = move |tokens: Page<Token>| token_list(tokens.data, revoking);
    view! {
        <div class="tokens">
            {above}
            {loaded_part(tokens, || view! { <SkeletonRows rows=2 height=56 /> }.into_any(), show)}
            <ConfirmDelete doomed=revoking verb="Revoke token" on_deleted=move |()| tokens.refetch()>
                <p>"Programs that use it stop working at once."</p>
            </ConfirmDelete>
        </div>
    }
    .into_any()
}

/// The secret of a token just made: shown this once.
fn new_secret(token: CreatedToken, created: RwSignal<Option<CreatedToken>>) -> AnyView {
    view! {
        <div class="tokens__secret" role="status">
            <p>
                <strong>{token.token.name.to_string()}</strong>
                " is made. Copy it now: it is not shown again."
            </p>
            <div class="tokens__secret-line">
                <code>{token.secret.clone()}</code>
                <CopyButton text=token.secret what="token" />
            </div>
            <Button on_click=move |()| created.set(None)>"I have copied it"</Button>
        </div>
    }
    .into_any()
}

fn token_list(tokens: Vec<Token>, revoking: RwSignal<Option<Doomed>>) -> AnyView {
    if tokens.is_empty() {
        return view! {
            <EmptyState title="No tokens">"A program needs one to speak to this instance in your name."</EmptyState>
        }
        .into_any();
    }
    let rows: Vec<_> = tokens
        .into_iter()
        .map(|token| token_row(token, revoking))
        .collect();
    view! {
        <ul class="rows" role="list" aria-label="Tokens">
            {rows}
        </ul>
    }
    .into_any()
}

fn token_row(token: Token, revoking: RwSignal<Option<Doomed>>) -> AnyView {
    let used = match token.last_used_at {
        Some(at) => view! { "last used " <RelativeTime at=at.as_millis() /> }.into_any(),
        None => view! { "never used" }.into_any(),
    };
    let expires = match token.expires_at {
        Some(at) => view! { "expires " <RelativeTime at=at.as_millis() /> }.into_any(),
        None => view! { "never expires" }.into_any(),
    };
    let api = expect_context::<ApiClient>();
    let (id, name, scopes) = (token.id, token.name.to_string(), scopes_in_words(token.scopes));
    let question = format!("Revoke {name}?");
    let revoke = move |()| revoking.set(Some(Doomed::new(question.clone(), move || api.delete_token(id))));
    view! {
        <li class="row token">
            <div class="token__words">
                <span class="token__name">{name.clone()}</span>
                <span class="token__scopes">{scopes}</span>
                <span class="token__times">
                    "made " <RelativeTime at=token.created_at.as_millis() /> ", " {used} ", " {expires}
                </span>
            </div>
            <Button
                label=format!("Revoke {name}")
                on_click=revoke
            >
                "Revoke"
            </Button>
        </li>
    }
    .into_any()
}

/// The noun for what a scope is about.
fn resource_word(resource: ScopeResource) -> &'static str {
    match resource {
        ScopeResource::Val => "vals",
        ScopeResource::User => "profile",
        ScopeResource::Run => "runs",
        ScopeResource::Blob => "blobs",
        ScopeResource::Sqlite => "SQLite",
        ScopeResource::Email => "e-mail",
    }
}

/// What a set of scopes allows, as `May read vals and runs; change vals`.
fn scopes_in_words(scopes: Scopes) -> String {
    if scopes == Scopes::all() {
        return "May do everything".to_owned();
    }
    let of = |action: ScopeAction| {
        let words = scopes
            .iter()
            .filter(|scope| scope.action == action)
            .map(|scope| resource_word(scope.resource));
        words.collect::<Vec<_>>().join(", ")
    };
    match (of(ScopeAction::Read), of(ScopeAction::Write)) {
        (read, write) if read.is_empty() && write.is_empty() => "May do nothing".to_owned(),
        (read, write) if write.is_empty() => format!("May read {read}"),
        (read, write) if read.is_empty() => format!("May change {write}"),
        (read, write) => format!("May read {read}; may change {write}"),
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn scopes_are_told_in_words() {
        let scopes = |list: &[&str]| {
            let scopes = list.iter().map(|scope| scope.parse().expect("a scope")).collect();
            scopes_in_words(scopes)
        };
        assert_eq!(scopes_in_words(Scopes::all()), "May do everything");
        assert_eq!(scopes(&[]), "May do nothing");
        assert_eq!(scopes(&["val:read", "run:read"]), "May read vals, runs");
        assert_eq!(scopes(&["email:write"]), "May change e-mail");
        assert_eq!(
            scopes(&["val:read", "val:write"]),
            "May read vals; may change vals"
        );
    }
}
