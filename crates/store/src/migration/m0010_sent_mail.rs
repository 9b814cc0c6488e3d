//! Mail that was sent, and why other mail was not.

use sea_orm_migration::{prelude::*, schema::*};

use super::add_columns;
use crate::entity::outbox::{Column, Entity};

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
            [big_integer_null(Column::SentAt), text_null(Column::Failure)],
        )
        .await?;
        let by_run = Index::create()
            .name("outbox_by_run")
            .table(Entity)
            .col(Column::RunId)
            .to_owned();
        manager.create_index(by_run).await
    }
}
