//! What the text of an import means.

use hamlet_models::VersionNumber;
use url::Url;

use crate::ValReference;

/// The address under which vals of every instance are known.
const PUBLIC_ORIGIN: &str = "https://esm.town";

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

/// Reads the specifier of an import in the module at `importer`; `hosts` are the origins of this instance.
pub(crate) fn read_specifier(text: &str, importer: &str, hosts: &[String]) -> Specifier {
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

/// The statement that imports a module by this specifier, if it is one that Deno would fetch; `kind` is its `type`
/// attribute.
pub(crate) fn fetch_statement(specifier: &str, kind: Option<&str>) -> Option<String> {
    let remote = ["npm:", "jsr:", "http:", "https:"];
    remote
        .iter()
        .any(|scheme| specifier.starts_with(scheme))
        .then(|| {
            let attribute = kind.map_or_else(String::new, |kind| format!(" with {{ type: {kind:?} }}"));
            format!("import {}{attribute};", serde_json::Value::from(specifier))
        })
}

fn read_address(url: &Url, text: &str, relative: bool, hosts: &[String]) -> Specifier {
    let origin = url.origin().ascii_serialization();
    if origin != PUBLIC_ORIGIN && !hosts.contains(&origin) {
        return Specifier::Direct(if relative {
            url.to_string()
        } else {
            text.to_owned()
        });
    }
    let mut segments = url.path_segments().into_iter().flatten();
    let (Some("v"), Some(user), Some(name), None) =
        (segments.next(), segments.next(), segments.next(), segments.next())
    else {
        return Specifier::Refused(format!(
            "{text:?} names no val: they are at {origin}/v/{{user}}/{{val}}"
        ));
    };
    let version = url
        .query_pairs()
        .find(|(key, _)| key == "v")
        .map(|(_, value)| value.parse::<VersionNumber>());
    match version {
        Some(Err(_)) => Specifier::Refused(format!("{text:?} asks for a version that is no number")),
        version => Specifier::Val(ValReference {
            username: user.trim_start_matches('@').to_owned(),
            // People write `hello.ts` for `hello`, which has no dot in its name.
            name: name.split('.').next().unwrap_or(name).to_owned(),
            version: version.and_then(Result::ok),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Specifier {
        read_specifier(
            text,
            "https://esm.town/v/ada/hello?v=3",
            &["http://localhost:8787".to_owned()],
        )
    }

    fn val(username: &str, name: &str, version: Option<u32>) -> Specifier {
        Specifier::Val(ValReference {
            username: username.into(),
            name: name.into(),
            version,
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

    #[test]
    fn what_comes_from_elsewhere_is_fetched_before() {
        assert_eq!(
            fetch_statement("npm:hono@4", None).as_deref(),
            Some("import \"npm:hono@4\";")
        );
        assert_eq!(
            fetch_statement("https://a.test/\"b\".json", Some("json")).as_deref(),
            Some("import \"https://a.test/\\\"b\\\".json\" with { type: \"json\" };")
        );
        for own in ["node:fs", "data:text/javascript,1", "fs"] {
            assert_eq!(fetch_statement(own, None), None);
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
