//! `hamlet user`: accounts.

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use hamlet_models::{NewToken, PasswordChange, Scopes, Username};
use hamlet_store::{NewUser, StoreError, hash_secret};

use super::{print, store_args::StoreArgs};
use crate::auth::{Passwords, new_token_secret};

#[derive(Subcommand)]
pub(super) enum UserCommand {
    /// Make an account and print an API token for it
    Create(Create),
}

impl UserCommand {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(create) => create.run().await,
        }
    }
}

#[derive(Args)]
pub(super) struct Create {
    /// The username: letters, digits, - and _
    name: Username,
    /// Let the user administer the instance
    #[arg(long)]
    admin: bool,
    /// Read a password from the first line of standard input
    #[arg(long)]
    password_stdin: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl Create {
    async fn run(self) -> anyhow::Result<()> {
        let password_hash = if self.password_stdin {
            Some(hash_of_password_on_stdin().await?)
        } else {
            None
        };
        let store = self.store.open().await?;
        let new = NewUser {
            username: self.name,
            admin: self.admin,
            password_hash,
        };
        let user = match store.create_user(&new).await {
            Err(StoreError::NameTaken(name)) => bail!(
                "the name {name} is taken: choose another, or make a token for it with hamlet token create --user {name} \
                 --name LABEL"
            ),
            made => made?,
        };
        let secret = new_token_secret();
        let token = NewToken {
            name: "command line".parse().context("a token's name")?,
            scopes: Scopes::all(),
            expires_at: None,
        };
        store.create_token(user.id, &token, hash_secret(&secret)).await?;
        store.close().await?;
        print(format_args!("Made the user {}.", user.username))?;
        print(format_args!("API token, shown this once: {secret}"))
    }
}

async fn hash_of_password_on_stdin() -> anyhow::Result<String> {
    let line = std::io::stdin().lines().next().transpose()?.unwrap_or_default();
    let password = line.trim_end_matches('\r').to_owned();
    if let Some(problem) = PasswordChange::problem(&password) {
        bail!("{problem}: send one on the first line of standard input");
    }
    Passwords::new().hash(password).await
}
