//! What runs were given, and which run repeats which.

use sea_orm_migration::{prelude::*, schema::*};

use super::add_columns;
use crate::entity::run;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        add_columns(
            manager,
            run::Entity,
            [
                uuid_null(run::Column::ReplayOf),
                // Not a table of its own: a second row would cost each request more than the text does.
                text_null(run::Column::Input),
            ],
        )
        .await
    }
}
