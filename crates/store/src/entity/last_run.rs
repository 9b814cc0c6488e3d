//! How the last run of each val stands.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "last_runs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub val_id: Uuid,
    pub run_id: Uuid,
    pub status: String,
    pub started_at: i64,
    pub duration_ms: Option<f64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
