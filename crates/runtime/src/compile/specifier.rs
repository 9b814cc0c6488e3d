//! What the text of an import means.

use hamlet_models::VersionNumber;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::ValReference;

/// The address under which vals of every instance are known.
pub(crate) const PUBLIC_ORIGIN: &str = "https://esm.town";
/// Where the packages of `jsr:` are.
const JSR: &str = "https://jsr.io";

/// Where vals of this instance are, as imports name it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hosts {
    /// The origins that mean this instance, beside the one that is every instance's.
    pub(crate) known: Vec<String>,
    /// Whether other hosts may mean it too, by `http:`. Nothing hangs on the host then: whether the instance has a user
    /// of that name decides.
    pub(crate) others: bool,
}

impl Hosts {
    /// Of these origins, which are compared as a parsed address writes them.
    pub(crate) fn new(origins: &[String], others: bool) -> Self {
        let origin = |host: &String| Url::parse(host).map(|url| url.origin().ascii_serialization());
        Self {
            known: origins.iter().flat_map(origin).collect(),
            others,
        }
    }
}

/// What an import asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Specifier {
    /// A val of this instance.
    Val(ValReference),
    /// A module that Deno loads itself, by this text.
    Direct(String),
    /// Nothing that a val may import; a sentence that says why.
    Refused(String),
}

/// Reads the specifier of an import in the module at `importer`.
pub(crate) fn read_specifier(text: &str, importer: &str, hosts: &Hosts) -> Specifier {
    let relative =
        ["./", "../", "/"].iter().any(|start| text.starts_with(start)) || text == "." || text == "..";
    let address = if relative {
        Url::parse(importer).and_then(|base| base.join(text))
    } else {
        Url::parse(text)
    };
    match address {
        Ok(url) if matches!(url.scheme(), "http" | "https") => read_address(&url, text, relative, hosts),
        Ok(url) if url.scheme() == "file" => {
            Specifier::Refused(format!("a val can't import a file of the host: {text:?}"))
        }
        Ok(_) => Specifier::Direct(text.to_owned()),
        Err(_) if relative => Specifier::Refused(format!("{text:?} is no address of a module")),
        // A bare word: Deno says itself what it makes of it.
        Err(_) => Specifier::Direct(text.to_owned()),
    }
}

/// An import of what is not of this instance and Deno has to fetch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct RemoteImport {
    /// As it stands in the code.
    pub(crate) specifier: String,
    /// Its `type` attribute.
    kind: Option<String>,
}

/// A package of a registry, as an import asks for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Package<'a> {
    /// Scheme, name and range, without a path in the package.
    pub(crate) request: &'a str,
    /// Its name alone.
    name: &'a str,
}

impl RemoteImport {
    /// Of an import by this specifier and `type` attribute, if it is one that Deno would fetch.
    pub(crate) fn read(specifier: &str, kind: Option<&str>) -> Option<Self> {
        let remote = ["npm:", "jsr:", "http:", "https:"];
        let is_remote = remote.iter().any(|scheme| specifier.starts_with(scheme));
        is_remote.then(|| Self {
            specifier: specifier.to_owned(),
            kind: kind.map(str::to_owned),
        })
    }

    /// A statement that imports it for its effects.
    pub(crate) fn statement(&self) -> String {
        let kind = self.kind.as_ref();
        let attribute = kind.map_or_else(String::new, |kind| {
            format!(" with {{ type: {} }}", serde_json::Value::from(kind.as_str()))
        });
        format!(
            "import {}{attribute};",
            serde_json::Value::from(self.specifier.as_str())
        )
    }

    /// The package that it asks for, if it is one of a registry with a name that could be one.
    pub(crate) fn package(&self) -> Option<Package<'_>> {
        let rest = self.specifier.strip_prefix("npm:");
        let rest = rest.or_else(|| self.specifier.strip_prefix("jsr:"))?;
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let scope = match rest.starts_with('@') {
            true => rest.find('/')? + 1,
            false => 0,
        };
        let name_len = rest[scope..]
            .find(['@', '/'])
            .map_or(rest.len(), |end| scope + end);
        let (name, range) = rest.split_at(name_len);
        let range_len = match range.starts_with('@') {
            true => range.find('/').unwrap_or(range.len()),
            false => 0,
        };
        let end = self.specifier.len() - rest.len() + name_len + range_len;
        let plain = |c: char| c.is_ascii_alphanumeric() || "@/-_.~".contains(c);
        (name.len() > scope && name.chars().all(plain)).then(|| Package {
            request: &self.specifier[..end],
            name,
        })
    }
}

impl Package<'_> {
    /// What names, for Deno, the list of its versions.
    pub(crate) fn versions(&self) -> String {
        match self.request.starts_with("npm:") {
            true => format!("npm:{}", self.name),
            false => format!("{JSR}/{}/meta.json", self.name),
        }
    }
}

fn read_address(url: &Url, text: &str, relative: bool, hosts: &Hosts) -> Specifier {
    let origin = url.origin().ascii_serialization();
    let is_own = origin == PUBLIC_ORIGIN || hosts.known.contains(&origin);
    let direct = || match relative {
        true => url.to_string(),
        false => text.to_owned(),
    };
    let may_be_own = is_own || (hosts.others && url.scheme() == "http");
    if !may_be_own {
        return Specifier::Direct(direct());
    }
    match read_val(url) {
        Ok(val) if is_own => Specifier::Val(val),
        Ok(val) => Specifier::Val(ValReference {
            otherwise: Some(direct()),
            ..val
        }),
        Err(NoVal::Path) if is_own => Specifier::Refused(format!(
            "{text:?} names no val: they are at {origin}/v/{{user}}/{{val}}"
        )),
        Err(NoVal::Version) if is_own => {
            Specifier::Refused(format!("{text:?} asks for a version that is no number"))
        }
        Err(_) => Specifier::Direct(direct()),
    }
}

