//! How a worker's Deno is started: what it may reach, and nothing of the host's environment.

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use crate::{LAUNCH, RuntimeConfig, sandbox::Lock};

/// Addresses that no val reaches: this machine, private networks, link-local ones with the cloud's metadata, and
/// multicast. Deno checks them against the address that a name resolved to.
const PRIVATE_ADDRESSES: &str = "127.0.0.0/8,0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,169.254.0.0/16,172.16.0.0/12,\
                                 192.0.0.0/24,192.168.0.0/16,198.18.0.0/15,224.0.0.0/3,[::1],[::]";

/// The origin under which vals are known everywhere: a remote module's import of it must not leave the instance.
const PUBLIC_HOST: &str = "esm.town";

/// Variables by which Deno's own requests for modules are led elsewhere: neither a val nor its author sets them, or they
/// would lead to addresses that no val reaches.
const LEADING: &str = "HTTP_PROXY,http_proxy,HTTPS_PROXY,https_proxy,ALL_PROXY,all_proxy,NO_PROXY,no_proxy,\
                       NPM_CONFIG_REGISTRY,npm_config_registry,JSR_URL";

/// What Deno itself lets a process do.
pub(crate) enum Permissions {
    /// What vals need.
    Val,
    /// Everything, and this module in place of the workers' own: to see what the lock refuses by itself.
    Everything(PathBuf),
}

/// What starts a worker, but for its folder.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    launcher: PathBuf,
    deno: PathBuf,
    cache_dir: PathBuf,
    bootstrap: PathBuf,
    heap_mb: u64,
    registry: Option<std::ffi::OsString>,
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
            registry: std::env::var_os("NPM_CONFIG_REGISTRY"),
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
            bootstrap: self.bootstrap_dir().to_owned(),
            scratch: dir.to_owned(),
            memory_mb: self.heap_mb,
            cgroup: cgroup.map(Path::to_owned),
            strict: self.strict,
        }
    }

    /// The command for a worker with this lock.
    pub(crate) fn command(
        &self,
        lock: &Lock,
        permissions: &Permissions,
        stdout: Stdio,
        stderr: Stdio,
    ) -> io::Result<Command> {
        let dir = &lock.scratch;
        let mut command = Command::new(&self.launcher);
        command
            .arg(LAUNCH)
            .arg(serde_json::to_string(lock)?)
            .arg("run")
            .args([
                "--no-prompt",
                "--no-config",
                "--no-lock",
                "--no-code-cache",
                "--node-modules-dir=none",
            ])
            // A request's signal tells that the client left, and not that it was answered.
            .args(["--unstable-no-legacy-abort"])
            .arg(format!("--v8-flags=--max-old-space-size={}", self.heap_mb));
        match permissions {
            Permissions::Val => command
                .arg("--allow-env")
                .arg(format!("--ignore-env={LEADING}"))
                .arg(format!("--allow-read={}/", dir.display()))
                .arg(format!("--allow-write={}/", dir.display()))
                .args(["--allow-net", "--allow-import"])
                .arg(format!("--deny-net={PRIVATE_ADDRESSES}"))
                .arg(format!("--deny-import={PRIVATE_ADDRESSES},{PUBLIC_HOST}"))
                .arg(&self.bootstrap),
            Permissions::Everything(module) => command.arg("--allow-all").arg(module),
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
        if let Some(registry) = &self.registry {
            command.env("NPM_CONFIG_REGISTRY", registry);
        }
        Ok(command)
    }
}
