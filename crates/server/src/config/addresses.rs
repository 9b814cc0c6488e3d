//! Settings that are addresses: each read once, and refused by the name of its setting.

use hamlet_store::Bucket;
use url::{Host, Url};

use super::ConfigError;

pub(super) fn base_url(text: &str) -> Result<String, ConfigError> {
    origin(text, &["http", "https"]).ok_or_else(|| ConfigError::Invalid {
        name: "base_url",
        problem: format!("is {text}, but has to be an address like https://vals.example.com, without a path"),
    })
}

/// Code comes from there: nobody on the way may change it.
pub(super) fn module_fallback(text: &str) -> Result<String, ConfigError> {
    origin(text, &["https"]).ok_or_else(|| ConfigError::Invalid {
        name: "module_fallback",
        problem: format!("is {text}, but has to be an address like https://esm.town, without a path"),
    })
}

/// The address without a slash at its end, if it is one of these schemes and a host alone.
fn origin(text: &str, schemes: &[&str]) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let plain = schemes.contains(&url.scheme())
        && url.has_host()
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    plain.then(|| url.as_str().trim_end_matches('/').to_owned())
}

pub(super) fn bucket(text: &str) -> Result<Bucket, ConfigError> {
    Bucket::parse(text, std::env::vars()).ok_or_else(|| ConfigError::Invalid {
        name: "blobs_url",
        problem: format!("is {text}, but has to be an address like s3://bucket or s3://bucket/folder"),
    })
}

pub(super) fn mail_domain(text: &str) -> Result<String, ConfigError> {
    match Url::parse(&format!("http://{text}")) {
        Ok(url) if url.domain() == Some(text.to_ascii_lowercase().as_str()) => Ok(text.to_ascii_lowercase()),
        _ => Err(ConfigError::Invalid {
            name: "mail_domain",
            problem: format!("is {text}, but has to be a host like mail.example.com"),
        }),
    }
}

pub(super) fn vals_domain(text: &str) -> Result<String, ConfigError> {
    let invalid = || ConfigError::Invalid {
        name: "vals_domain",
        problem: format!("is {text}, but has to be a host like vals.example.com or localhost:8787"),
    };
    let url = Url::parse(&format!("http://{text}")).map_err(|_| invalid())?;
    let host = url.domain().ok_or_else(invalid)?;
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() || text.contains(['@', '/']) {
        return Err(invalid());
    }
    Ok(url
        .port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// Refuses to have the vals' pages on the site of the web app: a browser lets pages of one site set cookies for each
/// other, and sends theirs along.
pub(super) fn must_be_of_two_sites(base_url: &str, vals_domain: &str) -> Result<(), ConfigError> {
    let Ok(url) = Url::parse(base_url) else {
        return Ok(());
    };
    let Some(Host::Domain(app)) = url.host() else {
        return Ok(());
    };
    if !is_of_vals_site(app, vals_domain) {
        return Ok(());
    }
    Err(ConfigError::Invalid {
        name: "vals_domain",
        problem: format!(
            "is {vals_domain}, where vals' pages would be of one site with the web app at {base_url}: choose a host of \
             another registered domain, as vals.example.net beside hamlet.example.org"
        ),
    })
}

/// Whether browsers take this host, without a port, for one site with the vals' pages.
pub(super) fn is_of_vals_site(host: &str, vals_domain: &str) -> bool {
    let domain = vals_domain.split(':').next().unwrap_or_default();
    // Every val has a host of its own below the domain, which may be one that registers others: what is compared is it.
    site(&host.to_ascii_lowercase()) == site(&format!("val.{domain}"))
}

/// What browsers take for one site: the registered domain, or the host itself where there is none.
fn site(host: &str) -> &str {
    let host = host.trim_end_matches('.');
    psl::domain_str(host).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Config, Settings},
        *,
    };

    fn config(file: &str) -> Result<Config, ConfigError> {
        let settings: Settings = toml::from_str(file).expect("a settings file");
        settings.try_into()
    }

    #[test]
    fn a_bucket_has_an_address_of_its_own_kind() {
        let bucket = |url: &str| config(&format!("blobs_url = {url:?}")).map(|config| config.bucket);
        let kept = bucket("s3://vals/hamlet").expect("settings").expect("a bucket");
        assert_eq!(kept.to_string(), "s3://vals/hamlet");
        let refused = bucket("https://vals").expect_err("no bucket").to_string();
        assert!(
            refused.contains("blobs_url") && refused.contains("s3://"),
            "{refused}"
        );
    }

    #[test]
    fn a_base_address_is_an_origin() {
        let base = |text: &str| base_url(text).ok();
        assert_eq!(
            base("https://Example.com/").as_deref(),
            Some("https://example.com")
        );
        assert_eq!(
            base("http://localhost:8787").as_deref(),
            Some("http://localhost:8787")
        );
        for bad in [
            "",
            "example.com",
            "ftp://example.com",
            "https://example.com/x",
            "https://a:b@example.com",
            "https://x/?q",
        ] {
            assert_eq!(base(bad), None, "{bad:?} must be refused");
        }
    }

    #[test]
    fn the_vals_are_of_another_site_than_the_app() {
        let both = |base: &str, vals: &str| config(&format!("base_url = {base:?}\nvals_domain = {vals:?}"));
        for (base, vals) in [
            ("https://app.example.com", "example.com"),
            ("https://example.com", "vals.example.com"),
            ("https://hamlet.example.co.uk", "vals.example.co.uk:8443"),
            ("https://app.example.com.", "example.com"),
            ("http://hamlet.lan", "vals.hamlet.lan"),
        ] {
            let refused = both(base, vals).expect_err("one site").to_string();
            assert!(
                refused.contains("vals_domain") && refused.contains("another registered domain"),
                "{refused}"
            );
        }
        for (base, vals) in [
            ("https://vals.example.org", "vals.example.net"),
            ("https://a.example.co.uk", "b.co.uk"),
            // A domain of the public suffix list: every val is a site of its own.
            ("https://ada.github.io", "github.io"),
            ("http://localhost:8787", "localhost:8787"),
            ("http://app.localhost:8787", "localhost:8787"),
            ("http://192.168.1.2:8787", "hamlet.lan:8787"),
            ("http://[::1]:8787", "localhost:8787"),
            ("http://hamlet:8787", "hamlet:8787"),
        ] {
            assert!(both(base, vals).is_ok(), "{base} and {vals} must do");
        }
    }

    #[test]
    fn other_modules_come_by_https_alone() {
        let fallback = |text: &str| config(&format!("module_fallback = {text:?}"));
        let kept = fallback("https://ESM.town/").expect("settings").module_fallback;
        assert_eq!(kept.as_deref(), Some("https://esm.town"));
        for bad in ["http://esm.town", "esm.town", "https://esm.town/v", ""] {
            let refused = fallback(bad).expect_err(bad).to_string();
            assert!(refused.contains("module_fallback"), "{refused}");
        }
        assert_eq!(config("").expect("settings").module_fallback, None);
    }
}
