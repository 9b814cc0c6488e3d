//! Until when runs that are no ticks keep a schedule waiting.

use sea_orm_migration::{prelude::*, schema::*};

use super::add_columns;
use crate::entity::val::Entity;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        add_columns(manager, Entity, [big_integer_null("held_until")]).await
    }
}
