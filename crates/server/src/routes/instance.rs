//! What a client may want to know of this instance.

use axum::{Json, extract::State};
use hamlet_models::{EmailLimits, Instance, InstanceLimits, SqlCallLimits};
use hamlet_runtime::{FILES_MB, LONGEST_WAIT, MOST_FILES, MOST_MODULES};
use hamlet_store::{
    ANSWER_MAX_BYTES, BATCH_MAX_STATEMENTS, MAIL_MAX_BYTES, MAIL_MAX_MESSAGES, SECRETS_MAX, SQL_MAX_BYTES,
    VALUE_MAX_BYTES,
};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::email::MESSAGE_MAX_BYTES;
use crate::{
    account_databases::CALL_MAX_BYTES,
    config::Config,
    error::ApiError,
    extract::CODE_BODY_MAX_BYTES,
    mail::{ADDRESSES_MAX, INCOMING_MAX_BYTES, INCOMING_MAX_VALS},
    server::ANSWER_KB,
    state::AppState,
};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(get_instance))
}

/// Versions, the vals' host and the limits in force.
#[utoipa::path(get, path = "/v1/instance", tag = "instance",
    responses((status = 200, description = "The instance", body = Instance), ApiError))]
async fn get_instance(State(state): State<AppState>) -> Json<Instance> {
    Json(Instance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        deno_version: state.runs.deno_version().unwrap_or_default().to_owned(),
        vals_domain: state.config.vals_domain.clone(),
        limits: limits(&state.config),
    })
}

fn limits(config: &Config) -> InstanceLimits {
    InstanceLimits {
        runs: config.limits,
        wait_seconds: LONGEST_WAIT.as_secs(),
        call_bytes: CODE_BODY_MAX_BYTES as u64,
        answer_kb: ANSWER_KB,
        files_mb: FILES_MB,
        files: MOST_FILES as u64,
        imported_vals: MOST_MODULES as u64,
        secrets: SECRETS_MAX,
        keep_runs_days: config.keep_runs_days,
        keep_runs_mb: config.keep_runs_mb,
        sql: SqlCallLimits {
            seconds: config.sql.time.as_secs(),
            memory_mb: config.sql.memory_bytes >> 20,
            statements: BATCH_MAX_STATEMENTS as u64,
            call_bytes: CALL_MAX_BYTES as u64,
            statement_mb: u64::from(SQL_MAX_BYTES.cast_unsigned()) >> 20,
            value_mb: u64::from(VALUE_MAX_BYTES.cast_unsigned()) >> 20,
            answer_mb: ANSWER_MAX_BYTES as u64 >> 20,
            database_mb: config.sql.database_bytes >> 20,
        },
        blobs_mb: config.blob_bytes / 1_000_000,
        email: EmailLimits {
            addresses_per_hour: config.mail.addresses_per_hour,
            addresses: ADDRESSES_MAX as u64,
            message_bytes: MESSAGE_MAX_BYTES as u64,
            incoming_mb: INCOMING_MAX_BYTES / 1_000_000,
            incoming_vals: INCOMING_MAX_VALS as u64,
            waiting: MAIL_MAX_MESSAGES.cast_unsigned(),
            waiting_mb: MAIL_MAX_BYTES.cast_unsigned() / 1_000_000,
        },
    }
}
