//! What keeps a schedule waiting, run by run: a val may have several that are no ticks.

use sea_orm_migration::{prelude::*, schema::*};

use crate::entity::{
    schedule_hold::{Column, Entity},
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
        let holds = Table::create()
            .table(Entity)
            .col(pk_uuid(Column::Id))
            .col(uuid(Column::ValId))
            .col(big_integer(Column::Until))
            .foreign_key(&mut of_val.clone())
            .to_owned();
        manager.create_table(holds).await?;
        let by_val = Index::create()
            .name("schedule_holds_by_val")
            .table(Entity)
            .col(Column::ValId)
            .to_owned();
        manager.create_index(by_val).await?;
        let of_one = Table::alter()
            .table(val::Entity)
            .drop_column("held_until")
            .to_owned();
        manager.alter_table(of_one).await
    }
}
