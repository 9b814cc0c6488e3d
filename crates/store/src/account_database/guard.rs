//! What the hooks of a connection decide: which statements may be, and for how long.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// Pragmas that only look, or that stay in the account's own file.
const PRAGMAS: [&str; 15] = [
    "foreign_key_check",
    "foreign_key_list",
    "foreign_keys",
    "freelist_count",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "optimize",
    "page_count",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
    "user_version",
];

/// What the hooks of a connection need to know.
pub(super) struct Guard {
    /// Whether the statement that runs is ours, not the account's.
    ours: AtomicBool,
    /// When to stop.
    deadline: Mutex<Instant>,
}

impl Guard {
    /// One whose time has run out.
    pub(super) fn new() -> Self {
        Self {
            ours: AtomicBool::new(false),
            deadline: Mutex::new(Instant::now()),
        }
    }

    /// Lets statements take so long from now.
    pub(super) fn allow(&self, time: Duration) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + time;
    }

    /// Does what the account's rules don't bind.
    pub(super) fn unbound<T>(&self, work: impl FnOnce() -> T) -> T {
        self.ours.store(true, Ordering::Relaxed);
        let done = work();
        self.ours.store(false, Ordering::Relaxed);
        done
    }

    pub(super) fn authorize(&self, context: &AuthContext<'_>) -> Authorization {
        let allowed = self.ours.load(Ordering::Relaxed)
            || match context.action {
                AuthAction::Attach { .. }
                | AuthAction::Detach { .. }
                | AuthAction::Transaction { .. }
                | AuthAction::Savepoint { .. } => false,
                // They would be in another place, which has no largest size, and go with this connection.
                AuthAction::CreateTempTable { .. }
                | AuthAction::CreateTempIndex { .. }
                | AuthAction::CreateTempTrigger { .. }
                | AuthAction::CreateTempView { .. } => false,
                AuthAction::Pragma { pragma_name, .. } => {
                    PRAGMAS.contains(&pragma_name.to_ascii_lowercase().as_str())
                }
                AuthAction::Function { function_name } => !["load_extension", "fts3_tokenizer"]
                    .contains(&function_name.to_ascii_lowercase().as_str()),
                _ => true,
            };
        if allowed {
            Authorization::Allow
        } else {
            Authorization::Deny
        }
    }

    pub(super) fn is_late(&self) -> bool {
        Instant::now() > *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
