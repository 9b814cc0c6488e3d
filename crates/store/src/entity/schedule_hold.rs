//! Runs that their owners started and that keep the ticks of their vals waiting.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "schedule_holds")]
pub struct Model {
    /// The run.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub val_id: Uuid,
    /// By when it is over, whether or not that is noted.
    pub until: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
