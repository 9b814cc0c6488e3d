//! `tests/vals/<behaviour>`: a val, and what must come of it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use futures_util::{StreamExt, stream};
use hamlet_models::{Limits, Timestamp, ValKind};
use hamlet_runtime::Input;
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::{
    expected::{self, Came, Expected},
    harness::{Host, LIMITS, Ran, Val, request, text},
};

/// The folders whose names are so, in order.
pub(crate) fn folders(is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    expected::folders(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vals"),
        is_wanted,
    )
}

/// Runtimes by their limits: many folders share one.
#[derive(Default)]
struct Hosts(tokio::sync::Mutex<BTreeMap<String, Arc<OnceCell<Host>>>>);

impl Hosts {
    async fn with(&self, limits: Limits) -> Arc<OnceCell<Host>> {
        let cell = self
            .0
            .lock()
            .await
            .entry(format!("{limits:?}"))
            .or_default()
            .clone();
        cell.get_or_init(|| Host::with(limits, |_| {})).await;
        cell
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_val_does_what_its_folder_says() {
    // Those that mean harm have a test of their own.
    let folders = folders(|name| !name.starts_with("hostile_"));
    assert!(folders.len() > 20, "the folders are there");
    let hosts = Hosts::default();
    let failures: Vec<String> = stream::iter(&folders)
        .map(|folder| async {
            let problems = check(&hosts, folder).await;
            let name = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            (!problems.is_empty()).then(|| format!("{name}:\n  {}", problems.join("\n  ")))
        })
        .buffer_unordered(4)
        .filter_map(|failure| async { failure })
        .collect()
        .await;
    assert!(
        failures.is_empty(),
        "{} of {} folders:\n{}",
        failures.len(),
        folders.len(),
        failures.join("\n")
    );
}

async fn check(hosts: &Hosts, folder: &Path) -> Vec<String> {
    let expected = match Expected::of(folder) {
        Ok(expected) => expected,
        Err(problem) => return vec![problem],
    };
    let host = hosts.with(expected.limits(LIMITS)).await;
    check_on(host.get().expect("a host"), folder, &expected, &[]).await
}

/// Runs the folder's val, with these variables beside its own, and compares; gives what is not as expected.
pub(crate) async fn check_on(
    host: &Host,
    folder: &Path,
    expected: &Expected,
    environment: &[(&str, String)],
) -> Vec<String> {
    let mut val = read_val(folder, expected);
    let more = environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    val.environment = val.environment.iter().cloned().chain(more).collect();

    let kind = expected.kind.as_deref().unwrap_or("script");
    let mut problems = Vec::new();
    let ran = match kind {
        "http" => http(host, &val, expected, &mut problems).await,
        _ => host.run(&val, input(kind, expected)).await,
    };
    problems.extend(expected.problems_of(&came(&ran)));
    problems
}

fn read_val(folder: &Path, expected: &Expected) -> Val {
    let code = ["val.ts", "val.tsx"]
        .iter()
        .find_map(|name| fs::read_to_string(folder.join(name)).ok());
    let kind = expected
        .kind
        .as_deref()
        .and_then(|kind| kind.parse().ok())
        .unwrap_or(ValKind::Script);
    let mut val = Val::new(kind, &code.expect("a val.ts or val.tsx"));
    val.environment = expected
        .environment
        .clone()
        .into_iter()
        .collect::<Vec<_>>()
        .into();
    // `bob.tool.ts` is a val that others import; `bob.tool.2.ts` its next version.
    let mut others: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("a file").path())
        .collect();
    others.sort();
    for path in others {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let parts: Vec<&str> = name.split('.').collect();
        if let [user, name, .., "ts"] = parts.as_slice()
            && *user != "val"
            && parts.len() > 2
        {
            val.vals
                .save(user, name, &fs::read_to_string(&path).expect("code"));
        }
    }
    val
}

fn input(kind: &str, expected: &Expected) -> Input {
    match kind {
        "eval" => Input::Eval {
            args: expected.args.clone().unwrap_or_default(),
        },
        "interval" => Input::Interval {
            last_run_at: expected
                .input
                .as_ref()
                .and_then(Value::as_str)
                .map(|time| time.parse::<Timestamp>().expect("a time")),
        },
        "email" => Input::Email(expected.input.clone().expect("a message")),
        _ => Input::Script {
            args: expected.args.clone(),
        },
    }
}

async fn http(host: &Host, val: &Val, expected: &Expected, problems: &mut Vec<String>) -> Ran {
    let (method, path, body) = expected.request.as_ref().expect("a request");
    let fetched = host.fetch(val, request(method, path, body)).await;
    let answer = match fetched.response {
        Ok(response) => Some((response.status().as_u16(), text(response.into_body()).await)),
        Err(_) => None,
    };
    if answer != expected.response {
        problems.push(format!("answered {answer:?}, not {:?}", expected.response));
    }
    let ended = val.record.until_ended(1).await;
    Ran {
        outcome: ended[0].1.clone(),
        record: val.record.clone(),
    }
}

fn came(ran: &Ran) -> Came {
    let Ran { outcome, record } = ran;
    let value = outcome.return_value.as_deref();
    Came {
        end: format!("{:?}", outcome.end),
        value: value.map_or(Value::Null, |json| {
            serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.into()))
        }),
        error: outcome.error.clone(),
        logs: record.now().logs.into_iter().map(|(_, line)| line).collect(),
        truncated: outcome.truncated,
        duration_ms: outcome.duration_ms,
    }
}
