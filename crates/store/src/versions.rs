//! Versions: what each save left behind.

use std::sync::Arc;

use hamlet_models::{Author, NewVersion, PageQuery, UserId, ValId, ValUpdate, Version, VersionNumber};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, IntoActiveModel,
    QueryFilter, QueryOrder, QueryResult, QuerySelect, Set, TryIntoModel,
    sea_query::{Expr, ExprTrait, Order, Query},
};

use crate::{
    Slice, Store, StoreError, ValRecord,
    clock::now,
    diff::{Lines, changed_lines, changed_lines_aside},
    entity::{user, val, version},
    rows,
    vals::{
        apply,
        rows::{Head, Which, load_record, lock_head, of_id},
        save_row,
    },
};

/// What a save came to.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The val as it is now.
    pub val: Arc<ValRecord>,
    /// Whether there is a new version: none is made when nothing changed.
    pub created: bool,
}

/// A save that is to be written.
pub(crate) struct Save {
    author: UserId,
    code: Arc<str>,
    message: Option<String>,
    /// What to change of the val with it.
    update: ValUpdate,
    expected: Option<VersionNumber>,
    /// What the comparison with this version came to, made before others have to wait for the save.
    compared: Option<(VersionNumber, Lines)>,
}

impl Store {
    /// Saves a version; nothing happens when neither the code nor anything given with it differs from what there is.
    /// With `expected`, refused unless that is the latest version.
    pub async fn create_version(
        &self,
        val_id: ValId,
        author: UserId,
        new: &NewVersion,
        expected: Option<VersionNumber>,
    ) -> Result<Saved, StoreError> {
        let generation = self.caches().vals.generation();
        let before = self.get_val(val_id).await?;
        let save = Save::new(author, new, expected, Some(&before)).await;
        self.change_vals(
            (val_id, save),
            |(val_id, save), tx| {
                Box::pin(async move { save.write(lock_head(tx, of_id(*val_id)).await?, tx).await })
            },
            move |caches, saved: &Saved| caches.vals.set(generation, val_id, saved.val.clone()),
        )
        .await
    }

    /// The val with the code of this version.
    pub async fn get_version(
        &self,
        val_id: ValId,
        version: VersionNumber,
    ) -> Result<Arc<ValRecord>, StoreError> {
        if let Some(val) = self.caches().vals.get(&val_id)
            && val.latest == version
        {
            return Ok(val);
        }
        let readers = &self.vals().readers;
        if let Some(val) = load_record(readers, of_id(val_id), Which::Number(version)).await? {
            return Ok(Arc::new(val));
        }
        let val = val::Entity::find_by_id(val_id.0).one(readers).await?;
        Err(StoreError::NotFound(if val.is_some() {
            "version"
        } else {
            "val"
        }))
    }

    /// A val's versions, newest first.
    pub async fn list_versions(&self, val_id: ValId, page: PageQuery) -> Result<Slice<Version>, StoreError> {
        use version::Column;
        let columns = [
            Column::Version,
            Column::AuthorId,
            Column::CreatedAt,
            Column::Message,
            Column::Size,
            Column::LinesAdded,
            Column::LinesRemoved,
        ];
        let author = Expr::col((user::Entity, user::Column::Id)).equals((version::Entity, Column::AuthorId));
        let select = Query::select()
            .columns(columns.map(|column| (version::Entity, column)))
            .column((user::Entity, user::Column::Username))
            .from(version::Entity)
            .left_join(user::Entity, author)
            .and_where(Expr::col((version::Entity, Column::ValId)).eq(val_id.0))
            .order_by((version::Entity, Column::Version), Order::Desc)
            .offset(page.offset)
            .limit(page.limit + 1)
            .to_owned();
        let rows = self.vals().readers.query_all(&select).await?;
        Slice::cut(rows, page.limit).try_map(|row| listed(val_id, &row))
    }

    /// Deletes a version; the highest that remains becomes the latest. Refused when it is the only one.
    pub async fn delete_version(&self, val_id: ValId, version: VersionNumber) -> Result<(), StoreError> {
        self.change_vals(
            (val_id, version),
            |(val_id, version), tx| Box::pin(remove_version(*val_id, *version, tx)),
            move |caches, ()| caches.vals.remove(&val_id),
        )
        .await
    }
}

