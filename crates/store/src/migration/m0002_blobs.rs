//! Blobs.

use sea_orm_migration::{prelude::*, schema::*};

use super::of_user;
use crate::entity::blob::{Column, Entity};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let blobs = Table::create()
            .table(Entity)
            .col(uuid(Column::UserId))
            .col(text(Column::Key))
            .col(uuid(Column::ObjectId))
            .col(big_integer(Column::Size))
            .col(big_integer(Column::ModifiedAt))
            .primary_key(Index::create().col(Column::UserId).col(Column::Key))
            .foreign_key(&mut of_user(Entity, Column::UserId))
            .to_owned();
        manager.create_table(blobs).await
    }
}
