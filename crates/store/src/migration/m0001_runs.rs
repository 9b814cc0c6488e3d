//! Runs, their logs, and how the last run of each val stands.

use sea_orm_migration::{prelude::*, schema::*};

use crate::entity::{last_run, run, run_log};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [runs(), run_logs(), last_runs()] {
            manager.create_table(table).await?;
        }
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }
}

/// What may be large stands last: SQLite reads a row from the front, and no further than it must.
fn runs() -> TableCreateStatement {
    use run::{Column, Entity};
    Table::create()
        .table(Entity)
        .col(pk_uuid(Column::Id))
        .col(uuid_null(Column::ValId))
        .col(uuid(Column::OwnerId))
        .col(text(Column::OwnerName))
        .col(text_null(Column::ValName))
        .col(big_integer_null(Column::Version))
        .col(uuid_null(Column::ParentId))
        .col(text(Column::Status))
        .col(text(Column::Trigger))
        .col(big_integer(Column::StartedAt))
        .col(big_integer_null(Column::EndedAt))
        .col(double_null(Column::DurationMs))
        .col(double_null(Column::CpuMs))
        .col(big_integer_null(Column::MemoryBytes))
        .col(big_integer(Column::Size))
        .col(big_integer(Column::LogSize))
        .col(text(Column::Phases))
        .col(text(Column::Truncated))
        .col(text_null(Column::Request))
        .col(text_null(Column::Error))
        .col(text_null(Column::Args))
        .col(text_null(Column::ReturnValue))
        .col(text_null(Column::Response))
        .to_owned()
}

fn run_logs() -> TableCreateStatement {
    use run_log::{Column, Entity};
    Table::create()
        .table(Entity)
        .col(uuid(Column::RunId))
        .col(big_integer(Column::Seq))
        .col(text(Column::Lines))
        .primary_key(Index::create().col(Column::RunId).col(Column::Seq))
        .to_owned()
}

fn last_runs() -> TableCreateStatement {
    use last_run::{Column, Entity};
    Table::create()
        .table(Entity)
        .col(pk_uuid(Column::ValId))
        .col(uuid(Column::RunId))
        .col(text(Column::Status))
        .col(big_integer(Column::StartedAt))
        .col(double_null(Column::DurationMs))
        .to_owned()
}

fn indexes() -> Vec<IndexCreateStatement> {
    use run::{Column, Entity};
    vec![
        Index::create()
            .name("runs_by_val")
            .table(Entity)
            .col(Column::ValId)
            .col(Column::StartedAt)
            .col(Column::Id)
            .to_owned(),
        Index::create()
            .name("runs_by_owner")
            .table(Entity)
            .col(Column::OwnerId)
            .col(Column::StartedAt)
            .col(Column::Id)
            .to_owned(),
        // The two sizes are here so that counting what all runs hold reads no run.
        Index::create()
            .name("runs_by_start")
            .table(Entity)
            .col(Column::StartedAt)
            .col(Column::Id)
            .col(Column::Size)
            .col(Column::LogSize)
            .to_owned(),
        // A few rows at any time: those that go on.
        Index::create()
            .name("runs_unfinished")
            .table(Entity)
            .col(Column::StartedAt)
            .and_where(Expr::col(Column::Status).is_in(["queued", "running"]))
            .to_owned(),
    ]
}
