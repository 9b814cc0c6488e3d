//! Every setting of the server: by flag, else by environment, else by file, else the default. Nowhere else.

mod addresses;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use hamlet_models::Limits;
use hamlet_store::{Bucket, SqlLimits, StoreConfig, StoreRole};
use serde::Deserialize;

use addresses::{
    base_url, bucket, is_of_vals_site, mail_domain, module_fallback, must_be_of_two_sites, vals_domain,
};

/// Declares each setting once: what it means, its name, its type, and its name in the environment.
macro_rules! settings {
    ($($(#[$meta:meta])* $name:ident: $type:ty, $variable:literal;)*) => {
        /// The settings as one source gives them: what is left out is left to the next source.
        #[derive(Args, Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            $($(#[$meta])* #[arg(long, env = $variable)] pub $name: Option<$type>,)*
        }

        impl Settings {
            /// These settings, and those of `other` where these say nothing.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                Self { $($name: self.$name.or(other.$name),)* }
            }
        }
    };
}

settings! {
    /// Address and port to listen on; port 0 takes any free one [default: 127.0.0.1:8787]
    #[arg(value_name = "ADDRESS")]
    listen: SocketAddr, "HAMLET_LISTEN";
    /// Folder for everything that is kept [default: ./hamlet-data]
    #[arg(value_name = "FOLDER")]
    data_dir: PathBuf, "HAMLET_DATA_DIR";
    /// PostgreSQL to keep the data in (postgres://…, with TLS by ?sslmode=verify-full) instead of files in the data folder
    #[arg(value_name = "URL", hide_env_values = true)]
    database_url: String, "HAMLET_DATABASE_URL";
    /// Bucket to keep the bytes of blobs and mail in (s3://bucket/folder) instead of files in the data folder; the variables
    /// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT and their like say how it is reached
    #[arg(value_name = "URL")]
    blobs_url: String, "HAMLET_BLOBS_URL";
    /// File with the key that secrets are sealed with, 32 bytes; made if it isn't there [default: secret.key in the data
    /// folder]
    #[arg(value_name = "FILE")]
    secret_key_file: PathBuf, "HAMLET_SECRET_KEY_FILE";
    /// Public address of this instance, for links [default: the address that a request came to]
    #[arg(value_name = "URL")]
    base_url: String, "HAMLET_BASE_URL";
    /// Instance that is asked for vals of users who have no account here, like https://esm.town; what its modules import of it
    /// comes from there too [default: none, and no import of a val leaves this instance]
    #[arg(value_name = "URL")]
    module_fallback: String, "HAMLET_MODULE_FALLBACK";
    /// Host under which HTTP vals answer, with its port; of another registered domain than the public address
    /// [default: localhost and the listening port]
    #[arg(value_name = "HOST")]
    vals_domain: String, "HAMLET_VALS_DOMAIN";
    /// Host of the vals' e-mail addresses; without it, no mail is taken
    #[arg(value_name = "HOST")]
    mail_domain: String, "HAMLET_MAIL_DOMAIN";
    /// Address and port to take mail on [default: the listening address and port 2525]
    #[arg(value_name = "ADDRESS")]
    mail_listen: SocketAddr, "HAMLET_MAIL_LISTEN";
    /// File with the certificate for STARTTLS, in PEM [default: one made at each start]
    #[arg(value_name = "FILE")]
    mail_certificate: PathBuf, "HAMLET_MAIL_CERTIFICATE";
    /// File with the key of that certificate, in PEM
    #[arg(value_name = "FILE")]
    mail_key: PathBuf, "HAMLET_MAIL_KEY";
    /// SMTP server to send mail by (smtps://name:password@host, or smtp://host?tls=required) [default: mail is kept in the
    /// outbox]
    #[arg(value_name = "URL", hide_env_values = true)]
    mail_relay: String, "HAMLET_MAIL_RELAY";
    /// Deno 2.9 or newer, which runs the vals [default: deno on the path]
    #[arg(value_name = "PROGRAM")]
    deno: PathBuf, "HAMLET_DENO";
    /// Refuse to start where the system lacks a layer of what keeps vals in [default: false]
    #[arg(value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          value_parser = clap::builder::BoolishValueParser::new())]
    require_sandbox: bool, "HAMLET_REQUIRE_SANDBOX";
    /// Let anyone evaluate code by /v1/eval, without a token; it runs with no account [default: false]
    #[arg(value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          value_parser = clap::builder::BoolishValueParser::new())]
    anonymous_eval: bool, "HAMLET_ANONYMOUS_EVAL";
    /// Wall time of a run in seconds [default: 60]
    #[arg(value_name = "SECONDS")]
    wall_seconds: u64, "HAMLET_WALL_SECONDS";
    /// CPU time of a run in seconds [default: 30]
    #[arg(value_name = "SECONDS")]
    cpu_seconds: u64, "HAMLET_CPU_SECONDS";
    /// Memory of a worker in megabytes [default: 256]
    #[arg(value_name = "MB")]
    memory_mb: u64, "HAMLET_MEMORY_MB";
    /// Largest body of a request to a val, and largest blob, in megabytes [default: 100]
    #[arg(value_name = "MB")]
    request_body_mb: u64, "HAMLET_REQUEST_BODY_MB";
    /// Megabytes that the blobs of an account may take [default: 1000]
    #[arg(value_name = "MB")]
    blobs_mb: u64, "HAMLET_BLOBS_MB";
    /// Logs kept of a run in kilobytes [default: 1000]
    #[arg(value_name = "KB")]
    log_kb: u64, "HAMLET_LOG_KB";
    /// Return value, arguments and error kept of a run in kilobytes each [default: 100]
    #[arg(value_name = "KB")]
    value_kb: u64, "HAMLET_VALUE_KB";
    /// Runs at once per user; more of them wait [default: 20]
    #[arg(value_name = "COUNT")]
    user_runs: u32, "HAMLET_USER_RUNS";
    /// Runs at once in all; more of them wait [default: 16 per processor, at least 32]
    #[arg(value_name = "COUNT")]
    instance_runs: u32, "HAMLET_INSTANCE_RUNS";
    /// How long a worker of an HTTP val is kept after its last request, in seconds [default: 10]
    #[arg(value_name = "SECONDS")]
    warm_seconds: u64, "HAMLET_WARM_SECONDS";
    /// Workers kept ready for the next run [default: 2]
    #[arg(value_name = "COUNT")]
    blank_workers: usize, "HAMLET_BLANK_WORKERS";
    /// Days for which runs are kept [default: 30]
    #[arg(value_name = "DAYS")]
    keep_runs_days: u64, "HAMLET_KEEP_RUNS_DAYS";
    /// Megabytes that runs may take; the oldest go first [default: 2000]
    #[arg(value_name = "MB")]
    keep_runs_mb: u64, "HAMLET_KEEP_RUNS_MB";
    /// How the log is written [default: text]
    log_format: LogFormat, "HAMLET_LOG_FORMAT";
}

