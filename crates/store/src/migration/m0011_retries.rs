//! When mail that waits is tried again.

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
        // What waits by now was not promised to be sent by itself, and is not.
        add_columns(
            manager,
            Entity,
            [
                integer(Column::Attempts).default(0).take(),
                big_integer_null(Column::NextAttemptAt),
            ],
        )
        .await?;
        let by_next_attempt = Index::create()
            .name("outbox_by_next_attempt")
            .table(Entity)
            .col(Column::NextAttemptAt)
            .to_owned();
        manager.create_index(by_next_attempt).await
    }
}
