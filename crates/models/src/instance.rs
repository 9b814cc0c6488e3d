//! What a client may want to know of the instance it speaks to.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The instance (ours).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    /// The version of Hamlet.
    pub version: String,
    /// The version of Deno that vals run on.
    pub deno_version: String,
    /// The host under which HTTP vals answer, with its port.
    pub vals_domain: String,
    /// The limits in force.
    pub limits: Limits,
}

/// The limits that runs and accounts meet (settings, but for the last).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Wall time of a run, in seconds.
    pub wall_seconds: u64,
    /// CPU time of a run, in seconds.
    pub cpu_seconds: u64,
    /// Memory of a worker, in megabytes.
    pub memory_mb: u64,
    /// Body of a request, in megabytes.
    pub request_body_mb: u64,
    /// Logs kept per run, in kilobytes.
    pub log_kb: u64,
    /// `returnValue`, `args` and `error` kept, in kilobytes each.
    pub value_kb: u64,
    /// Runs at once per user.
    pub user_runs: u32,
    /// Runs at once in all.
    pub instance_runs: u32,
    /// How long an HTTP worker is kept after its last request, in seconds.
    pub warm_seconds: u64,
    /// Addresses to which the mail of an account goes within an hour.
    pub emails_per_hour: u32,
}

/// Markdown to show (ours).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Markdown {
    /// The text, at most 64,000 characters.
    #[schema(max_length = 64000)]
    pub markdown: String,
}

/// Markdown as HTML that is safe to show: no script, no style, no frame (ours).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RenderedMarkdown {
    /// The HTML.
    pub html: String,
}
