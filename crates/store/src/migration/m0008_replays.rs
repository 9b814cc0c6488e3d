//! What runs were given, and which run repeats which.

use sea_orm_migration::{prelude::*, schema::*};

use crate::entity::run;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // A statement each: SQLite adds one column at a time.
        for column in [
            uuid_null(run::Column::ReplayOf),
            // Not a table of its own: a second row would cost each request more than the text does.
            text_null(run::Column::Input),
        ] {
            let table = Table::alter().table(run::Entity).add_column(column).to_owned();
            manager.alter_table(table).await?;
        }
        Ok(())
    }
}
