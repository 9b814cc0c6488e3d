//! What the imports of versions were locked to.

use sea_orm_migration::{prelude::*, schema::*};

use crate::entity::{
    version,
    version_lock::{Column, Entity},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let of_version = ForeignKey::create()
            .from(Entity, (Column::ValId, Column::Version))
            .to(
                version::Entity,
                (version::Column::ValId, version::Column::Version),
            )
            .on_delete(ForeignKeyAction::Cascade)
            .take();
        let locks = Table::create()
            .table(Entity)
            .col(uuid(Column::ValId))
            .col(big_integer(Column::Version))
            .col(text(Column::Lock))
            .col(boolean(Column::Complete))
            .primary_key(Index::create().col(Column::ValId).col(Column::Version))
            .foreign_key(&mut of_version.clone())
            .to_owned();
        manager.create_table(locks).await
    }
}
