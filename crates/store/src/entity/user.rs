//! People.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "users")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub username: String,
    /// The name in lower case, by which it is unique.
    pub username_key: String,
    pub bio: Option<String>,
    pub profile_image_url: Option<String>,
    pub email: Option<String>,
    pub admin: bool,
    pub password_hash: Option<String>,
    pub created_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
