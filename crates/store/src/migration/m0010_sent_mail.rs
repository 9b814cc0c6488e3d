//! Mail that was sent, and why other mail was not.

use sea_orm_migration::{prelude::*, schema::*};

use crate::entity::outbox::{Column, Entity};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // SQLite adds one column at a time.
        for column in [big_integer_null(Column::SentAt), text_null(Column::Failure)] {
            let add = Table::alter().table(Entity).add_column(column).to_owned();
            manager.alter_table(add).await?;
        }
        let by_run = Index::create()
            .name("outbox_by_run")
            .table(Entity)
            .col(Column::RunId)
            .to_owned();
        manager.create_index(by_run).await
    }
}
