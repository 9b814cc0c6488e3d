//! How a worker's Deno is started: what it may reach, and nothing of the host's environment.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

use hamlet_models::LEADING_VARIABLES;
use tokio::process::Command;

use crate::{LAUNCH, RuntimeConfig, compile::PUBLIC_ORIGIN, sandbox::Lock};

/// Addresses that no val reaches: this machine, private networks, link-local ones with the cloud's metadata, and
/// multicast. Deno checks them against the address that a name resolved to.
const PRIVATE_ADDRESSES: &str = "127.0.0.0/8,0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,169.254.0.0/16,172.16.0.0/12,\
                                 192.0.0.0/24,192.168.0.0/16,198.18.0.0/15,224.0.0.0/3,[::1],[::]";

/// What no import is fetched from. A remote module's import of the host under which vals are known everywhere must not
/// leave the instance either, unless that is where it asks for what it has not.
fn denied_imports(fallback: Option<&str>) -> String {
    let host = PUBLIC_ORIGIN.trim_start_matches("https://");
    match fallback {
        Some(PUBLIC_ORIGIN) => PRIVATE_ADDRESSES.to_owned(),
        Some(_) | None => format!("{PRIVATE_ADDRESSES},{host}"),
    }
}

/// Variables of the host that tell Deno where packages are and which of its own lists says whom to trust.
const PASSED_ON: [&str; 2] = ["NPM_CONFIG_REGISTRY", "DENO_TLS_CA_STORE"];
/// Those that name a file or a folder with whom to trust.
const CERTIFICATES: [&str; 3] = ["DENO_CERT", "SSL_CERT_FILE", "SSL_CERT_DIR"];
/// Those that name the host's way to the network.
const PROXIES: [&str; 6] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "NO_PROXY",
    "no_proxy",
];

/// Keeps a process from using any proxy, whatever its code asks for. Deno checks the address of none that speaks SOCKS.
const NO_PROXY: (&str, &str) = ("NO_PROXY", "*,0.0.0.0/0,::/0");

/// What a lock of imports is named in the folder of the process that follows it.
pub(crate) const LOCK_FILE: &str = "deno.lock";

fn environment(names: &[&'static str]) -> Vec<(&'static str, OsString)> {
    names
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)))
        .collect()
}

/// What says whom to trust, named so that it is found from a worker's folder too.
fn certificates() -> Vec<(&'static str, OsString)> {
    let mut named = environment(&CERTIFICATES);
    for (_, path) in &mut named {
        if let Ok(absolute) = std::path::absolute(&*path) {
            *path = absolute.into();
        }
    }
    named
}

/// What Deno is started for.
pub(crate) enum Purpose {
    /// To run a val, with what vals may do; `locked` if the process finds a lock of what it imports in its folder.
    Val { locked: bool },
    /// To fetch what this module imports, as the lock in its folder says; nothing of it is run.
    Fetch(PathBuf),
    /// To choose versions of what the project in its folder imports, of those that there are now, and write the lock;
    /// `asked` are the packages whose lists are asked for again.
    Resolve { asked: String },
    /// To run this module, allowed everything: to see what the lock refuses by itself.
    Trial(PathBuf),
}

impl Purpose {
    /// Whether code is run.
    fn runs(&self) -> bool {
        matches!(self, Self::Val { .. } | Self::Trial(_))
    }
}

