//! Reading vals: the row, its owner's name and the code of one version come in one query.

use std::sync::Arc;

use hamlet_models::{Author, ValId, ValKind};
use sea_orm::{
    ConnectionTrait, FromQueryResult, Iterable, QueryResult,
    sea_query::{Expr, ExprTrait, LockType, Query, SelectStatement},
};
use uuid::Uuid;

use crate::{
    StoreError,
    entity::{user, val, version},
    rows,
    vals::{ScheduleRecord, ValRecord},
};

/// A val without code.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) row: val::Model,
    pub(crate) username: String,
}

impl Head {
    fn read(row: &QueryResult) -> Result<Self, StoreError> {
        Ok(Self {
            row: val::Model::from_query_result(row, "")?,
            username: row.try_get("", "username")?,
        })
    }

    /// The val with the code of a version.
    pub(crate) fn record(self, version: i64, code: Arc<str>, saved_at: i64) -> Result<ValRecord, StoreError> {
        let row = self.row;
        let kind = rows::kind(&row.kind)?;
        let schedule = row
            .cron
            .filter(|_| kind == ValKind::Interval)
            .map(|cron| ScheduleRecord {
                cron,
                timezone: row.timezone.unwrap_or_else(|| "UTC".to_owned()),
                paused: row.paused,
                catch_up: row.catch_up,
                overlap: row.overlap,
                next_run_at: row.next_run_at.map(rows::time),
                last_run_at: row.last_run_at.map(rows::time),
            });
        Ok(ValRecord {
            id: row.id.into(),
            owner: Author {
                id: row.owner_id.into(),
                username: rows::name(&self.username)?,
            },
            name: rows::name(&row.name)?,
            kind,
            privacy: rows::privacy(&row.privacy)?,
            readme: row.readme,
            callable: row.callable,
            grants: rows::scopes(&row.grants)?,
            schedule,
            version: rows::version(version)?,
            latest: rows::version(row.version)?,
            code,
            created_at: rows::time(row.created_at),
            updated_at: rows::time(row.updated_at),
            version_created_at: rows::time(saved_at),
        })
    }
}

/// Vals and their owners, with nothing selected yet.
fn from_vals(which: Expr) -> SelectStatement {
    let owner = Expr::col((user::Entity, user::Column::Id)).equals((val::Entity, val::Column::OwnerId));
    Query::select()
        .from(val::Entity)
        .inner_join(user::Entity, owner)
        .and_where(which)
        .to_owned()
}

fn select_heads(which: Expr) -> SelectStatement {
    from_vals(which)
        .columns(val::Column::iter().map(|column| (val::Entity, column)))
        .column((user::Entity, user::Column::Username))
        .to_owned()
}

/// The val that the condition names, held until the transaction ends.
pub(crate) async fn lock_head<D: ConnectionTrait>(db: &D, which: Expr) -> Result<Head, StoreError> {
    let select = select_heads(which)
        .lock_with_tables(LockType::Update, [val::Entity])
        .to_owned();
    let row = db.query_one(&select).await?;
    Head::read(&row.ok_or(StoreError::NotFound("val"))?)
}

/// The id of the val that the condition names.
pub(crate) async fn find_id<D: ConnectionTrait>(db: &D, which: Expr) -> Result<ValId, StoreError> {
    let select = from_vals(which).column((val::Entity, val::Column::Id)).to_owned();
    let row = db.query_one(&select).await?.ok_or(StoreError::NotFound("val"))?;
    let id: Uuid = row.try_get_by_index(0)?;
    Ok(id.into())
}

/// Which version's code to read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Latest,
    Number(u32),
}

/// The vals that the condition names, with code.
pub(crate) async fn load_records<D: ConnectionTrait>(
    db: &D,
    which: Expr,
    version: Which,
) -> Result<Vec<ValRecord>, StoreError> {
    let column = |column| Expr::col((version::Entity, column));
    let number = match version {
        Which::Latest => Expr::col((val::Entity, val::Column::Version)),
        Which::Number(number) => Expr::value(i64::from(number)),
    };
    let its_version = column(version::Column::ValId)
        .equals((val::Entity, val::Column::Id))
        .and(column(version::Column::Version).eq(number));
    let mut select = select_heads(which);
    select
        .inner_join(version::Entity, its_version)
        .expr_as(column(version::Column::Version), "shown")
        .expr_as(column(version::Column::CreatedAt), "saved_at")
        .expr_as(column(version::Column::Code), "code");
    let rows = db.query_all(&select).await?;
    rows.iter()
        .map(|row| {
            let code: String = row.try_get("", "code")?;
            Head::read(row)?.record(
                row.try_get("", "shown")?,
                code.into(),
                row.try_get("", "saved_at")?,
            )
        })
        .collect()
}

/// The val that the condition names, with code.
pub(crate) async fn load_record<D: ConnectionTrait>(
    db: &D,
    which: Expr,
    version: Which,
) -> Result<Option<ValRecord>, StoreError> {
    Ok(load_records(db, which, version).await?.pop())
}

/// The val of this id.
pub(crate) fn of_id(id: ValId) -> Expr {
    Expr::col((val::Entity, val::Column::Id)).eq(id.0)
}
