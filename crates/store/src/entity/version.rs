//! Versions: what each save left behind.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "versions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub val_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub version: i64,
    pub author_id: Uuid,
    pub created_at: i64,
    pub message: Option<String>,
    /// The code's length in bytes.
    pub size: i64,
    pub lines_added: i64,
    pub lines_removed: i64,
    pub code: String,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
