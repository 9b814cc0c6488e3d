//! Users: people with an account on the instance.

use std::{fmt, sync::Arc};

use hamlet_models::{Author, MeUpdate, PageQuery, Timestamp, UserId, Username};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter,
    QueryOrder, QuerySelect, Set, sea_query::OnConflict,
};

use crate::{Slice, Store, StoreError, clock::new_id, entity::user, error::is_unique_conflict, rows};

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

    /// How many bytes its texts take, about.
    pub(crate) fn texts_len(&self) -> usize {
        let texts = [
            &self.bio,
            &self.profile_image_url,
            &self.email,
            &self.password_hash,
        ];
        texts.into_iter().flatten().map(String::len).sum()
    }
}

impl TryFrom<user::Model> for UserRecord {
    type Error = StoreError;

    fn try_from(row: user::Model) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            username: rows::name(&row.username)?,
            bio: row.bio,
            profile_image_url: row.profile_image_url,
            email: row.email,
            admin: row.admin,
            password_hash: row.password_hash,
            created_at: rows::time(row.created_at),
        })
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
        let (id, created_at) = new_id();
        let record = UserRecord {
            id: id.into(),
            username: new.username.clone(),
            bio: None,
            profile_image_url: None,
            email: None,
            admin: new.admin,
            password_hash: new.password_hash.clone(),
            created_at,
        };
        let generation = self.caches().users.generation();
        self.change_vals(
            record,
            |record, tx| Box::pin(insert_user(record, tx)),
            move |caches, record| caches.users.set(generation, record.id, Arc::new(record.clone())),
        )
        .await
    }

    /// The user of this id.
    pub async fn get_user(&self, id: UserId) -> Result<Arc<UserRecord>, StoreError> {
        let users = &self.caches().users;
        if let Some(user) = users.get(&id) {
            return Ok(user);
        }
        let ticket = users.ticket(&id);
        let row = user::Entity::find_by_id(id.0).one(&self.vals().readers).await?;
        let user = Arc::new(UserRecord::try_from(row.ok_or(StoreError::NotFound("user"))?)?);
        users.fill(ticket, id, user.clone());
        Ok(user)
    }

    /// The user of this name, in any case.
    pub async fn find_user(&self, name: &str) -> Result<Arc<UserRecord>, StoreError> {
        let key = name.to_ascii_lowercase();
        let caches = self.caches();
        if let Some(id) = caches.usernames.get(&key)
            && let Some(user) = caches.users.get(&id)
            && user.username.as_str().eq_ignore_ascii_case(name)
        {
            return Ok(user);
        }
        // What can't be a name is nobody's; PostgreSQL would refuse some of it as text.
        if name.parse::<Username>().is_err() {
            return Err(StoreError::NotFound("user"));
        }
        let hint = caches.usernames.ticket(&key);
        let row = user::Entity::find()
            .filter(user::Column::UsernameKey.eq(key.as_str()))
            .one(&self.vals().readers)
            .await?
            .ok_or(StoreError::NotFound("user"))?;
        caches.usernames.fill(hint, key, row.id.into());
        if caches.users.is_on() {
            // Once more by id, which is what is kept in memory and brought up to date.
            return self.get_user(row.id.into()).await;
        }
        Ok(Arc::new(row.try_into()?))
    }

    /// Changes a user's profile; refused when the new name is taken.
    pub async fn update_user(&self, id: UserId, update: &MeUpdate) -> Result<Arc<UserRecord>, StoreError> {
        let generation = self.caches().users.generation();
        let (user, _) = self
            .change_vals(
                (id, update.clone()),
                |(id, update), tx| Box::pin(change_user(*id, update, tx)),
                move |caches, (user, renamed): &(Arc<UserRecord>, bool)| {
                    caches.users.set(generation, user.id, user.clone());
                    if *renamed {
                        // Every val of the user carries the name.
                        caches.vals.clear();
                    }
                },
            )
            .await?;
        Ok(user)
    }

    /// Sets the hash of a user's password.
    pub async fn set_password_hash(&self, id: UserId, hash: String) -> Result<(), StoreError> {
        self.change_vals(
            (id, hash),
            |(id, hash), tx| {
                Box::pin(async move {
                    let row = user::ActiveModel {
                        password_hash: Set(Some(hash.clone())),
                        ..Default::default()
                    };
                    let done = user::Entity::update_many()
                        .set(row)
                        .filter(user::Column::Id.eq(id.0))
                        .exec(tx)
                        .await?;
                    if done.rows_affected == 0 {
                        Err(StoreError::NotFound("user"))
                    } else {
                        Ok(())
                    }
                })
            },
            move |caches, ()| caches.users.remove(&id),
        )
        .await
    }

    /// Whether anyone has an account.
    pub async fn has_users(&self) -> Result<bool, StoreError> {
        Ok(user::Entity::find().one(&self.vals().readers).await?.is_some())
    }

    /// Every user, newest first.
    pub async fn list_users(&self, page: PageQuery) -> Result<Slice<UserRecord>, StoreError> {
        let rows = user::Entity::find()
            .order_by_desc(user::Column::CreatedAt)
            .order_by_desc(user::Column::Id)
            .offset(page.offset)
            .limit(page.limit + 1)
            .all(&self.vals().readers)
            .await?;
        Slice::cut(rows, page.limit).try_map(UserRecord::try_from)
    }
}

