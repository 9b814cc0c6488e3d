//! What every handler can reach.

use std::{ops::Deref, sync::Arc};

use hamlet_runtime::Compilers;
use hamlet_store::Store;

use crate::{
    account_databases::AccountDatabases,
    auth::{Passwords, RunTokens, Throttle, VisitPasses},
    config::Config,
    mail::Mailer,
    run_service::RunService,
};

/// The server's long-lived parts; cloning it clones one pointer.
#[derive(Clone)]
pub struct AppState(Arc<App>);

/// The parts themselves.
pub struct App {
    /// The settings in force.
    pub config: Arc<Config>,
    /// Everything durable.
    pub store: Store,
    /// The database that each account has for its own.
    pub databases: AccountDatabases,
    /// Sends mail.
    pub mailer: Mailer,
    /// Compiles vals for who imports them elsewhere.
    pub compilers: Compilers,
    /// Starts vals and records their runs.
    pub runs: RunService,
    /// Issues and checks the tokens of runs.
    pub run_tokens: RunTokens,
    /// Issues and checks the passes of visits to private vals.
    pub visits: VisitPasses,
    /// Hashes and checks passwords.
    pub passwords: Passwords,
    /// Counts attempts to sign in.
    pub sign_ins: Throttle,
}

impl AppState {
    /// The state around these parts.
    pub fn new(
        config: Arc<Config>,
        store: Store,
        mailer: Mailer,
        runs: RunService,
        run_tokens: RunTokens,
        databases: AccountDatabases,
        compilers: Compilers,
    ) -> Self {
        Self(Arc::new(App {
            databases,
            compilers,
            config,
            store,
            mailer,
            runs,
            run_tokens,
            visits: VisitPasses::new(),
            passwords: Passwords::new(),
            sign_ins: Throttle::new(),
        }))
    }
}

impl Deref for AppState {
    type Target = App;

    fn deref(&self) -> &App {
        &self.0
    }
}
