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
    pub limits: InstanceLimits,
}

/// Every limit that users meet: what runs may use, and what an account's vals, database, blobs and mail may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceLimits {
    /// Those of runs that are settings.
    #[serde(flatten)]
    pub runs: Limits,
    /// How long a run waits for a place, in seconds.
    pub wait_seconds: u64,
    /// Arguments of a call, with the code of an evaluation, as JSON, in bytes.
    pub call_bytes: u64,
    /// The value that a call answers, in kilobytes.
    pub answer_kb: u64,
    /// Files of a worker, in megabytes.
    pub files_mb: u64,
    /// Files of a worker.
    pub files: u64,
    /// Vals that a val imports, with those that they import.
    pub imported_vals: u64,
    /// Secrets of an account.
    pub secrets: u64,
    /// Days for which runs are kept.
    pub keep_runs_days: u64,
    /// What the runs of all accounts may take, in megabytes; the oldest go first.
    pub keep_runs_mb: u64,
    /// What a call of an account's database may use.
    pub sql: SqlCallLimits,
    /// An account's blobs, in megabytes.
    pub blobs_mb: u64,
    /// Mail, in and out.
    pub email: EmailLimits,
}

/// What a call of an account's database may use, and what the database may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SqlCallLimits {
    /// The time of its statements together, in seconds.
    pub seconds: u64,
    /// Their memory, in megabytes.
    pub memory_mb: u64,
    /// The statements of a batch.
    pub statements: u64,
    /// What is sent, as JSON, in bytes.
    pub call_bytes: u64,
    /// The text of one statement, in megabytes.
    pub statement_mb: u64,
    /// One value, in megabytes.
    pub value_mb: u64,
    /// The rows that are answered, in megabytes.
    pub answer_mb: u64,
    /// The account's database, in megabytes.
    pub database_mb: u64,
}

/// What an account's mail may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailLimits {
    /// Addresses to which the mail of an account goes within an hour.
    pub addresses_per_hour: u32,
    /// Addresses that a message goes to.
    pub addresses: u64,
    /// A message to be sent, as JSON with its attachments in base64, in bytes.
    pub message_bytes: u64,
    /// A message to a val as it is sent, in megabytes.
    pub incoming_mb: u64,
    /// Vals that a message is to.
    pub incoming_vals: u64,
    /// Messages that wait for an account's vals.
    pub waiting: u64,
    /// All of those, in megabytes.
    pub waiting_mb: u64,
}

/// The limits that runs meet, each a setting.
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
