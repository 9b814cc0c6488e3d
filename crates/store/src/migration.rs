//! The schema, as the steps that made it. A step that was released is never changed: add another.

mod m0001_runs;
mod m0001_vals;

use sea_orm_migration::{
    MigrationTrait, MigratorTrait,
    async_trait::async_trait,
    sea_orm::DynIden,
    sea_query::{Alias, IntoIden},
};

/// The steps of users, tokens, sessions, vals and versions.
pub(crate) struct ValsMigrator;

#[async_trait]
impl MigratorTrait for ValsMigrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(m0001_vals::Migration)]
    }

    fn migration_table_name() -> DynIden {
        Alias::new("migrations").into_iden()
    }
}

/// The steps of runs and their logs.
pub(crate) struct RunsMigrator;

#[async_trait]
impl MigratorTrait for RunsMigrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(m0001_runs::Migration)]
    }

    fn migration_table_name() -> DynIden {
        Alias::new("run_migrations").into_iden()
    }
}
