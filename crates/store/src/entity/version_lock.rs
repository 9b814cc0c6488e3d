//! What the imports of versions were locked to; beside the versions, which are read far more often.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "version_locks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub val_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub version: i64,
    pub lock: String,
    /// Whether it has everything that the version imports.
    pub complete: bool,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
