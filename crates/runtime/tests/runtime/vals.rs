//! `tests/vals/<behaviour>`: a val, and what must come of it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use futures_util::{StreamExt, stream};
use hamlet_models::{Limits, LogLevel, LogStream, Timestamp, ValKind};
use hamlet_runtime::{End, Input, Outcome};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::harness::{Host, LIMITS, Ran, Record, Val, request, text};

/// What a folder's `expected.json` says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Expected {
    /// `eval`, or a val's kind; a script if left out.
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    args: Option<Vec<Value>>,
    /// What an interval or an e-mail is given.
    #[serde(default)]
    input: Option<Value>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// Limits that are other than the tests' usual ones.
    #[serde(default)]
    limits: serde_json::Map<String, Value>,
    /// The request to an HTTP val: method, path, body.
    #[serde(default)]
    request: Option<(String, String, String)>,
    /// Its answer: status, and the whole body.
    #[serde(default)]
    response: Option<(u16, String)>,
    /// How the run ends; well if left out.
    #[serde(default)]
    end: Option<String>,
    /// The value that it gives; `null` stands for none.
    #[serde(default)]
    value: Value,
    #[serde(default)]
    error: Option<ExpectedError>,
    /// Level, stream and text of each line; `*` at the end of a text stands for anything.
    /// `null` stands for any lines.
    #[serde(default = "no_lines")]
    logs: Option<Vec<(LogLevel, LogStream, String)>>,
    /// What was cut.
    #[serde(default)]
    truncated: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedError {
    name: String,
    message: String,
    /// The frames' places, from the top.
    #[serde(default)]
    at: Vec<String>,
}

fn no_lines() -> Option<Vec<(LogLevel, LogStream, String)>> {
    Some(Vec::new())
}

impl Expected {
    pub(crate) fn of(folder: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(folder.join("expected.json")).expect("an expected.json");
        serde_json::from_str(&text).map_err(|cause| format!("expected.json: {cause}"))
    }

    pub(crate) fn limits(&self) -> Limits {
        let mut limits = serde_json::to_value(LIMITS).expect("JSON");
        limits
            .as_object_mut()
            .expect("an object")
            .extend(self.limits.clone());
        serde_json::from_value(limits).expect("limits")
    }

    pub(crate) fn is_http(&self) -> bool {
        self.kind.as_deref() == Some("http")
    }
}

/// The folders whose names are so, in order.
pub(crate) fn folders(is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vals");
    let mut folders: Vec<_> = fs::read_dir(root)
        .expect("tests/vals")
        .map(|entry| entry.expect("a folder").path())
        .filter(|path| is_wanted(&path.file_name().unwrap_or_default().to_string_lossy()))
        .collect();
    folders.sort();
    folders
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
    let host = hosts.with(expected.limits()).await;
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
    compare(expected, &ran.outcome, &ran.record, &mut problems);
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

fn compare(expected: &Expected, outcome: &Outcome, record: &Record, problems: &mut Vec<String>) {
    let end = expected.end.as_deref().unwrap_or("Ok");
    if format!("{:?}", outcome.end) != end {
        problems.push(format!("ended {:?}, not {end}: {:?}", outcome.end, outcome.error));
    }
    let value: Value = outcome.return_value.as_deref().map_or(Value::Null, |json| {
        serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.into()))
    });
    if value != expected.value && !expected.truncated.contains(&"returnValue".to_owned()) {
        problems.push(format!("gave {value}, not {}", expected.value));
    }
    match (&expected.error, &outcome.error) {
        (None, None) => {}
        (Some(expected), Some(error)) => {
            if !matches(&error.name, &expected.name) || !matches(&error.message, &expected.message) {
                problems.push(format!("threw {}: {:?}", error.name, error.message));
            }
            let places: Vec<&str> = error
                .stack
                .lines()
                .filter_map(|line| line.trim().strip_prefix("at "))
                .collect();
            let as_expected = places.len() == expected.at.len()
                && places
                    .iter()
                    .zip(&expected.at)
                    .all(|(place, expected)| matches(place, expected));
            if !as_expected {
                problems.push(format!("threw at {places:?}, not {:?}", expected.at));
            }
        }
        (_, error) => problems.push(format!("threw {error:?}")),
    }
    let logs: Vec<_> = record
        .now()
        .logs
        .into_iter()
        .map(|(_, line)| (line.level, line.stream, line.message))
        .collect();
    let same = expected.logs.as_ref().is_none_or(|expected| {
        logs.len() == expected.len()
            && logs.iter().zip(expected).all(|(line, expected)| {
                line.0 == expected.0 && line.1 == expected.1 && matches(&line.2, &expected.2)
            })
    });
    if !same {
        problems.push(format!("printed {}", serde_json::to_string(&logs).expect("JSON")));
    }
    let truncated = serde_json::to_value(outcome.truncated).expect("JSON");
    let cut: Vec<&String> = truncated
        .as_object()
        .expect("an object")
        .iter()
        .filter(|(_, cut)| **cut == true)
        .map(|(name, _)| name)
        .collect();
    if cut != expected.truncated.iter().collect::<Vec<_>>() {
        problems.push(format!("cut {cut:?}"));
    }
    if outcome.end == End::Ok && outcome.duration_ms <= 0.0 {
        problems.push("took no time".into());
    }
}

/// Whether the text is as expected, where `*` at the end stands for anything.
fn matches(text: &str, expected: &str) -> bool {
    expected
        .strip_suffix('*')
        .map_or(text == expected, |start| text.starts_with(start))
}
