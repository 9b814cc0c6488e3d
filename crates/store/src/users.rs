//! Users: people with an account on the instance.

use std::{fmt, sync::Arc};

use hamlet_models::{Author, MeUpdate, PageQuery, Timestamp, UserId, Username};

use crate::{Slice, Store, StoreError};

/// A user with everything that is kept of them.
#[derive(Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// Names the user for ever.
    pub id: UserId,
    /// The user's name.
    pub username: Username,
    /// A few words about the user.
    pub bio: Option<String>,
    /// Where the user's picture is.
    pub profile_image_url: Option<String>,
    /// Where mail reaches the user.
    pub email: Option<String>,
    /// Whether the user administers the instance.
    pub admin: bool,
    /// The password's hash as the caller made it; none for a user without a password.
    pub password_hash: Option<String>,
    /// When the account was made.
    pub created_at: Timestamp,
}

impl UserRecord {
    /// The user in short, as vals and runs name them.
    pub fn author(&self) -> Author {
        Author {
            id: self.id,
            username: self.username.clone(),
        }
    }
}

/// Leaves the password's hash out, so that no log line can hold it.
impl fmt::Debug for UserRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserRecord")
            .field("id", &self.id)
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

/// A user to make.
#[derive(Clone)]
pub struct NewUser {
    /// The user's name.
    pub username: Username,
    /// Whether the user administers the instance.
    pub admin: bool,
    /// The password's hash; none for a user who signs in by link or token.
    pub password_hash: Option<String>,
}

impl Store {
    /// Makes a user; refused when the name is taken.
    pub async fn create_user(&self, new: &NewUser) -> Result<UserRecord, StoreError> {
        todo!()
    }

    /// The user of this id.
    pub async fn get_user(&self, id: UserId) -> Result<Arc<UserRecord>, StoreError> {
        todo!()
    }

    /// The user of this name, in any case.
    pub async fn find_user(&self, name: &str) -> Result<Arc<UserRecord>, StoreError> {
        todo!()
    }

    /// Changes a user's profile; refused when the new name is taken.
    pub async fn update_user(&self, id: UserId, update: &MeUpdate) -> Result<Arc<UserRecord>, StoreError> {
        todo!()
    }

    /// Sets the hash of a user's password.
    pub async fn set_password_hash(&self, id: UserId, hash: String) -> Result<(), StoreError> {
        todo!()
    }

    /// Whether anyone has an account.
    pub async fn has_users(&self) -> Result<bool, StoreError> {
        todo!()
    }

    /// Every user, newest first.
    pub async fn list_users(&self, page: PageQuery) -> Result<Slice<UserRecord>, StoreError> {
        todo!()
    }
}
