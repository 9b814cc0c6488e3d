//! The user's password.

use hamlet_models::PasswordChange;
use leptos::{ev::SubmitEvent, prelude::*, task::spawn_local};

use crate::{
    api::{
        ApiClient,
        error::{ClientError, sentence},
    },
    components::form::FormEnd,
    hooks::session::use_session,
    ui::field::TextField,
};

/// Sets a password, or changes the one there is.
#[component]
pub fn PasswordForm(
    /// Whose password, for a password manager.
    username: String,
    /// Whether there is one already.
    has_password: bool,
) -> AnyView {
    let api = expect_context::<ApiClient>();
    let session = use_session();
    let has_password = RwSignal::new(has_password);
    let (current, new) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let (busy, done) = (RwSignal::new(false), RwSignal::new(false));
    let error = RwSignal::<Option<ClientError>>::new(None);
    let problem = RwSignal::<Option<String>>::new(None);

    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let chosen = new.get_untracked();
        problem.set(PasswordChange::problem(&chosen).map(sentence));
        error.set(None);
        done.set(false);
        if problem.with_untracked(Option::is_some) || busy.get_untracked() {
            return;
        }
        let change = PasswordChange {
            current: has_password.get_untracked().then(|| current.get_untracked()),
            new: chosen,
        };
        busy.set(true);
        spawn_local(async move {
            let answer = api.change_password(&change).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(()) => {
                    current.set(String::new());
                    new.set(String::new());
                    has_password.set(true);
                    done.set(true);
                    session.note_password();
                }
                Err(refused) => error.set(Some(refused)),
            }
        });
    };

    let current_field = move || {
        has_password.get().then(|| {
            view! {
                <TextField label="Current password" value=current kind="password" autocomplete="current-password" />
            }
            .into_any()
        })
    };
    view! {
        <form class="form" on:submit=submit>
            <input class="visually-hidden" type="text" autocomplete="username" value=username readonly tabindex="-1" aria-hidden="true" />
            {move || {
                (!has_password.get()).then(|| view! { <p>"You have none yet. Choose one to be able to sign in again."</p> })
            }}
            {current_field}
            <TextField
                label="New password"
                value=new
                kind="password"
                autocomplete="new-password"
                hint="At least 10 characters."
                error=problem
            />
            <FormEnd verb="Set password" busy error done done_word="The new password is set." />
        </form>
    }
    .into_any()
}
