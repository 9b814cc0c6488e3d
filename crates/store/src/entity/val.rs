//! Vals; their code is with their versions.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "vals")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub owner_id: Uuid,
    pub name: String,
    /// The name in lower case, by which it is unique per owner.
    pub name_key: String,
    pub kind: String,
    pub privacy: String,
    pub callable: bool,
    /// Words with a space between.
    pub grants: String,
    /// The latest version.
    pub version: i64,
    /// The number of the next save; never one that was given before.
    pub next_version: i64,
    pub created_at: i64,
    pub updated_at: i64,
    /// Set for a val with a schedule.
    pub cron: Option<String>,
    pub timezone: Option<String>,
    pub paused: bool,
    pub catch_up: bool,
    pub overlap: bool,
    /// The tick that is to run next; set while it runs by itself.
    pub next_run_at: Option<i64>,
    /// Until when the tick that was claimed last keeps the next from running.
    pub running_until: Option<i64>,
    pub last_run_at: Option<i64>,
    pub readme: Option<String>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
