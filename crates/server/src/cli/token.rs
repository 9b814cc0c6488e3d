//! `hamlet token`: API tokens.

use std::{str::FromStr, time::Duration};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use hamlet_models::{NewToken, PageQuery, Scope, Scopes, Token, TokenId, TokenName, UserId, Username};
use hamlet_store::{Store, StoreError, hash_secret};

use super::{
    print,
    store_args::{StoreArgs, find_user},
};
use crate::{auth::new_token_secret, clock};

#[derive(Subcommand)]
pub(super) enum TokenCommand {
    /// Make a token and print it
    Create(Create),
    /// List a user's tokens
    List(List),
    /// Revoke a token: the one on standard input, or one by its name
    Revoke(Revoke),
}

impl TokenCommand {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(create) => create.run().await,
            Self::List(list) => list.run().await,
            Self::Revoke(revoke) => revoke.run().await,
        }
    }
}

#[derive(Args)]
pub(super) struct Create {
    /// Whose token
    #[arg(long, value_name = "NAME")]
    user: Username,
    /// What to call it
    #[arg(long, value_name = "LABEL")]
    name: TokenName,
    /// What it may do, like val:read; may be given several times [default: everything]
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<Scope>,
    /// When it stops working, like 12h, 30d or 8w from now [default: never]
    #[arg(long, value_name = "TIME")]
    expires: Option<Lifetime>,
    #[command(flatten)]
    store: StoreArgs,
}

impl Create {
    async fn run(self) -> anyhow::Result<()> {
        let store = self.store.open().await?;
        let user = find_user(&store, &self.user).await?;
        let new = NewToken {
            name: self.name,
            scopes: if self.scopes.is_empty() {
                Scopes::all()
            } else {
                self.scopes.into_iter().collect()
            },
            expires_at: self.expires.map(|Lifetime(lifetime)| clock::after(lifetime)),
        };
        let secret = new_token_secret();
        store.create_token(user.id, &new, hash_secret(&secret)).await?;
        store.close().await?;
        print(format_args!(
            "API token “{}” of {}, shown this once: {secret}",
            new.name, user.username
        ))
    }
}

#[derive(Args)]
pub(super) struct List {
    /// Whose tokens
    #[arg(long, value_name = "NAME")]
    user: Username,
    #[command(flatten)]
    store: StoreArgs,
}

impl List {
    async fn run(self) -> anyhow::Result<()> {
        let store = self.store.open().await?;
        let user = find_user(&store, &self.user).await?;
        for token in tokens_of(&store, user.id).await? {
            let expires = token
                .expires_at
                .map_or_else(|| "never".to_owned(), |time| time.to_string());
            print(format_args!("{}  {}  expires {expires}", token.id, token.name))?;
        }
        Ok(store.close().await?)
    }
}

#[derive(Args)]
pub(super) struct Revoke {
    /// The token itself; better sent on standard input, where no other program sees it
    #[arg(conflicts_with_all = ["user", "name", "id"])]
    token: Option<String>,
    /// Whose token, when it is told by --name or --id
    #[arg(long, value_name = "NAME")]
    user: Option<Username>,
    /// The token's name
    #[arg(long, value_name = "LABEL", requires = "user", conflicts_with = "id")]
    name: Option<TokenName>,
    /// The token's id, as hamlet token list shows it
    #[arg(long, value_name = "ID", requires = "user")]
    id: Option<TokenId>,
    #[command(flatten)]
    store: StoreArgs,
}

impl Revoke {
    async fn run(self) -> anyhow::Result<()> {
        let Some(user) = self.user else {
            let secret = match self.token {
                Some(token) => token,
                None => token_on_stdin()?,
            };
            let store = self.store.open().await?;
            return revoke_secret(&store, secret.trim()).await;
        };
        let store = self.store.open().await?;
        let user = find_user(&store, &user).await?;
        let id = match (self.id, self.name) {
            (Some(id), _) => id,
            (None, Some(name)) => only_token_named(&store, user.id, &name).await?,
            (None, None) => bail!("which token of {}? Say so with --name or --id", user.username),
        };
        match store.delete_token(user.id, id).await {
            Err(StoreError::NotFound(_)) => {
                bail!(
                    "{} has no token {id}: hamlet token list --user {} shows them",
                    user.username,
                    user.username
                )
            }
            revoked => revoked?,
        }
        store.close().await?;
        print(format_args!("Revoked."))
    }
}

fn token_on_stdin() -> anyhow::Result<String> {
    let line = std::io::stdin().lines().next().transpose()?.unwrap_or_default();
    if line.trim().is_empty() {
        bail!("which token? Send it on standard input, or tell it by --user and --name");
    }
    Ok(line)
}

async fn revoke_secret(store: &Store, secret: &str) -> anyhow::Result<()> {
    match store.delete_token_by_hash(hash_secret(secret)).await {
        Err(StoreError::NotFound(_)) => bail!("there is no such token here: it may be revoked already"),
        revoked => revoked?,
    }
    store.close().await?;
    print(format_args!("Revoked."))
}

async fn only_token_named(store: &Store, user_id: UserId, name: &TokenName) -> anyhow::Result<TokenId> {
    let named: Vec<Token> = tokens_of(store, user_id)
        .await?
        .into_iter()
        .filter(|token| token.name == *name)
        .collect();
    match named.as_slice() {
        [] => bail!("there is no token of that name: hamlet token list shows them"),
        [token] => Ok(token.id),
        several => {
            let ids: Vec<String> = several.iter().map(|token| token.id.to_string()).collect();
            bail!(
                "several tokens have that name: choose one of them with --id {}",
                ids.join(" or --id ")
            )
        }
    }
}

async fn tokens_of(store: &Store, user_id: UserId) -> anyhow::Result<Vec<Token>> {
    let mut tokens = Vec::new();
    loop {
        let page = PageQuery {
            offset: tokens.len() as u64,
            limit: PageQuery::MAX_LIMIT,
        };
        let slice = store.list_tokens(user_id, page).await?;
        tokens.extend(slice.items);
        if !slice.more {
            return Ok(tokens);
        }
    }
}

/// How long a token works: a number and a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lifetime(Duration);

impl FromStr for Lifetime {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let example = "a time is a number and m, h, d or w, like 30d";
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let count: u64 = digits.parse().context(example)?;
        let unit = match &text[digits.len()..] {
            "m" => 60,
            "h" => 60 * 60,
            "d" => 24 * 60 * 60,
            "w" => 7 * 24 * 60 * 60,
            _ => bail!(example),
        };
        match count.checked_mul(unit).filter(|&seconds| seconds > 0) {
            Some(seconds) => Ok(Self(Duration::from_secs(seconds))),
            None => bail!(example),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_a_number_and_a_unit() {
        let seconds = |text: &str| text.parse::<Lifetime>().ok().map(|Lifetime(time)| time.as_secs());
        assert_eq!(seconds("30d"), Some(2_592_000));
        assert_eq!(seconds("12h"), Some(43_200));
        assert_eq!(seconds("5m"), Some(300));
        assert_eq!(seconds("2w"), Some(1_209_600));
        for bad in [
            "",
            "d",
            "30",
            "0d",
            "-1d",
            "1.5d",
            "30 d",
            "30days",
            "99999999999999999999d",
            "é",
        ] {
            assert_eq!(seconds(bad), None, "{bad:?} must be refused");
        }
    }
}