/// Addresses to which the mail of an account goes within an hour.
const ADDRESSES_PER_HOUR: u32 = 100;

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for a person.
    #[default]
    Text,
    /// One JSON object a line, for a program.
    Json,
}

/// Why the settings can't be used: a sentence that names the setting.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The settings file can't be read.
    #[error("can't read the settings file {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: std::io::Error,
    },
    /// The settings file holds something that it should not.
    #[error("the settings file {} is not right: {cause}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What and where.
        cause: toml::de::Error,
    },
    /// A setting has a value that makes no sense.
    #[error("the setting {name} {problem}")]
    Invalid {
        /// The setting.
        name: &'static str,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

impl Settings {
    /// These settings (from flags and environment) over those of the file: `path` if one is named, else
    /// `./hamlet.toml` if there is one.
    pub fn over_file(self, path: Option<&Path>) -> Result<Self, ConfigError> {
        let usual = Path::new("hamlet.toml");
        let path = match path {
            Some(path) => path,
            None if usual.exists() => usual,
            None => return Ok(self),
        };
        let text = std::fs::read_to_string(path).map_err(|cause| ConfigError::Unreadable {
            path: path.to_owned(),
            cause,
        })?;
        let file = toml::from_str(&text).map_err(|cause| ConfigError::Malformed {
            path: path.to_owned(),
            cause,
        })?;
        Ok(self.or(file))
    }
}

/// The settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the server listens; the real port once it does.
    pub listen: SocketAddr,
    /// Everything that is kept.
    pub data_dir: PathBuf,
    /// The key that secrets are sealed with.
    pub secret_key_file: PathBuf,
    /// PostgreSQL, in place of files in the data folder.
    pub database_url: Option<String>,
    /// The bucket of blobs and mail, in place of files in the data folder.
    pub bucket: Option<Bucket>,
    /// The public address without a slash at its end; `None`: the one that a request came to.
    pub base_url: Option<String>,
    /// The instance, without a slash at its end, that is asked for vals of users who have no account here.
    pub module_fallback: Option<String>,
    /// The host under which HTTP vals answer, with its port, in lower case.
    pub vals_domain: String,
    /// Mail, in and out.
    pub mail: MailConfig,
    /// The program that runs vals.
    pub deno: PathBuf,
    /// The program that locks workers in and becomes them, and that serves accounts' databases: this one.
    pub launcher: PathBuf,
    /// Whether every layer of what keeps vals in must hold.
    pub require_sandbox: bool,
    /// Whether code is evaluated for who has no token too.
    pub anonymous_eval: bool,
    /// Bytes that the blobs of an account may take.
    pub blob_bytes: u64,
    /// The limits that the SQL of accounts meets.
    pub sql: SqlLimits,
    /// The limits that runs meet.
    pub limits: Limits,
    /// Workers kept ready.
    pub blank_workers: usize,
    /// Days for which runs are kept.
    pub keep_runs_days: u64,
    /// Megabytes that runs may take.
    pub keep_runs_mb: u64,
    /// How the log is written.
    pub log_format: LogFormat,
    /// Whether the vals' host was chosen, not derived from the listening port.
    vals_domain_chosen: bool,
}

