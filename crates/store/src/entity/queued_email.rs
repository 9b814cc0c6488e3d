//! Messages that came and whose vals are still to run; their bytes are in the object store.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "queued_emails")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub val_id: Uuid,
    pub received_at: i64,
    /// In bytes.
    pub size: i64,
    /// Until when the server that took it keeps others from doing so.
    pub claimed_until: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
