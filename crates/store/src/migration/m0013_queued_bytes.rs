//! How much mail waits, by whose it is.

use sea_orm_migration::{prelude::*, schema::*};

use super::add_columns;
use crate::entity::queued_email::{Column, Entity};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // What waits by now is not counted: it is gone soon.
        let size = big_integer(Column::Size).default(0).take();
        add_columns(manager, Entity, [size]).await?;
        let by_val = Index::create()
            .name("queued_emails_by_val")
            .table(Entity)
            .col(Column::ValId)
            .to_owned();
        manager.create_index(by_val).await
    }
}
