//! Mail that goes out, and mail that came.

use sea_orm_migration::{prelude::*, schema::*};

use super::of_user;
use crate::entity::{outbox, queued_email, val};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(outbox()).await?;
        manager.create_table(queued_emails()).await?;
        let by_user = Index::create()
            .name("outbox_by_user")
            .table(outbox::Entity)
            .col(outbox::Column::UserId)
            .col(outbox::Column::CreatedAt)
            .col(outbox::Column::Id)
            .to_owned();
        manager.create_index(by_user).await
    }
}

fn outbox() -> TableCreateStatement {
    use outbox::{Column, Entity};
    Table::create()
        .table(Entity)
        .col(pk_uuid(Column::Id))
        .col(uuid(Column::UserId))
        .col(uuid_null(Column::RunId))
        .col(text(Column::Content))
        .col(big_integer(Column::CreatedAt))
        .foreign_key(&mut of_user(Entity, Column::UserId))
        .to_owned()
}

fn queued_emails() -> TableCreateStatement {
    use queued_email::{Column, Entity};
    let of_val = ForeignKey::create()
        .from(Entity, Column::ValId)
        .to(val::Entity, val::Column::Id)
        .on_delete(ForeignKeyAction::Cascade)
        .take();
    Table::create()
        .table(Entity)
        .col(pk_uuid(Column::Id))
        .col(uuid(Column::ValId))
        .col(big_integer(Column::ReceivedAt))
        .col(big_integer_null(Column::ClaimedUntil))
        .foreign_key(&mut of_val.clone())
        .to_owned()
}
