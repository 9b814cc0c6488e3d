//! Users, tokens, sessions, sign-in links, vals and versions.

use sea_orm_migration::{prelude::*, schema::*};

use super::of_user;
use crate::entity::{deleted_val, session, sign_in_link, token, user, val, version};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [
            users(),
            tokens(),
            sessions(),
            sign_in_links(),
            vals(),
            versions(),
            deleted_vals(),
        ] {
            manager.create_table(table).await?;
        }
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }
}

fn users() -> TableCreateStatement {
    use user::{Column, Entity};
    Table::create()
        .table(Entity)
        .col(pk_uuid(Column::Id))
        .col(text(Column::Username))
        .col(text_uniq(Column::UsernameKey))
        .col(text_null(Column::Bio))
        .col(text_null(Column::ProfileImageUrl))
        .col(text_null(Column::Email))
        .col(boolean(Column::Admin))
        .col(text_null(Column::PasswordHash))
        .col(big_integer(Column::CreatedAt))
        .to_owned()
}

fn tokens() -> TableCreateStatement {
    use token::{Column, Entity};
    Table::create()
        .table(Entity)
        .col(pk_uuid(Column::Id))
        .col(uuid(Column::UserId))
        .col(text(Column::Name))
        .col(text(Column::Scopes))
        .col(binary_uniq(Column::SecretHash))
        .col(big_integer(Column::CreatedAt))
        .col(big_integer_null(Column::ExpiresAt))
        .col(big_integer_null(Column::LastUsedAt))
        .foreign_key(&mut of_user(Entity, Column::UserId))
        .to_owned()
}

fn sessions() -> TableCreateStatement {
    use session::{Column, Entity};
    Table::create()
        .table(Entity)
        .col(binary(Column::SecretHash).primary_key().take())
        .col(uuid(Column::UserId))
        .col(big_integer(Column::CreatedAt))
        .col(big_integer(Column::ExpiresAt))
        .foreign_key(&mut of_user(Entity, Column::UserId))
        .to_owned()
}

fn sign_in_links() -> TableCreateStatement {
    use sign_in_link::{Column, Entity};
    Table::create()
        .table(Entity)
        .col(binary(Column::SecretHash).primary_key().take())
        .col(uuid(Column::UserId))
        .col(big_integer(Column::CreatedAt))
        .col(big_integer(Column::ExpiresAt))
        .foreign_key(&mut of_user(Entity, Column::UserId))
        .to_owned()
}

fn vals() -> TableCreateStatement {
    use val::{Column, Entity};
    Table::create()
        .table(Entity)
        .col(pk_uuid(Column::Id))
        .col(uuid(Column::OwnerId))
        .col(text(Column::Name))
        .col(text(Column::NameKey))
        .col(text(Column::Kind))
        .col(text(Column::Privacy))
        .col(boolean(Column::Callable))
        .col(big_integer(Column::Version))
        .col(big_integer(Column::NextVersion))
        .col(big_integer(Column::CreatedAt))
        .col(big_integer(Column::UpdatedAt))
        .col(text_null(Column::Cron))
        .col(text_null(Column::Timezone))
        .col(boolean(Column::Paused))
        .col(big_integer_null(Column::LastRunAt))
        .col(text_null(Column::Readme))
        .foreign_key(&mut of_user(Entity, Column::OwnerId))
        .to_owned()
}

fn versions() -> TableCreateStatement {
    use version::{Column, Entity};
    let of_val = ForeignKey::create()
        .from(Entity, Column::ValId)
        .to(val::Entity, val::Column::Id)
        .on_delete(ForeignKeyAction::Cascade)
        .take();
    Table::create()
        .table(Entity)
        .col(uuid(Column::ValId))
        .col(big_integer(Column::Version))
        .col(uuid(Column::AuthorId))
        .col(big_integer(Column::CreatedAt))
        .col(text_null(Column::Message))
        .col(big_integer(Column::Size))
        .col(big_integer(Column::LinesAdded))
        .col(big_integer(Column::LinesRemoved))
        .col(text(Column::Code))
        .primary_key(Index::create().col(Column::ValId).col(Column::Version))
        .foreign_key(&mut of_val.clone())
        .to_owned()
}

fn deleted_vals() -> TableCreateStatement {
    use deleted_val::{Column, Entity};
    Table::create()
        .table(Entity)
        .col(pk_uuid(Column::ValId))
        .col(big_integer(Column::DeletedAt))
        .to_owned()
}

fn indexes() -> Vec<IndexCreateStatement> {
    vec![
        Index::create()
            .name("tokens_by_user")
            .table(token::Entity)
            .col(token::Column::UserId)
            .col(token::Column::CreatedAt)
            .col(token::Column::Id)
            .to_owned(),
        Index::create()
            .name("sessions_by_user")
            .table(session::Entity)
            .col(session::Column::UserId)
            .to_owned(),
        Index::create()
            .name("sign_in_links_by_user")
            .table(sign_in_link::Entity)
            .col(sign_in_link::Column::UserId)
            .to_owned(),
        Index::create()
            .name("vals_by_name")
            .table(val::Entity)
            .col(val::Column::OwnerId)
            .col(val::Column::NameKey)
            .unique()
            .to_owned(),
        // Lists read these two alone, and take the vals themselves from memory.
        Index::create()
            .name("vals_by_owner")
            .table(val::Entity)
            .col(val::Column::OwnerId)
            .col(val::Column::Privacy)
            .col(val::Column::CreatedAt)
            .col(val::Column::Id)
            .col(val::Column::Kind)
            .to_owned(),
        Index::create()
            .name("vals_by_privacy")
            .table(val::Entity)
            .col(val::Column::Privacy)
            .col(val::Column::CreatedAt)
            .col(val::Column::Id)
            .col(val::Column::Kind)
            .to_owned(),
    ]
}
