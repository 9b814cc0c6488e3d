//! Who is signed in.

use hamlet_models::{Author, Me};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    api::{ApiClient, error::ClientError},
    hooks::{connection::on_restored, fetched::Fetched},
};

/// Who is signed in, for every page to ask.
#[derive(Clone, Copy)]
pub struct Session {
    api: ApiClient,
    me: Fetched<Option<Me>>,
}

impl Session {
    /// Asks the server who is signed in.
    pub fn new(api: ApiClient) -> Self {
        let me = Fetched::new(move || api.get_session());
        on_restored(move || {
            if matches!(me.get_untracked(), Some(Err(_))) {
                me.refetch();
            }
        });
        Self { api, me }
    }

    /// The answer for a page to wait for: a failure is only one that says nothing of who is signed in.
    pub fn fetched(self) -> Fetched<Option<Me>> {
        self.me
    }

    /// The answer itself: `None` until it is known; tracked.
    pub fn get(self) -> Option<Result<Option<Me>, ClientError>> {
        self.me.get()
    }

    /// Who is signed in; `None` too while that isn't known; tracked.
    pub fn me(self) -> Option<Me> {
        self.me.value().flatten()
    }

    /// Waits for who is signed in; a failure with status 401 if nobody is.
    pub async fn must_be_signed_in(self) -> Result<Me, ClientError> {
        self.me.wait().await?.ok_or_else(ClientError::signed_out)
    }

    /// Whether the one who is signed in is this author; tracked.
    pub fn is(self, author: Option<&Author>) -> bool {
        self.me()
            .is_some_and(|me| author.is_some_and(|author| author.id == me.user.id))
    }

    /// Notes who signed in, or how their profile is now.
    pub fn set(self, me: Me) {
        self.me.set(Some(me));
    }

    /// Notes that there is a password now.
    pub fn note_password(self) {
        if let Some(Ok(Some(mut me))) = self.me.get_untracked() {
            me.has_password = true;
            self.set(me);
        }
    }

    /// Signs out, then calls `after`.
    pub fn sign_out(self, after: Callback<()>) {
        spawn_local(async move {
            // Without an answer the session may still be there: don't say that it isn't.
            match self.api.delete_session().await {
                Err(error) if !error.is_signed_out() => {
                    leptos::logging::error!("signing out failed: {error}")
                }
                _ => {
                    self.me.set(None);
                    after.run(());
                }
            }
        });
    }
}

/// The session that the app provides.
pub fn use_session() -> Session {
    expect_context()
}
