//! When scheduled vals run next, and which of them run.

use sea_orm_migration::{prelude::*, schema::*};

use super::add_columns;
use crate::entity::val::{Column, Entity};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        add_columns(
            manager,
            Entity,
            [
                boolean(Column::CatchUp).default(false).take(),
                boolean(Column::Overlap).default(false).take(),
                big_integer_null(Column::NextRunAt),
                big_integer_null(Column::RunningUntil),
            ],
        )
        .await?;
        let due = Index::create()
            .name("vals_by_next_run")
            .table(Entity)
            .col(Column::NextRunAt)
            .to_owned();
        manager.create_index(due).await
    }
}