/// How mail comes and goes.
#[derive(Clone)]
pub struct MailConfig {
    /// The host of the vals' addresses, in lower case; no mail is taken without.
    pub domain: Option<String>,
    /// Where mail is taken.
    pub listen: SocketAddr,
    /// The files of the certificate for STARTTLS and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// By what mail is sent; it is kept in the outbox without.
    pub relay: Option<String>,
    /// Addresses to which the mail of an account goes within an hour.
    pub addresses_per_hour: u32,
}

/// Without the relay, whose address may hold a password.
impl std::fmt::Debug for MailConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MailConfig")
            .field("domain", &self.domain)
            .field("listen", &self.listen)
            .field("certificate", &self.certificate)
            .finish_non_exhaustive()
    }
}

impl TryFrom<Settings> for Config {
    type Error = ConfigError;

    fn try_from(settings: Settings) -> Result<Self, ConfigError> {
        let listen = settings
            .listen
            .unwrap_or(SocketAddr::from(([127, 0, 0, 1], 8787)));
        let limits = Limits {
            wall_seconds: within("wall_seconds", settings.wall_seconds.unwrap_or(60), 1, 86_400)?,
            cpu_seconds: within("cpu_seconds", settings.cpu_seconds.unwrap_or(30), 1, 86_400)?,
            memory_mb: within("memory_mb", settings.memory_mb.unwrap_or(256), 32, 1_048_576)?,
            request_body_mb: within(
                "request_body_mb",
                settings.request_body_mb.unwrap_or(100),
                1,
                1_048_576,
            )?,
            log_kb: within("log_kb", settings.log_kb.unwrap_or(1_000), 1, 1_000_000)?,
            value_kb: within("value_kb", settings.value_kb.unwrap_or(100), 1, 1_000_000)?,
            user_runs: within("user_runs", settings.user_runs.unwrap_or(20), 1, 100_000)?,
            instance_runs: within(
                "instance_runs",
                settings.instance_runs.unwrap_or_else(default_instance_runs),
                1,
                100_000,
            )?,
            warm_seconds: within("warm_seconds", settings.warm_seconds.unwrap_or(10), 0, 86_400)?,
        };
        let data_dir = settings.data_dir.unwrap_or_else(|| "hamlet-data".into());
        let base_url = settings.base_url.as_deref().map(base_url).transpose()?;
        let vals_domain_chosen = settings.vals_domain.is_some();
        let vals_domain = match settings.vals_domain {
            Some(domain) => vals_domain(&domain)?,
            None => default_vals_domain(listen),
        };
        if let Some(base_url) = &base_url {
            must_be_of_two_sites(base_url, &vals_domain)?;
        }
        Ok(Self {
            listen,
            secret_key_file: settings
                .secret_key_file
                .unwrap_or_else(|| data_dir.join("secret.key")),
            data_dir,
            database_url: settings.database_url,
            bucket: settings.blobs_url.as_deref().map(bucket).transpose()?,
            base_url,
            module_fallback: settings
                .module_fallback
                .as_deref()
                .map(module_fallback)
                .transpose()?,
            vals_domain_chosen,
            vals_domain,
            mail: MailConfig {
                domain: settings.mail_domain.as_deref().map(mail_domain).transpose()?,
                listen: settings
                    .mail_listen
                    .unwrap_or_else(|| SocketAddr::new(listen.ip(), 2525)),
                certificate: match (settings.mail_certificate, settings.mail_key) {
                    (Some(certificate), Some(key)) => Some((certificate, key)),
                    (None, None) => None,
                    (Some(_), None) | (None, Some(_)) => {
                        return Err(ConfigError::Invalid {
                            name: "mail_certificate",
                            problem: "and mail_key go together: set both, or none".to_owned(),
                        });
                    }
                },
                relay: settings.mail_relay,
                addresses_per_hour: ADDRESSES_PER_HOUR,
            },
            deno: settings.deno.unwrap_or_else(|| "deno".into()),
            launcher: "/proc/self/exe".into(),
            require_sandbox: settings.require_sandbox.unwrap_or(false),
            anonymous_eval: settings.anonymous_eval.unwrap_or(false),
            blob_bytes: within("blobs_mb", settings.blobs_mb.unwrap_or(1_000), 1, 1_000_000_000)? * 1_000_000,
            sql: SqlLimits::default(),
            limits,
            blank_workers: within("blank_workers", settings.blank_workers.unwrap_or(2), 0, 1_000)?,
            keep_runs_days: within("keep_runs_days", settings.keep_runs_days.unwrap_or(30), 1, 36_500)?,
            keep_runs_mb: within(
                "keep_runs_mb",
                settings.keep_runs_mb.unwrap_or(2_000),
                1,
                100_000_000,
            )?,
            log_format: settings.log_format.unwrap_or_default(),
        })
    }
}

