//! When scheduled vals run next, and which of them run.

use sea_orm_migration::{prelude::*, schema::*};

use crate::entity::val::{Column, Entity};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // SQLite adds one column at a time.
        for column in [
            boolean(Column::CatchUp).default(false).take(),
            boolean(Column::Overlap).default(false).take(),
            big_integer_null(Column::NextRunAt),
            big_integer_null(Column::RunningUntil),
        ] {
            let add = Table::alter().table(Entity).add_column(column).to_owned();
            manager.alter_table(add).await?;
        }
        let due = Index::create()
            .name("vals_by_next_run")
            .table(Entity)
            .col(Column::NextRunAt)
            .to_owned();
        manager.create_index(due).await
    }
}