/// What starts a worker, but for its folder.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    launcher: PathBuf,
    deno: PathBuf,
    cache_dir: PathBuf,
    bootstrap: PathBuf,
    heap_mb: u64,
    denied_imports: String,
    /// What Deno is told by the host's own environment.
    environment: Vec<(&'static str, OsString)>,
    certificates: Vec<(&'static str, OsString)>,
    /// Whether a worker that can't put on the whole lock must not start.
    pub(crate) strict: bool,
}

impl Launch {
    /// `deno` is the program itself, not what leads to it.
    pub(crate) fn new(config: &RuntimeConfig, deno: PathBuf, bootstrap: PathBuf) -> Self {
        Self {
            launcher: config.launcher.clone(),
            deno,
            cache_dir: config.cache_dir.clone(),
            bootstrap,
            heap_mb: config.limits.memory_mb,
            denied_imports: denied_imports(config.module_fallback.as_deref()),
            environment: environment(&PASSED_ON),
            certificates: certificates(),
            strict: false,
        }
    }

    /// The worker's own modules, whose frames no val's stack shows.
    pub(crate) fn bootstrap_dir(&self) -> &Path {
        self.bootstrap.parent().unwrap_or(&self.bootstrap)
    }

    /// The program that runs vals.
    pub(crate) fn deno(&self) -> &Path {
        &self.deno
    }

    /// What a worker whose scratch folder is `dir` may use of the system.
    pub(crate) fn lock(&self, dir: &Path, cgroup: Option<&Path>) -> Lock {
        Lock {
            deno: self.deno.clone(),
            cache: self.cache_dir.clone(),
            cache_writable: false,
            bootstrap: self.bootstrap_dir().to_owned(),
            certificates: self.certificates.iter().map(|(_, path)| path.into()).collect(),
            scratch: dir.to_owned(),
            memory_mb: self.heap_mb,
            cgroup: cgroup.map(Path::to_owned),
            strict: self.strict,
        }
    }

    /// What a process may use of the system that fetches modules.
    pub(crate) fn lock_to_fetch(&self, dir: &Path, cgroup: Option<&Path>) -> Lock {
        Lock {
            cache_writable: true,
            ..self.lock(dir, cgroup)
        }
    }

    /// The command for a process with this lock.
    pub(crate) fn command(
        &self,
        lock: &Lock,
        purpose: &Purpose,
        stdout: Stdio,
        stderr: Stdio,
    ) -> io::Result<Command> {
        let dir = &lock.scratch;
        let mut command = Command::new(&self.launcher);
        command
            .arg(LAUNCH)
            .arg(serde_json::to_string(lock)?)
            .args(match purpose {
                Purpose::Fetch(_) => ["cache", "--quiet"],
                Purpose::Resolve { .. } => ["install", "--quiet"],
                Purpose::Val { .. } | Purpose::Trial(_) => ["run", "--no-prompt"],
            })
            .arg("--node-modules-dir=none")
            .arg(match purpose {
                Purpose::Val { locked: false } | Purpose::Trial(_) => "--no-lock".to_owned(),
                Purpose::Val { locked: true } | Purpose::Fetch(_) | Purpose::Resolve { .. } => {
                    format!("--lock={}", dir.join(LOCK_FILE).display())
                }
            })
            .arg(match purpose {
                Purpose::Resolve { .. } => format!("--config={}", dir.join("deno.json").display()),
                Purpose::Val { .. } | Purpose::Fetch(_) | Purpose::Trial(_) => "--no-config".to_owned(),
            });
        if purpose.runs() {
            // A request's signal tells that the client left, and not that it was answered.
            command
                .args(["--no-code-cache", "--unstable-no-legacy-abort"])
                .arg(format!("--v8-flags=--max-old-space-size={}", self.heap_mb));
        }
        if matches!(purpose, Purpose::Val { .. } | Purpose::Fetch(_)) {
            command
                .arg("--allow-import")
                .arg(format!("--deny-import={}", self.denied_imports));
        }
        match purpose {
            Purpose::Val { .. } => command
                .arg("--allow-env")
                .arg(format!("--ignore-env={}", LEADING_VARIABLES.join(",")))
                .arg(format!("--allow-read={}/", dir.display()))
                .arg(format!("--allow-write={}/", dir.display()))
                .arg("--allow-net")
                .arg(format!("--deny-net={PRIVATE_ADDRESSES}"))
                .arg(&self.bootstrap),
            Purpose::Fetch(module) => command.arg(module),
            Purpose::Resolve { asked } => command.arg("--lockfile-only").arg(format!("--reload={asked}")),
            Purpose::Trial(module) => command.arg("--allow-all").arg(module),
        };
        command
            .current_dir(dir)
            .env_clear()
            .env("DENO_DIR", &self.cache_dir)
            .env("DENO_NO_UPDATE_CHECK", "1")
            .env("NO_COLOR", "1")
            .env("HOME", dir)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .process_group(0)
            .kill_on_drop(true);
        let told = self.environment.iter().chain(&self.certificates);
        command.envs(told.map(|(name, value)| (name, value)));
        if purpose.runs() {
            command.env(NO_PROXY.0, NO_PROXY.1);
        } else {
            // Vals have no way out but their own; what the host fetches goes the host's.
            command.envs(environment(&PROXIES));
        }
        Ok(command)
    }
}