impl Save {
    /// Prepares a save; `before` is the val as it seems to be now.
    pub(crate) async fn new(
        author: UserId,
        new: &NewVersion,
        expected: Option<VersionNumber>,
        before: Option<&ValRecord>,
    ) -> Self {
        let compared = match before {
            Some(before) => Some((before.latest, changed_lines_aside(&before.code, &new.code).await)),
            None => None,
        };
        Self {
            author,
            code: new.code.as_str().into(),
            message: new.message.clone().filter(|message| !message.is_empty()),
            update: ValUpdate {
                name: new.name.clone(),
                readme: new.readme.clone(),
                privacy: new.privacy,
                kind: new.kind,
                ..ValUpdate::default()
            },
            expected,
            compared,
        }
    }

    /// Writes the save to a val that the transaction holds.
    pub(crate) async fn write(&self, head: Head, tx: &DatabaseTransaction) -> Result<Saved, StoreError> {
        let Head {
            row: before,
            username,
        } = head;
        let latest = rows::version(before.version)?;
        if self.expected.is_some_and(|expected| expected != latest) {
            return Err(StoreError::VersionMismatch { latest });
        }
        let last = version::Entity::find_by_id((before.id, before.version))
            .one(tx)
            .await?;
        let last =
            last.ok_or_else(|| StoreError::Unreadable(format!("val {} has no latest version", before.id)))?;
        let number = before.next_version;
        let mut row = before.clone().into_active_model();
        apply(&mut row, &self.update);
        if last.code == *self.code && !row.is_changed() {
            let head = Head {
                row: before,
                username,
            };
            let val = head.record(last.version, self.code.clone(), last.created_at)?;
            return Ok(Saved {
                val: Arc::new(val),
                created: false,
            });
        }
        let at = now().as_millis();
        row.version = Set(number);
        row.next_version = Set(number + 1);
        row.updated_at = Set(at);
        let after = row.clone().try_into_model()?;
        save_row(row, tx).await?;
        self.insert(&before, &last.code, at, tx).await?;
        let val = Head { row: after, username }.record(number, self.code.clone(), at)?;
        Ok(Saved {
            val: Arc::new(val),
            created: true,
        })
    }

    async fn insert(
        &self,
        before: &val::Model,
        last_code: &str,
        at: i64,
        tx: &DatabaseTransaction,
    ) -> Result<(), StoreError> {
        let lines = match self.compared {
            Some((version, lines)) if i64::from(version) == before.version => lines,
            _ => changed_lines(last_code, &self.code),
        };
        let row = version::Model {
            val_id: before.id,
            version: before.next_version,
            author_id: self.author.0,
            created_at: at,
            message: self.message.clone(),
            size: rows::count(self.code.len()),
            lines_added: rows::count(lines.added),
            lines_removed: rows::count(lines.removed),
            code: self.code.to_string(),
        };
        version::Entity::insert(row.into_active_model())
            .exec_without_returning(tx)
            .await?;
        Ok(())
    }
}

async fn remove_version(
    val_id: ValId,
    version: VersionNumber,
    tx: &DatabaseTransaction,
) -> Result<(), StoreError> {
    let head = lock_head(tx, of_id(val_id)).await?;
    let highest: Vec<i64> = version::Entity::find()
        .select_only()
        .column(version::Column::Version)
        .filter(version::Column::ValId.eq(val_id.0))
        .order_by_desc(version::Column::Version)
        .limit(2)
        .into_tuple()
        .all(tx)
        .await?;
    let number = i64::from(version);
    if highest == [number] {
        return Err(StoreError::LastVersion);
    }
    let deleted = version::Entity::delete_by_id((val_id.0, number)).exec(tx).await?;
    if deleted.rows_affected == 0 {
        return Err(StoreError::NotFound("version"));
    }
    let latest = highest.into_iter().find(|remaining| *remaining != number);
    let mut row = head.row.into_active_model();
    row.version
        .set_if_not_equals(latest.ok_or(StoreError::LastVersion)?);
    row.updated_at = Set(now().as_millis());
    save_row(row, tx).await
}

fn listed(val_id: ValId, row: &QueryResult) -> Result<Version, StoreError> {
    let count = |column: &str| -> Result<u32, StoreError> {
        let count: i64 = row.try_get("", column)?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    };
    let username: Option<String> = row.try_get("", "username")?;
    let author_id: uuid::Uuid = row.try_get("", "author_id")?;
    let author = match username {
        Some(username) => Some(Author {
            id: author_id.into(),
            username: rows::name(&username)?,
        }),
        None => None,
    };
    let size: i64 = row.try_get("", "size")?;
    Ok(Version {
        val_id,
        version: rows::version(row.try_get("", "version")?)?,
        created_at: rows::time(row.try_get("", "created_at")?),
        author,
        message: row.try_get("", "message")?,
        size: u64::try_from(size).unwrap_or(0),
        lines_added: count("lines_added")?,
        lines_removed: count("lines_removed")?,
    })
}
