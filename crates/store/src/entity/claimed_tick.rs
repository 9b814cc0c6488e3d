//! Ticks that were taken off their schedules and whose runs have not begun.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "claimed_ticks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub val_id: Uuid,
    /// When it was to run.
    pub at: i64,
    /// When its val had last run before.
    pub last_run_at: Option<i64>,
    /// Until when a server has it; free for the next without.
    pub held_until: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
