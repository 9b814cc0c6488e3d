//! Runs.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "runs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub val_id: Option<Uuid>,
    pub owner_id: Uuid,
    pub owner_name: String,
    pub val_name: Option<String>,
    pub version: Option<i64>,
    pub parent_id: Option<Uuid>,
    pub status: String,
    pub trigger: String,
    pub started_at: i64,
    pub ended_at: Option<i64>,
    pub duration_ms: Option<f64>,
    pub cpu_ms: Option<f64>,
    pub memory_bytes: Option<i64>,
    /// About how many bytes the row takes.
    pub size: i64,
    /// How many bytes its logs and its input take.
    pub log_size: i64,
    /// JSON, as are those below.
    pub phases: String,
    pub truncated: String,
    pub request: Option<String>,
    pub error: Option<String>,
    pub args: Option<String>,
    pub return_value: Option<String>,
    pub response: Option<String>,
    pub replay_of: Option<Uuid>,
    /// JSON; written once, when all of it is known.
    pub input: Option<String>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
