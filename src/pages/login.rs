//! Signing in: by name and password, by an API token, or by the one-time link that the server printed.

use hamlet_models::NewSession;
use leptos::{ev::SubmitEvent, prelude::*, task::spawn_local};
use leptos_router::{NavigateOptions, hooks::use_navigate};

use crate::{
    api::{ApiClient, error::ClientError},
    components::{form::FormEnd, heading::PageHeading},
    hooks::{
        params::{use_href, use_query},
        session::use_session,
    },
    paths,
    ui::field::TextField,
};

/// The page to sign in.
#[component]
pub fn LoginPage() -> AnyView {
    let api = expect_context::<ApiClient>();
    let session = use_session();
    let (link, next, by) = (use_query("link"), use_query("next"), use_query("by"));
    let navigate = use_navigate();
    // Replaced, so that going back doesn't lead here again, and a used link leaves the history.
    let go_on = move || {
        let next = next
            .get_untracked()
            .filter(|next| is_local(next))
            .unwrap_or_else(paths::home);
        navigate(
            &next,
            NavigateOptions {
                replace: true,
                ..NavigateOptions::default()
            },
        );
    };

    let busy = RwSignal::new(false);
    let error = RwSignal::<Option<ClientError>>::new(None);
    let sign_in = Callback::new(move |new: NewSession| {
        busy.set(true);
        error.set(None);
        spawn_local(async move {
            let answer = api.create_session(&new).await;
            // The page may be gone by now.
            if busy.try_set(false).is_none() {
                match answer {
                    Ok(me) => session.set(me),
                    Err(refused) => error.set(Some(refused)),
                }
            }
        });
    });
    // A link signs in by itself, whoever is signed in; without one, who is signed in has nothing to do here.
    let by_link = link.get_untracked();
    let linked = by_link.is_some();
    if let Some(link) = by_link {
        sign_in.run(NewSession::Link { link });
    }
    Effect::new(move |before: Option<bool>| {
        let someone = session.me().is_some();
        if someone && !(linked && (busy.get() || error.get().is_some())) && before != Some(true) {
            go_on();
            return true;
        }
        false
    });

    let by_token = Memo::new(move |_| api.is_remote() || by.get().as_deref() == Some("token"));
    let form = move || {
        if linked && busy.get() {
            return view! { <p role="status">"Signing you in…"</p> }.into_any();
        }
        if by_token.get() {
            view! { <TokenForm busy error on_submit=sign_in /> }.into_any()
        } else {
            view! { <PasswordForm busy error on_submit=sign_in /> }.into_any()
        }
    };
    view! {
        <section class="login">
            <PageHeading title="Sign in" />
            {form}
            {(!api.is_remote()).then(|| other_way(by_token))}
        </section>
    }
    .into_any()
}

/// Only a path of this app: a link to here must not lead on to another site.
fn is_local(next: &str) -> bool {
    next.starts_with('/') && !next.starts_with("//") && !next.contains('\\')
}

/// The link to the other form.
fn other_way(by_token: Memo<bool>) -> AnyView {
    let href = use_href();
    let other = move || {
        let (word, by) = if by_token.get() {
            ("Sign in with a password instead", None)
        } else {
            ("Sign in with an API token instead", Some("token"))
        };
        view! { <a href=href(&[("by", by), ("link", None)])>{word}</a> }.into_any()
    };
    view! { <p class="login__other">{other}</p> }.into_any()
}

#[component]
fn PasswordForm(
    busy: RwSignal<bool>,
    error: RwSignal<Option<ClientError>>,
    on_submit: Callback<NewSession>,
) -> AnyView {
    let (username, password) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        on_submit.run(NewSession::Password {
            username: username.get_untracked().trim().to_owned(),
            password: password.get_untracked(),
        });
    };
    let incomplete = Signal::derive(move || {
        username.with(|name| name.trim().is_empty()) || password.with(String::is_empty)
    });
    view! {
        <form class="form" on:submit=submit>
            <TextField label="Username" value=username autocomplete="username" autofocus=true />
            <TextField label="Password" value=password kind="password" autocomplete="current-password" />
            <FormEnd verb="Sign in" busy error disabled=incomplete />
        </form>
    }
    .into_any()
}

#[component]
fn TokenForm(
    busy: RwSignal<bool>,
    error: RwSignal<Option<ClientError>>,
    on_submit: Callback<NewSession>,
) -> AnyView {
    let token = RwSignal::new(String::new());
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        on_submit.run(NewSession::Token {
            token: token.get_untracked().trim().to_owned(),
        });
    };
    let incomplete = Signal::derive(move || token.with(|token| token.trim().is_empty()));
    view! {
        <form class="form" on:submit=submit>
            <TextField
                label="API token"
                value=token
                kind="password"
                code=true
                autofocus=true
                hint="Begins with hmlt_. You make one in the settings, or with the command hamlet token create."
            />
            <FormEnd verb="Sign in" busy error disabled=incomplete />
        </form>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::is_local;

    #[wasm_bindgen_test]
    fn only_a_path_of_this_app_is_gone_to() {
        for good in ["/", "/v/ada/hello?tab=runs"] {
            assert!(is_local(good), "{good}");
        }
        for bad in [
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "javascript:alert(1)",
            "",
        ] {
            assert!(!is_local(bad), "{bad}");
        }
    }
}
