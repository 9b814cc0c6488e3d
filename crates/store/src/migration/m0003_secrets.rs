//! Secrets.

use sea_orm_migration::{prelude::*, schema::*};

use super::of_user;
use crate::entity::secret::{Column, Entity};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let secrets = Table::create()
            .table(Entity)
            .col(uuid(Column::UserId))
            .col(text(Column::Name))
            .col(binary(Column::Sealed))
            .col(text_null(Column::ValIds))
            .col(big_integer(Column::CreatedAt))
            .col(big_integer(Column::UpdatedAt))
            .primary_key(Index::create().col(Column::UserId).col(Column::Name))
            .foreign_key(&mut of_user(Entity, Column::UserId))
            .to_owned();
        manager.create_table(secrets).await
    }
}
