//! A PostgreSQL server for the tests of this process: in a folder of its own, reached by a socket there, gone when
//! the process is.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::{MetadataExt, chown},
    path::{Path, PathBuf},
    process::{ChildStdin, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use sea_orm::{ConnectionTrait, Database};

struct Server {
    socket_dir: PathBuf,
    /// The server ends when this is closed, which the system does however the process ends.
    _alive: ChildStdin,
}

/// Waits for its input to end, then ends the server and removes its folder.
const WATCH: &str = r#"
    "$@" 2>&1 &
    server=$!
    cat >/dev/null
    kill -QUIT $server
    wait $server
    rm -rf "$FOLDER"
"#;

/// The address of a new, empty schema; nothing where PostgreSQL isn't installed, which is said once.
pub(crate) async fn new_schema() -> Option<String> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    static SCHEMAS: AtomicU32 = AtomicU32::new(0);

    let server = SERVER.get_or_init(|| {
        let Some(programs) = programs() else {
            // Past the test harness, which keeps what passing tests print to itself.
            let _ = std::io::stdout().write_all(
                b"\nPostgreSQL was not found (initdb on the path or in /usr/lib/postgresql): not tested on it.\n",
            );
            return None;
        };
        Some(start(&programs))
    });
    let socket_dir = server.as_ref()?.socket_dir.display();
    let url = format!("postgres://hamlet@localhost/postgres?host={socket_dir}");
    let schema = format!("test_{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
    let connection = Database::connect(&url).await.expect("a connection to PostgreSQL");
    let create = format!("CREATE SCHEMA {schema}");
    connection.execute_unprepared(&create).await.expect("a schema");
    connection.close().await.expect("closed");
    Some(format!("{url}&options=-csearch_path%3D{schema}"))
}

/// The folder that has PostgreSQL's server programs.
fn programs() -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let installed = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    std::env::split_paths(&on_path)
        .chain(installed.map(|version| version.path().join("bin")))
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

#[expect(
    clippy::zombie_processes,
    reason = "the watching shell outlives this process, to tidy up after it"
)]
fn start(programs: &Path) -> Server {
    let folder = tempfile::Builder::new()
        .prefix("hamlet-pg-")
        .tempdir()
        .expect("a folder")
        .keep();
    let data = folder.join("data");
    // The server refuses to run as root.
    let user = fs::metadata(&folder)
        .expect("its owner")
        .uid()
        .eq(&0)
        .then(other_user);
    if let Some(user) = &user {
        chown(&folder, Some(user.id), None).expect("the folder given away");
    }
    let command = |program: &str| -> Vec<String> {
        let program = programs.join(program).display().to_string();
        match &user {
            Some(user) => {
                let id = format!("--reuid={}", user.id);
                ["setpriv", &id, "--clear-groups", &program]
                    .map(String::from)
                    .to_vec()
            }
            None => vec![program],
        }
    };
    let initdb = command("initdb");
    let made = Command::new(&initdb[0])
        .args(&initdb[1..])
        .args([
            "-U",
            "hamlet",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "-D",
        ])
        .arg(&data)
        .output()
        .expect("initdb starts");
    assert!(
        made.status.success(),
        "initdb: {}",
        String::from_utf8_lossy(&made.stderr)
    );

    let mut watch = Command::new("sh")
        .args(["-c", WATCH, "watch"])
        .args(command("postgres"))
        .args(["-F", "-c", "listen_addresses=", "-c", "max_connections=200", "-k"])
        .arg(&folder)
        .arg("-D")
        .arg(&data)
        .env("FOLDER", &folder)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    let mut log = BufReader::new(watch.stdout.take().expect("piped"))
        .lines()
        .map_while(Result::ok);
    let mut said = Vec::new();
    for line in log.by_ref() {
        let ready = line.contains("ready to accept connections");
        said.push(line);
        if ready {
            // It must always find a reader for what it says.
            std::thread::spawn(move || log.for_each(drop));
            let _alive = watch.stdin.take().expect("piped");
            return Server {
                socket_dir: folder,
                _alive,
            };
        }
    }
    panic!("PostgreSQL did not start: {}", said.join("\n"));
}

struct User {
    id: u32,
}

/// A user whom the system has and who isn't root.
fn other_user() -> User {
    let known = fs::read_to_string("/etc/passwd").expect("the system's users");
    let id_of = |name: &str| {
        let entry = known
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        entry.split(':').nth(1)?.parse().ok()
    };
    let id = id_of("postgres")
        .or_else(|| id_of("nobody"))
        .expect("a user beside root");
    User { id }
}
