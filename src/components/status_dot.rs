//! How a run stands: a shape, a colour and a word.

use hamlet_models::RunStatus;
use leptos::prelude::*;

/// The word for how a run stands.
pub fn status_word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Queued => "waiting",
        RunStatus::Running => "running",
        RunStatus::Ok => "ok",
        RunStatus::Error => "failed",
        RunStatus::Timeout => "timed out",
        RunStatus::OutOfMemory => "out of memory",
        RunStatus::Cancelled => "cancelled",
        RunStatus::Lost => "lost",
    }
}

/// A dot and the word beside it. Each group of outcomes has a shape of its own: colour alone says nothing.
#[component]
pub fn StatusDot(
    /// How the run stands.
    status: RunStatus,
) -> AnyView {
    let shape = match status {
        RunStatus::Ok => "ok",
        RunStatus::Queued | RunStatus::Running => "running",
        RunStatus::Error | RunStatus::OutOfMemory => "error",
        RunStatus::Timeout => "timeout",
        RunStatus::Cancelled | RunStatus::Lost => "ended",
    };
    view! {
        <span class=format!("status status--{shape}")>
            <svg class="status__shape" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
                <path d=match shape {
                    "ok" => "M5 0.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z",
                    "running" => "M5 0.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9zM5 3a2 2 0 1 1 0 4a2 2 0 1 1 0-4z",
                    "error" => "M2 0.5L5 3.5L8 0.5L9.5 2L6.5 5L9.5 8L8 9.5L5 6.5L2 9.5L0.5 8L3.5 5L0.5 2z",
                    "timeout" => "M5 0.5L9.8 9.3H0.2z",
                    _ => "M1 3.8h8v2.4h-8z",
                } />
            </svg>
            {status_word(status)}
        </span>
    }
    .into_any()
}