impl Config {
    /// The same settings once it is known where the server really listens.
    #[must_use]
    pub fn listening_on(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        if !self.vals_domain_chosen {
            self.vals_domain = default_vals_domain(address);
        }
        self
    }

    /// The address of the instance where no request tells it: the public one, else the one it listens on.
    pub fn own_url(&self) -> String {
        self.base_url.clone().unwrap_or_else(|| {
            let mut address = self.listen;
            if address.ip().is_unspecified() {
                address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
            }
            format!("http://{address}")
        })
    }

    /// Whether a page at this host, without a port, is of one site with the pages of vals. With the default host of vals
    /// none is that is not theirs: what follows `localhost` has its sites one label below it.
    pub fn is_of_vals_site(&self, host: &str) -> bool {
        self.vals_domain_chosen && is_of_vals_site(host, &self.vals_domain)
    }

    /// Whether people reach the instance by HTTPS.
    pub fn is_https(&self) -> bool {
        self.base_url
            .as_ref()
            .is_some_and(|url| url.starts_with("https://"))
    }

    /// How to open the store, as the server or beside it.
    pub fn store(&self, role: StoreRole) -> StoreConfig {
        StoreConfig {
            data_dir: self.data_dir.clone(),
            database_url: self.database_url.clone(),
            bucket: self.bucket.clone(),
            role,
        }
    }
}