async fn insert_user(record: &UserRecord, tx: &DatabaseTransaction) -> Result<UserRecord, StoreError> {
    let row = user::ActiveModel {
        id: Set(record.id.0),
        username: Set(record.username.to_string()),
        username_key: Set(record.username.key()),
        bio: Set(record.bio.clone()),
        profile_image_url: Set(record.profile_image_url.clone()),
        email: Set(record.email.clone()),
        admin: Set(record.admin),
        password_hash: Set(record.password_hash.clone()),
        created_at: Set(record.created_at.as_millis()),
    };
    let inserted = user::Entity::insert(row)
        .on_conflict(
            OnConflict::column(user::Column::UsernameKey)
                .do_nothing()
                .to_owned(),
        )
        .exec_without_returning(tx)
        .await?;
    if inserted == 0 {
        return Err(StoreError::NameTaken(record.username.to_string()));
    }
    Ok(record.clone())
}

/// The user as changed, and whether the name is another now.
async fn change_user(
    id: UserId,
    update: &MeUpdate,
    tx: &DatabaseTransaction,
) -> Result<(Arc<UserRecord>, bool), StoreError> {
    let row = user::Entity::find_by_id(id.0).lock_exclusive().one(tx).await?;
    let before = row.ok_or(StoreError::NotFound("user"))?;
    let old_name = before.username.clone();
    let mut row = before.clone().into_active_model();
    if let Some(name) = &update.username {
        row.username.set_if_not_equals(name.to_string());
        row.username_key.set_if_not_equals(name.key());
    }
    if let Some(bio) = &update.bio {
        row.bio.set_if_not_equals(bio.clone());
    }
    if let Some(email) = &update.email {
        row.email.set_if_not_equals(email.clone());
    }
    if let Some(url) = &update.profile_image_url {
        row.profile_image_url.set_if_not_equals(url.clone());
    }
    let after = if row.is_changed() {
        save_user(row, tx).await?
    } else {
        before
    };
    let renamed = after.username != old_name;
    Ok((Arc::new(after.try_into()?), renamed))
}

async fn save_user(row: user::ActiveModel, tx: &DatabaseTransaction) -> Result<user::Model, StoreError> {
    let name = row.username.clone().unwrap();
    row.update(tx).await.map_err(|error| {
        if is_unique_conflict(&error) {
            StoreError::NameTaken(name)
        } else {
            error.into()
        }
    })
}
