//! A server that is killed in the middle of its work has lost nothing that it acknowledged.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

use hamlet_models::{NewVersion, UserId, ValFilter, ValId};
use hamlet_store::{NewUser, Store, StoreConfig, StoreRole, ValScope};
use sea_orm::{ConnectionTrait, Database, DbBackend, Statement};

use crate::harness::{new_val, page};

/// Names the folder for the child.
pub(crate) const FOLDER: &str = "HAMLET_CRASH_TEST_FOLDER";

pub(crate) fn config(folder: &Path) -> StoreConfig {
    StoreConfig {
        data_dir: folder.to_owned(),
        database_url: None,
        bucket: None,
        role: StoreRole::Server,
    }
}

/// The code of a version, from which one can tell whose it is.
fn code(val: ValId, version: u32) -> String {
    format!("// {val}\n").repeat(1 + version as usize % 50) + &version.to_string()
}

/// Not a test of its own: what the test below starts and kills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the crash test starts it"]
async fn saves_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let store = Store::open(&config(Path::new(&folder))).await.expect("a store");
    let user = match store.find_user("ada").await {
        Ok(user) => user.id,
        Err(_) => {
            let new = NewUser {
                username: "ada".parse().expect("a name"),
                admin: true,
                password_hash: None,
            };
            store.create_user(&new).await.expect("a user").id
        }
    };
    let savers: Vec<_> = (0..8)
        .map(|_| tokio::spawn(save_for_ever(store.clone(), user)))
        .collect();
    for saver in savers {
        saver.await.expect("no panic");
    }
}

async fn save_for_ever(store: Store, user: UserId) {
    loop {
        let new = new_val(&format!("v{}", uuid::Uuid::now_v7().simple()), "first");
        let val = store.create_val(user, &new).await.expect("a val").id;
        say(&format!("saved {val} 0"));
        for version in 1..20 {
            let new = NewVersion::of_code(code(val, version));
            let saved = store
                .create_version(val, user, &new, Some(version - 1))
                .await
                .expect("saved");
            say(&format!("saved {val} {}", saved.val.version));
        }
    }
}

/// One line at once, past the test harness.
pub(crate) fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    // When nobody listens any more, the end is near.
    let _ = stdout
        .write_all(format!("child: {line}\n").as_bytes())
        .and_then(|()| stdout.flush());
}

/// Runs a child in this folder until it has said so many lines, kills it, and answers all that it said.
pub(crate) fn killed_after(child: &str, folder: &Path, lines: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", child, "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child starts");
    let stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut said = Vec::new();
    for line in stdout.lines() {
        let line = line.expect("text");
        let Some(line) = line.strip_prefix("child: ") else {
            continue;
        };
        said.push(line.to_owned());
        if said.len() == lines {
            child.kill().expect("killed");
        }
    }
    child.wait().expect("ended");
    assert!(
        said.len() >= lines,
        "the child ended by itself after {} lines",
        said.len()
    );
    said
}

/// The saves that a child acknowledged before it was killed.
fn crash_after(folder: &Path, lines: usize) -> Vec<(ValId, u32)> {
    let said = killed_after("crash::saves_until_it_is_killed", folder, lines);
    let saved = |line: &String| {
        let (val, version) = line.strip_prefix("saved ")?.split_once(' ')?;
        Some((val.parse().ok()?, version.parse().ok()?))
    };
    let saved = said.iter().map(|line| saved(line).expect("a whole line"));
    saved.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_has_lost_nothing_it_acknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("data");
    let mut acknowledged = Vec::new();
    // One folder throughout: each crash meets what the last one left.
    for lines in [3, 41, 170, 333, 512] {
        acknowledged.extend(crash_after(&folder, lines));
        let store = Store::open(&config(&folder)).await.expect("opens after a crash");
        for &(val, version) in &acknowledged {
            let record = store
                .get_version(val, version)
                .await
                .expect("acknowledged, so it is there");
            let expected = if version == 0 {
                "first".to_owned()
            } else {
                code(val, version)
            };
            assert_eq!(*record.code, *expected);
            assert!(record.latest >= version);
        }
        everything_is_whole(&store).await;
        store.close().await.expect("closed");
        the_file_is_sound(&folder).await;
    }
}

/// Every val has all the versions up to its latest.
async fn everything_is_whole(store: &Store) {
    let ada = store.find_user("ada").await.expect("ada").id;
    let own = ValScope {
        owner: Some(ada),
        viewer: Some(ada),
    };
    let mut offset = 0;
    loop {
        let vals = store
            .list_vals(&own, &ValFilter::default(), page(offset, 100))
            .await
            .expect("a page");
        for val in &vals.items {
            let versions = store
                .list_versions(val.id, page(0, 100))
                .await
                .expect("a list")
                .items;
            let numbers: Vec<_> = versions.iter().map(|version| version.version).collect();
            assert_eq!(numbers, (0..=val.latest).rev().collect::<Vec<_>>());
        }
        offset += 100;
        if !vals.more {
            return;
        }
    }
}

async fn the_file_is_sound(folder: &Path) {
    let path = folder.join("hamlet.db");
    let file = Database::connect(format!("sqlite:{}", path.display()))
        .await
        .expect("the file opens");
    let answer = async |question: &str| -> String {
        let asked = Statement::from_string(DbBackend::Sqlite, question);
        let row = file
            .query_one_raw(asked)
            .await
            .expect("an answer")
            .expect("a row");
        row.try_get_by_index(0).expect("a text")
    };
    assert_eq!(answer("PRAGMA integrity_check").await, "ok");
    let halves = "SELECT CAST(count(*) AS text) FROM vals \
                  WHERE NOT EXISTS (SELECT 1 FROM versions WHERE val_id = vals.id AND version = vals.version)";
    assert_eq!(answer(halves).await, "0", "vals without their latest version");
    file.close().await.expect("closed");
}