fn default_vals_domain(listen: SocketAddr) -> String {
    format!("localhost:{}", listen.port())
}

fn default_instance_runs() -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(processors * 16)
        .unwrap_or(u32::MAX)
        .clamp(32, 100_000)
}

fn within<N: PartialOrd + std::fmt::Display>(
    name: &'static str,
    value: N,
    least: N,
    most: N,
) -> Result<N, ConfigError> {
    if value < least || value > most {
        return Err(ConfigError::Invalid {
            name,
            problem: format!("is {value}, but has to be from {least} to {most}"),
        });
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(file: &str) -> Result<Settings, toml::de::Error> {
        toml::from_str(file)
    }

    fn config(file: &str) -> Result<Config, ConfigError> {
        settings(file).expect("a settings file").try_into()
    }

    #[test]
    fn what_nobody_set_has_a_default() {
        let config = config("").expect("settings");
        assert_eq!(config.listen.to_string(), "127.0.0.1:8787");
        assert_eq!(config.data_dir, Path::new("hamlet-data"));
        assert_eq!(config.vals_domain, "localhost:8787");
        assert_eq!(config.base_url, None);
        assert_eq!(config.own_url(), "http://127.0.0.1:8787");
        assert_eq!((config.limits.wall_seconds, config.limits.memory_mb), (60, 256));
    }

    #[test]
    fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
        let flags = settings("wall_seconds = 5").expect("settings");
        let file = settings("wall_seconds = 6\ncpu_seconds = 7").expect("settings");
        let config = Config::try_from(flags.or(file)).expect("settings");
        assert_eq!(
            (
                config.limits.wall_seconds,
                config.limits.cpu_seconds,
                config.limits.log_kb
            ),
            (5, 7, 1_000)
        );
    }

    #[test]
    fn an_unknown_setting_in_the_file_is_named() {
        let refused = settings("lisen = \"127.0.0.1:1\"")
            .expect_err("a misspelled setting")
            .to_string();
        assert!(
            refused.contains("lisen") && refused.contains("listen"),
            "{refused}"
        );
    }

    #[test]
    fn a_named_file_that_is_not_there_is_an_error() {
        let missing = Path::new("/nowhere/hamlet.toml");
        let refused = Settings::default()
            .over_file(Some(missing))
            .expect_err("no such file");
        assert!(refused.to_string().contains("/nowhere/hamlet.toml"), "{refused}");
    }

    #[test]
    fn the_vals_host_follows_the_real_port_unless_it_was_chosen() {
        let address = SocketAddr::from(([127, 0, 0, 1], 4567));
        let config_of = |file| config(file).expect("settings").listening_on(address);
        assert_eq!(config_of("").vals_domain, "localhost:4567");
        assert_eq!(
            config_of("vals_domain = \"Vals.Example.com\"").vals_domain,
            "vals.example.com"
        );
    }

    #[test]
    fn a_limit_of_nothing_is_refused_by_name() {
        let refused = config("wall_seconds = 0")
            .expect_err("no time at all")
            .to_string();
        assert!(
            refused.contains("wall_seconds") && refused.contains("1 to 86400"),
            "{refused}"
        );
        assert!(
            config("warm_seconds = 0\nblank_workers = 0").is_ok(),
            "none kept is a choice"
        );
    }
}
