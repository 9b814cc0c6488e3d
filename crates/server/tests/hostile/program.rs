//! The server as its own process, with a folder of its own.

use std::{
    env,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    sync::watch,
    task::JoinHandle,
    time::timeout,
};

use crate::{account::Account, deno::deno};

/// Longer than any of these tests takes on a busy machine: what waits so long waits for ever.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The host of the vals' addresses.
pub(crate) const MAIL_DOMAIN: &str = "mail.test";

/// A server that runs.
pub(crate) struct Program {
    child: Child,
    log: Arc<Log>,
    reading: JoinHandle<()>,
    pub(crate) id: u32,
    pub(crate) url: String,
    pub(crate) mail_port: u16,
    pub(crate) data_dir: PathBuf,
    folder: TempDir,
}

/// What the server wrote to its log.
type Log = Mutex<Vec<String>>;

impl Program {
    /// One with these settings beside those that every one of these tests has.
    pub(crate) async fn start(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let data_dir = folder.path().join("data");
        let mut child = command(folder.path())
            .args(["serve", "--listen", "127.0.0.1:0", "--mail-listen", "127.0.0.1:0"])
            .args(["--mail-domain", MAIL_DOMAIN])
            .envs(settings.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        let log: Arc<Log> = Arc::default();
        let (port, mut mail_port) = watch::channel(None);
        let mut lines = BufReader::new(child.stderr.take().expect("its log")).lines();
        let written = log.clone();
        let reading = tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let (_, address) = line
                    .split_once("takes mail listen=127.0.0.1:")
                    .unwrap_or_default();
                if let Some(found) = address.split(' ').next().and_then(|port| port.parse().ok()) {
                    port.send_replace(Some(found));
                }
                written.lock().expect("the log").push(line);
            }
        });
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let ready = lines.next_line().await.expect("its output");
        let ready = ready.unwrap_or_else(|| panic!("no server: {:?}", log.lock()));
        let url = ready.strip_prefix("Hamlet is ready at ").expect("the address");
        // It has more to say, and somebody has to take it.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let mail_port = *mail_port
            .wait_for(Option::is_some)
            .await
            .expect("a port for mail");
        Self {
            id: child.id().expect("it runs"),
            child,
            log,
            reading,
            url: url.to_owned(),
            mail_port: mail_port.expect("a port for mail"),
            data_dir,
            folder,
        }
    }

    /// A new account with a token that may do everything.
    pub(crate) async fn account(&self, name: &str) -> Account {
        let output = command(self.folder.path())
            .args(["user", "create", name])
            .output();
        let output = timeout(PATIENCE, output)
            .await
            .expect("it ends")
            .expect("its end");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let token = said.split_whitespace().last().expect("a token");
        Account::new(&self.url, token)
    }

    /// Where workers have their folders.
    pub(crate) fn work_dir(&self) -> PathBuf {
        self.data_dir.join("work")
    }

    /// The lines of the log that tell of a fault of the server's.
    pub(crate) fn faults(&self) -> Vec<String> {
        let log = self.log.lock().expect("the log");
        let is_fault = |line: &&String| line.contains(" ERROR ") || line.contains("panicked");
        log.iter().filter(is_fault).cloned().collect()
    }

    /// Tells it to end, and waits until it did.
    pub(crate) async fn end(&mut self) {
        let id = self.id.to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status().await;
        assert!(told.expect("kill").success());
        let ended = timeout(PATIENCE, self.child.wait()).await;
        let ended = ended.expect("it ends").expect("its end");
        (&mut self.reading).await.expect("its whole log");
        assert!(ended.success(), "{ended}: {:?}", self.log.lock());
    }
}

/// The program, without the settings of whoever runs the tests.
fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hamlet"));
    command
        .env_clear()
        .current_dir(folder)
        .env("HAMLET_DATA_DIR", folder.join("data"))
        .env("HAMLET_DENO", deno())
        .kill_on_drop(true);
    for name in ["PATH", "HOME"] {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}