/// Why an address is no val's.
enum NoVal {
    Path,
    Version,
}

fn read_val(url: &Url) -> Result<ValReference, NoVal> {
    let mut segments = url.path_segments().into_iter().flatten();
    let (Some("v"), Some(user), Some(name), None) =
        (segments.next(), segments.next(), segments.next(), segments.next())
    else {
        return Err(NoVal::Path);
    };
    let version = url.query_pairs().find(|(key, _)| key == "v");
    let version = version.map(|(_, value)| value.parse::<VersionNumber>());
    Ok(ValReference {
        username: user.trim_start_matches('@').to_owned(),
        // People write `hello.ts` for `hello`, which has no dot in its name.
        name: name.split('.').next().unwrap_or(name).to_owned(),
        version: version.transpose().map_err(|_| NoVal::Version)?,
        otherwise: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Specifier {
        read_specifier(
            text,
            "https://esm.town/v/ada/hello?v=3",
            &Hosts::new(&["http://LOCALHOST:8787/".to_owned()], false),
        )
    }

    fn val(username: &str, name: &str, version: Option<u32>) -> Specifier {
        Specifier::Val(ValReference {
            username: username.into(),
            name: name.into(),
            version,
            otherwise: None,
        })
    }

    #[test]
    fn both_addresses_of_a_val_mean_this_instance() {
        assert_eq!(
            read("https://esm.town/v/bob/tool?v=2"),
            val("bob", "tool", Some(2))
        );
        assert_eq!(
            read("http://localhost:8787/v/@bob/tool"),
            val("bob", "tool", None)
        );
        assert_eq!(read("../bob/tool"), val("bob", "tool", None));
        assert_eq!(read("./tool.ts"), val("ada", "tool", None));
    }

    #[test]
    fn an_instance_without_a_name_knows_a_val_by_its_path() {
        let nameless = |text: &str| {
            let hosts = Hosts::new(&[], true);
            read_specifier(text, "https://esm.town/v/ada/hello", &hosts)
        };
        let there = "http://myserver.lan:18951/v/ada/lib?v=1";
        let Specifier::Val(found) = nameless(there) else {
            panic!("a val");
        };
        assert_eq!(
            (found.to_string().as_str(), found.otherwise.as_deref()),
            ("ada/lib?v=1", Some(there))
        );
        for other in [
            "https://myserver.lan/v/ada/lib",
            "http://myserver.lan/v/ada",
            "http://myserver.lan/v/ada/lib?v=x",
            "http://myserver.lan/lib.ts",
        ] {
            assert_eq!(nameless(other), Specifier::Direct(other.into()));
        }
    }

    #[test]
    fn what_deno_loads_is_left_as_it_is() {
        for text in [
            "npm:hono@4",
            "jsr:@std/path",
            "node:fs",
            "https://esm.sh/react@19?dev",
            "data:text/javascript,1",
            "fs",
        ] {
            assert_eq!(read(text), Specifier::Direct(text.into()));
        }
    }

    fn remote(specifier: &str, kind: Option<&str>) -> RemoteImport {
        RemoteImport::read(specifier, kind).expect("an import from elsewhere")
    }

    #[test]
    fn what_comes_from_elsewhere_is_fetched_before() {
        assert_eq!(remote("npm:hono@4", None).statement(), "import \"npm:hono@4\";");
        assert_eq!(
            remote("https://a.test/\"b\".json", Some("json")).statement(),
            "import \"https://a.test/\\\"b\\\".json\" with { type: \"json\" };"
        );
        for own in ["node:fs", "data:text/javascript,1", "fs"] {
            assert_eq!(RemoteImport::read(own, None), None);
        }
    }

    #[test]
    fn a_package_is_named_without_the_path_in_it() {
        let npm = [
            ("npm:hono", "npm:hono", "npm:hono"),
            ("npm:hono@^4/jsx", "npm:hono@^4", "npm:hono"),
            ("npm:/hono/jsx", "npm:/hono", "npm:hono"),
            (
                "npm:@scope/name@1.x/a/b",
                "npm:@scope/name@1.x",
                "npm:@scope/name",
            ),
            (
                "jsr:@std/path@1/posix",
                "jsr:@std/path@1",
                "https://jsr.io/@std/path/meta.json",
            ),
        ];
        for (specifier, request, versions) in npm {
            let import = remote(specifier, None);
            let package = import.package().expect("a package");
            assert_eq!(
                (package.request, package.versions()),
                (request, versions.to_owned())
            );
        }
        for none in [
            "https://a.test/b",
            "npm:",
            "npm:@scope",
            "npm:@scope/",
            "npm:a,b",
            "npm:@1",
        ] {
            assert_eq!(remote(none, None).package(), None, "{none}");
        }
    }

    #[test]
    fn files_and_addresses_without_a_val_are_refused() {
        for text in [
            "file:///etc/passwd",
            "/etc/passwd",
            "https://esm.town/v/ada",
            "https://esm.town/v/a/b?v=x",
        ] {
            assert!(matches!(read(text), Specifier::Refused(_)), "{text}");
        }
    }
}
