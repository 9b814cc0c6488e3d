//! What vals grant their runs.

use sea_orm_migration::prelude::*;

use crate::entity::val::{Column, Entity};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let add = Table::alter()
            .table(Entity)
            .add_column(ColumnDef::new(Column::Grants).text().not_null().default(""))
            .to_owned();
        manager.alter_table(add).await
    }
}
