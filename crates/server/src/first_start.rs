//! The first start of an instance: an account, something to read, and a way in without a default password.

use std::time::Duration;

use hamlet_models::{PageQuery, UserId, Username};
use hamlet_store::{NewUser, Store, StoreError, hash_secret};

use crate::{auth::new_secret, clock, examples::examples};

/// How long a sign-in link works.
const LINK_LASTS: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes the owner's account with the examples, if nobody has an account yet.
pub(crate) async fn make_owner(store: &Store) -> Result<(), StoreError> {
    if store.has_users().await? {
        return Ok(());
    }
    let owner = NewUser {
        username: owner_name(),
        admin: true,
        password_hash: None,
    };
    let owner = store.create_user(&owner).await?;
    for example in examples() {
        store.create_val(owner.id, &example).await?;
    }
    tracing::info!(user.name = %owner.username, "made the owner's account");
    Ok(())
}

/// The path of a new one-time link for the only account there is, as long as it has no password to sign in with.
pub(crate) async fn sign_in_path(store: &Store) -> Result<Option<String>, StoreError> {
    let users = store.list_users(PageQuery { offset: 0, limit: 2 }).await?;
    match users.items.as_slice() {
        [only] if only.password_hash.is_none() => link(store, only.id).await.map(Some),
        _ => Ok(None),
    }
}

async fn link(store: &Store, user_id: UserId) -> Result<String, StoreError> {
    let secret = new_secret();
    store
        .create_sign_in_link(user_id, hash_secret(&secret), clock::after(LINK_LASTS))
        .await?;
    Ok(format!("/login?link={secret}"))
}

/// The name that the operating system knows the person by, if it can be a username.
fn owner_name() -> Username {
    ["USER", "LOGNAME"]
        .iter()
        .filter_map(|variable| std::env::var(variable).ok())
        .find_map(|name| name.parse().ok())
        .unwrap_or_else(|| "owner".parse().expect("owner is a username"))
}
