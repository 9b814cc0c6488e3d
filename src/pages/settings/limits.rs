//! The limits that users meet, and where each is set.

use hamlet_models::{BlobKey, CODE_MAX_CHARS, Instance, InstanceLimits, README_MAX_CHARS, SECRET_MAX_BYTES};
use leptos::prelude::*;

use crate::{
    api::ApiClient,
    components::loaded::loaded_part,
    hooks::fetched::Fetched,
    ui::{
        number::{bytes, count},
        skeleton::SkeletonRows,
    },
};

/// The limits in force.
#[component]
pub fn LimitsSection() -> AnyView {
    let api = expect_context::<ApiClient>();
    let instance = Fetched::new(move || api.get_instance());
    loaded_part(
        instance,
        || view! { <SkeletonRows rows=24 height=36 /> }.into_any(),
        limits_table,
    )
}

/// What is limited, how far, and the server's flag for it, if it has one.
type Row = (&'static str, String, &'static str);

fn limits_table(instance: Instance) -> AnyView {
    let limits = instance.limits;
    let groups = [
        ("Runs", runs(&limits)),
        ("Vals", vals(&limits)),
        ("SQLite", sqlite(&limits)),
        ("Blobs", blobs(&limits)),
        ("E-mail", email(&limits)),
    ];
    let groups = groups.map(|(title, rows)| {
        let rows: Vec<AnyView> = rows.into_iter().map(row).collect();
        view! {
            <tbody>
                <tr class="table__group">
                    <th scope="rowgroup" colspan="3">{title}</th>
                </tr>
                {rows}
            </tbody>
        }
        .into_any()
    });
    view! {
        <table class="table">
            <thead>
                <tr>
                    <th scope="col">"Limit"</th>
                    <th scope="col" class="table__number">"Value"</th>
                    <th scope="col">"Set by"</th>
                </tr>
            </thead>
            {groups}
        </table>
        <p class="settings__note">
            {format!(
                "Each flag of hamlet serve can be set in the environment (HAMLET_WALL_SECONDS) and in the settings file \
                 (wall_seconds) too. This is Hamlet {} on Deno {}.",
                instance.version,
                instance.deno_version,
            )}
        </p>
    }
    .into_any()
}

fn row((what, value, flag): Row) -> AnyView {
    view! {
        <tr>
            <th scope="row">{what}</th>
            <td class="table__number">{value}</td>
            <td><code>{flag}</code></td>
        </tr>
    }
    .into_any()
}

fn runs(limits: &InstanceLimits) -> Vec<Row> {
    let runs = limits.runs;
    vec![
        ("Wall time of a run", seconds(runs.wall_seconds), "--wall-seconds"),
        ("CPU time of a run", seconds(runs.cpu_seconds), "--cpu-seconds"),
        ("Memory of a worker", mb(runs.memory_mb), "--memory-mb"),
        ("Size of a worker’s files", mb(limits.files_mb), ""),
        ("Number of a worker’s files", count(limits.files), ""),
        ("Body of a request", mb(runs.request_body_mb), "--request-body-mb"),
        ("Arguments or code of a call", bytes(limits.call_bytes), ""),
        ("Value that a call answers", kb(limits.answer_kb), ""),
        ("Logs kept of a run", kb(runs.log_kb), "--log-kb"),
        (
            "Result, arguments, error kept, each",
            kb(runs.value_kb),
            "--value-kb",
        ),
        (
            "Runs at once per user",
            count(runs.user_runs.into()),
            "--user-runs",
        ),
        (
            "Runs at once in all",
            count(runs.instance_runs.into()),
            "--instance-runs",
        ),
        ("Wait for one of those places", seconds(limits.wait_seconds), ""),
        (
            "An idle HTTP worker stays for",
            seconds(runs.warm_seconds),
            "--warm-seconds",
        ),
        (
            "Days for which runs are kept",
            count(limits.keep_runs_days),
            "--keep-runs-days",
        ),
        (
            "All runs of all users, oldest go first",
            mb(limits.keep_runs_mb),
            "--keep-runs-mb",
        ),
    ]
}

fn vals(limits: &InstanceLimits) -> Vec<Row> {
    vec![
        ("Characters of a val’s code", count(CODE_MAX_CHARS as u64), ""),
        ("Characters of a readme", count(README_MAX_CHARS as u64), ""),
        ("Vals that a val imports in all", count(limits.imported_vals), ""),
        ("Secrets of an account", count(limits.secrets), ""),
        ("Value of a secret", bytes(SECRET_MAX_BYTES as u64), ""),
    ]
}

fn sqlite(limits: &InstanceLimits) -> Vec<Row> {
    let sql = limits.sql;
    vec![
        ("Time of a call’s statements", seconds(sql.seconds), ""),
        ("Memory of a call", mb(sql.memory_mb), ""),
        ("Statements of a batch", count(sql.statements), ""),
        ("Statements and arguments as sent", bytes(sql.call_bytes), ""),
        ("Text of a statement", mb(sql.statement_mb), ""),
        ("One value", mb(sql.value_mb), ""),
        ("Rows that a call answers", mb(sql.answer_mb), ""),
        ("An account’s database", mb(sql.database_mb), ""),
    ]
}

fn blobs(limits: &InstanceLimits) -> Vec<Row> {
    vec![
        ("An account’s blobs", mb(limits.blobs_mb), "--blobs-mb"),
        ("One blob", mb(limits.runs.request_body_mb), "--request-body-mb"),
        ("Characters of a key", count(BlobKey::MAX_CHARS as u64), ""),
    ]
}

fn email(limits: &InstanceLimits) -> Vec<Row> {
    let email = limits.email;
    vec![
        (
            "Addresses for an account’s mail in an hour",
            count(email.addresses_per_hour.into()),
            "",
        ),
        ("Addresses that a message goes to", count(email.addresses), ""),
        ("Message to /v1/email, in JSON", bytes(email.message_bytes), ""),
        ("Message to a val, as it is sent", mb(email.incoming_mb), ""),
        ("Vals that a message is to", count(email.incoming_vals), ""),
        (
            "Messages that wait for an account’s vals",
            count(email.waiting),
            "",
        ),
        ("All of those", mb(email.waiting_mb), ""),
    ]
}

fn seconds(number: u64) -> String {
    format!("{} s", count(number))
}

fn kb(number: u64) -> String {
    format!("{} kB", count(number))
}

fn mb(number: u64) -> String {
    format!("{} MB", count(number))
}
