//! Vals whose runs are still to be deleted: those are in another file.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "deleted_vals")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub val_id: Uuid,
    pub deleted_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
