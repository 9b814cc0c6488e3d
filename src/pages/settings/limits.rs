//! The limits that runs meet, and where each is set.

use hamlet_models::{CODE_MAX_CHARS, Instance};
use leptos::prelude::*;

use crate::{
    api::ApiClient, components::loaded::loaded_part, hooks::fetched::Fetched, ui::skeleton::SkeletonRows,
};

/// The limits in force.
#[component]
pub fn LimitsSection() -> AnyView {
    let api = expect_context::<ApiClient>();
    let instance = Fetched::new(move || api.get_instance());
    loaded_part(
        instance,
        || view! { <SkeletonRows rows=11 height=36 /> }.into_any(),
        limits_table,
    )
}

fn limits_table(instance: Instance) -> AnyView {
    let limits = instance.limits;
    // What is limited, how far, and the server's flag for it.
    let rows = [
        (
            "Wall time of a run",
            format!("{} s", limits.wall_seconds),
            "--wall-seconds",
        ),
        (
            "CPU time of a run",
            format!("{} s", limits.cpu_seconds),
            "--cpu-seconds",
        ),
        (
            "Memory of a worker",
            format!("{} MB", limits.memory_mb),
            "--memory-mb",
        ),
        ("Characters of a val’s code", CODE_MAX_CHARS.to_string(), ""),
        (
            "Body of a request",
            format!("{} MB", limits.request_body_mb),
            "--request-body-mb",
        ),
        ("Logs kept of a run", format!("{} kB", limits.log_kb), "--log-kb"),
        (
            "Result, arguments, error, each",
            format!("{} kB", limits.value_kb),
            "--value-kb",
        ),
        (
            "Runs at once per user",
            limits.user_runs.to_string(),
            "--user-runs",
        ),
        (
            "Runs at once in all",
            limits.instance_runs.to_string(),
            "--instance-runs",
        ),
        (
            "An idle HTTP worker stays for",
            format!("{} s", limits.warm_seconds),
            "--warm-seconds",
        ),
        (
            "Addresses for an account’s mail in an hour",
            limits.emails_per_hour.to_string(),
            "",
        ),
    ];
    let rows = rows.map(|(what, value, flag)| {
        view! {
            <tr>
                <th scope="row">{what}</th>
                <td class="table__number">{value}</td>
                <td><code>{flag}</code></td>
            </tr>
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
            <tbody>{rows}</tbody>
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
