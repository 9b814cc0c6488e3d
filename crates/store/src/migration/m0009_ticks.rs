//! Ticks between their claim and the beginning of their runs.

use sea_orm_migration::{prelude::*, schema::*};

use crate::entity::{
    claimed_tick::{Column, Entity},
    val,
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let of_val = ForeignKey::create()
            .from(Entity, Column::ValId)
            .to(val::Entity, val::Column::Id)
            .on_delete(ForeignKeyAction::Cascade)
            .take();
        let claimed_ticks = Table::create()
            .table(Entity)
            .col(pk_uuid(Column::Id))
            .col(uuid(Column::ValId))
            .col(big_integer(Column::At))
            .col(big_integer_null(Column::LastRunAt))
            .col(big_integer_null(Column::HeldUntil))
            .foreign_key(&mut of_val.clone())
            .to_owned();
        manager.create_table(claimed_ticks).await?;
        let by_val = Index::create()
            .name("claimed_ticks_by_val")
            .table(Entity)
            .col(Column::ValId)
            .to_owned();
        manager.create_index(by_val).await
    }
}
