//! Messages that were sent, and those that were to be and could not; the bytes of the latter are in the object store.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "outbox")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub user_id: Uuid,
    pub run_id: Option<Uuid>,
    /// JSON.
    pub content: String,
    pub created_at: i64,
    /// When it left by a relay; it waits without.
    pub sent_at: Option<i64>,
    /// Why it could not be sent; there was nothing to send it by without.
    pub failure: Option<String>,
    /// How often it was tried again.
    pub attempts: i32,
    /// When it is tried again; never without.
    pub next_attempt_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
