//! What imports from elsewhere were resolved to: Deno's own lock files, and how those of several programs become one.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value};

use crate::{ProgramKey, compile::RemoteImport};

/// What one program's imports from elsewhere were resolved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportLock {
    /// The text of a `deno.lock`.
    pub text: Arc<str>,
    /// Whether it has everything that the program imports; what could not be had when it was made is tried again, and
    /// what is in it stays.
    pub complete: bool,
}

/// What a program imports, as its code says.
#[derive(Clone, Debug)]
pub struct Imports {
    pub(crate) program: ProgramKey,
    /// What comes from elsewhere.
    pub(crate) remote: Vec<RemoteImport>,
    /// Whether all of that could be had before, for this program or another.
    pub known: bool,
    /// A sentence for each val that it names and that is not there, or not for the one who asks.
    pub missing: Vec<String>,
}

impl Imports {
    /// Whether any of it comes from elsewhere, and is to be locked.
    pub fn is_remote(&self) -> bool {
        !self.remote.is_empty()
    }
}

/// The parts of a lock: what a range or a tag came to, the packages, and modules by their addresses.
const PARTS: [&str; 5] = ["specifiers", "jsr", "npm", "redirects", "remote"];
/// Where a package of npm names others.
const NAMING: [&str; 3] = ["dependencies", "optionalDependencies", "optionalPeers"];

/// Whether a worker has to know the lock: Deno would choose packages anew without it, and look for what led from one
/// address to another, which only its cache of that time has. Other modules of addresses it keeps for ever, or refuses.
pub(crate) fn is_needed(lock: &str) -> bool {
    let parts = read(lock);
    parts.contains_key("specifiers") || parts.contains_key("redirects")
}

/// Whether packages of npm are among what is locked.
pub(crate) fn has_npm_packages(lock: &str) -> bool {
    lock.contains("\"npm:")
}

/// The lock without what a project's own file put into it.
pub(crate) fn of_imports_alone(lock: &str) -> String {
    let mut parts = read(lock);
    parts.remove("workspace");
    Value::Object(parts).to_string()
}

/// One lock for programs that run together. Where they differ, the first one's word counts: a range means one package in
/// one run.
pub(crate) fn merged(locks: &[Arc<str>]) -> Option<Arc<str>> {
    let (first, others) = locks.split_first()?;
    if others.iter().all(|other| other == first) {
        return Some(first.clone());
    }
    let mut whole = read(first);
    name_in_full(&mut whole);
    for other in others {
        let mut other = read(other);
        name_in_full(&mut other);
        for part in PARTS {
            let Some(Value::Object(more)) = other.remove(part) else {
                continue;
            };
            let entry = whole.entry(part).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(entries) = entry {
                for (key, value) in more {
                    entries.entry(key).or_insert(value);
                }
            }
        }
    }
    Some(Value::Object(whole).to_string().into())
}

fn read(lock: &str) -> Map<String, Value> {
    serde_json::from_str(lock).unwrap_or_default()
}

/// A package that is there in one version only is named without it: that is no longer clear beside another lock's.
fn name_in_full(lock: &mut Map<String, Value>) {
    let Some(Value::Object(packages)) = lock.get_mut("npm") else {
        return;
    };
    let ids: HashMap<String, String> = packages
        .keys()
        .filter_map(|id| Some((name_of(id)?.to_owned(), id.clone())))
        .collect();
    for package in packages.values_mut() {
        for naming in NAMING {
            let names = package.get_mut(naming).and_then(Value::as_array_mut);
            for name in names.into_iter().flatten() {
                if let Some(id) = name.as_str().and_then(|name| ids.get(name)) {
                    *name = Value::from(id.as_str());
                }
            }
        }
    }
}

/// The name in `@scope/name@1.2.3`.
fn name_of(id: &str) -> Option<&str> {
    let at = id.get(1..)?.find('@')? + 1;
    id.get(..at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lock(value: &Value) -> Arc<str> {
        value.to_string().into()
    }

    #[test]
    fn the_first_locks_word_counts_and_each_keeps_its_own_packages() {
        let one = lock(&json!({
            "version": "5",
            "specifiers": {"npm:x@1": "1.0.0"},
            "npm": {"x@1.0.0": {"dependencies": ["@s/y"]}, "@s/y@1.0.0": {"integrity": "a"}},
        }));
        let two = lock(&json!({
            "version": "5",
            "specifiers": {"npm:x@1": "1.1.0", "npm:z@1": "1.0.0"},
            "npm": {
                "x@1.1.0": {},
                "z@1.0.0": {"dependencies": ["@s/y", "w@npm:x@1.1.0"], "optionalDependencies": ["x"]},
                "@s/y@2.0.0": {"integrity": "b"},
            },
            "remote": {"https://a.test/": "c"},
        }));
        let both = merged(&[one.clone(), two]).expect("a lock");
        let both: Value = serde_json::from_str(&both).expect("JSON");
        assert_eq!(
            both["specifiers"],
            json!({"npm:x@1": "1.0.0", "npm:z@1": "1.0.0"})
        );
        assert_eq!(both["npm"]["x@1.0.0"]["dependencies"], json!(["@s/y@1.0.0"]));
        let z = &both["npm"]["z@1.0.0"];
        assert_eq!(z["dependencies"], json!(["@s/y@2.0.0", "w@npm:x@1.1.0"]));
        assert_eq!(z["optionalDependencies"], json!(["x@1.1.0"]));
        assert_eq!(both["remote"], json!({"https://a.test/": "c"}));

        assert_eq!(
            merged(&[one.clone(), one.clone()]),
            Some(one),
            "the same twice is the same"
        );
        assert_eq!(merged(&[]), None);
    }

    #[test]
    fn a_lock_is_needed_where_it_says_what_an_import_leads_to() {
        assert!(is_needed(r#"{"specifiers": {"jsr:@a/b@1": "1.0.0"}}"#));
        assert!(is_needed(
            r#"{"redirects": {"https://a.test/": "https://b.test/"}}"#
        ));
        assert!(!is_needed(r#"{"remote": {"https://a.test/": "c"}}"#) && !is_needed("what?"));
        assert_eq!(
            of_imports_alone(r#"{"version":"5","workspace":{"dependencies":["npm:x@1"]}}"#),
            r#"{"version":"5"}"#
        );
    }
}
