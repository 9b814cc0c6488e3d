//! The schema, as the steps that made it. A step that was released is never changed: add another.

mod m0001_runs;
mod m0001_vals;
mod m0002_blobs;
mod m0003_secrets;
mod m0004_grants;
mod m0005_schedules;
mod m0006_mail;
mod m0007_locks;
mod m0008_replays;
mod m0009_ticks;
mod m0010_sent_mail;
mod m0011_retries;
mod m0012_holds;
mod m0013_queued_bytes;
mod m0014_schedule_holds;

use sea_orm_migration::{
    MigrationTrait, MigratorTrait, SchemaManager,
    async_trait::async_trait,
    sea_orm::{DbErr, DynIden},
    sea_query::{
        Alias, ColumnDef, ForeignKey, ForeignKeyAction, ForeignKeyCreateStatement, IntoIden, IntoTableRef,
        Table,
    },
};

use crate::entity::user;

/// The steps of users, tokens, sessions, vals and versions.
pub(crate) struct ValsMigrator;

#[async_trait]
impl MigratorTrait for ValsMigrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_vals::Migration),
            Box::new(m0002_blobs::Migration),
            Box::new(m0003_secrets::Migration),
            Box::new(m0004_grants::Migration),
            Box::new(m0005_schedules::Migration),
            Box::new(m0006_mail::Migration),
            Box::new(m0007_locks::Migration),
            Box::new(m0009_ticks::Migration),
            Box::new(m0010_sent_mail::Migration),
            Box::new(m0011_retries::Migration),
            Box::new(m0012_holds::Migration),
            Box::new(m0013_queued_bytes::Migration),
            Box::new(m0014_schedule_holds::Migration),
        ]
    }

    fn migration_table_name() -> DynIden {
        Alias::new("migrations").into_iden()
    }
}

/// The steps of runs and their logs.
pub(crate) struct RunsMigrator;

#[async_trait]
impl MigratorTrait for RunsMigrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_runs::Migration),
            Box::new(m0008_replays::Migration),
        ]
    }

    fn migration_table_name() -> DynIden {
        Alias::new("run_migrations").into_iden()
    }
}

/// Adds columns to a table, a statement each: SQLite takes one at a time.
async fn add_columns<T, const N: usize>(
    manager: &SchemaManager<'_>,
    table: T,
    columns: [ColumnDef; N],
) -> Result<(), DbErr>
where
    T: IntoTableRef + Copy,
{
    for column in columns {
        let add = Table::alter().table(table).add_column(column).to_owned();
        manager.alter_table(add).await?;
    }
    Ok(())
}

/// What a user has goes with the user.
fn of_user<T, C>(table: T, column: C) -> ForeignKeyCreateStatement
where
    T: IntoTableRef,
    C: IntoIden,
{
    ForeignKey::create()
        .from(table, column)
        .to(user::Entity, user::Column::Id)
        .on_delete(ForeignKeyAction::Cascade)
        .take()
}
