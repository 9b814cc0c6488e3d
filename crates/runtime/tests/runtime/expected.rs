//! What a folder of `tests/vals` says of its val, and whether that came of it. The server's tests have it too.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use hamlet_models::{Limits, LogLevel, LogLine, LogStream, RunError, Truncated};
use serde::Deserialize;
use serde_json::Value;

/// What a folder's `expected.json` says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Expected {
    /// `eval`, or a val's kind; a script if left out.
    #[serde(default)]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) args: Option<Vec<Value>>,
    /// What an interval or an e-mail is given.
    #[serde(default)]
    pub(crate) input: Option<Value>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Limits that are other than the tests' usual ones.
    #[serde(default)]
    limits: serde_json::Map<String, Value>,
    /// The request to an HTTP val: method, path, body.
    #[serde(default)]
    pub(crate) request: Option<(String, String, String)>,
    /// Its answer: status, and the whole body.
    #[serde(default)]
    pub(crate) response: Option<(u16, String)>,
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

/// What came of a run.
pub(crate) struct Came {
    /// The name of its [`hamlet_runtime::End`].
    pub(crate) end: String,
    pub(crate) value: Value,
    pub(crate) error: Option<RunError>,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) truncated: Truncated,
    pub(crate) duration_ms: f64,
}

impl Expected {
    pub(crate) fn of(folder: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(folder.join("expected.json")).expect("an expected.json");
        serde_json::from_str(&text).map_err(|cause| format!("expected.json: {cause}"))
    }

    /// The usual limits with those that are said to be others.
    pub(crate) fn limits(&self, usual: Limits) -> Limits {
        let mut limits = serde_json::to_value(usual).expect("JSON");
        limits
            .as_object_mut()
            .expect("an object")
            .extend(self.limits.clone());
        serde_json::from_value(limits).expect("limits")
    }

    pub(crate) fn is_http(&self) -> bool {
        self.kind.as_deref() == Some("http")
    }

    /// What is not as it should be.
    pub(crate) fn problems_of(&self, came: &Came) -> Vec<String> {
        let mut problems = Vec::new();
        let end = self.end.as_deref().unwrap_or("Ok");
        if came.end != end {
            problems.push(format!("ended {}, not {end}: {:?}", came.end, came.error));
        }
        if came.value != self.value && !self.truncated.contains(&"returnValue".to_owned()) {
            problems.push(format!("gave {}, not {}", came.value, self.value));
        }
        problems.extend(self.problem_of_error(came.error.as_ref()));
        let same = self.logs.as_ref().is_none_or(|expected| {
            came.logs.len() == expected.len()
                && came.logs.iter().zip(expected).all(|(line, expected)| {
                    line.level == expected.0
                        && line.stream == expected.1
                        && matches(&line.message, &expected.2)
                })
        });
        if !same {
            problems.push(format!(
                "printed {}",
                serde_json::to_string(&came.logs).expect("JSON")
            ));
        }
        let truncated = serde_json::to_value(came.truncated).expect("JSON");
        let cut: Vec<&String> = truncated
            .as_object()
            .expect("an object")
            .iter()
            .filter(|(_, cut)| **cut == true)
            .map(|(name, _)| name)
            .collect();
        if cut != self.truncated.iter().collect::<Vec<_>>() {
            problems.push(format!("cut {cut:?}"));
        }
        if came.end == "Ok" && came.duration_ms <= 0.0 {
            problems.push("took no time".into());
        }
        problems
    }

    fn problem_of_error(&self, error: Option<&RunError>) -> Option<String> {
        let (expected, error) = match (&self.error, error) {
            (None, None) => return None,
            (Some(expected), Some(error)) => (expected, error),
            (_, error) => return Some(format!("threw {error:?}")),
        };
        if !matches(&error.name, &expected.name) || !matches(&error.message, &expected.message) {
            return Some(format!("threw {}: {:?}", error.name, error.message));
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
        (!as_expected).then(|| format!("threw at {places:?}, not {:?}", expected.at))
    }
}

/// The folders there whose names are so, in order.
pub(crate) fn folders(vals: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut folders: Vec<_> = fs::read_dir(vals)
        .expect("tests/vals")
        .map(|entry| entry.expect("a folder").path())
        .filter(|path| is_wanted(&path.file_name().unwrap_or_default().to_string_lossy()))
        .collect();
    folders.sort();
    folders
}

/// Whether the text is as expected, where `*` at the end stands for anything.
fn matches(text: &str, expected: &str) -> bool {
    expected
        .strip_suffix('*')
        .map_or(text == expected, |start| text.starts_with(start))
}
