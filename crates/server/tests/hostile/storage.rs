//! Acts by an account's own database and bytes: at others' of the same server, and at the server's own files.

use std::fs;

use axum::http::{Method, StatusCode};
use hamlet_models::ProblemCode;
use serde_json::{Value, json};

use crate::siege::Siege;

const EXECUTE: &str = "/v1/sqlite/execute";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_reaches_for_others_data_beside_a_neighbour() {
    let siege = Siege::start(&[]).await;
    let ada = &siege.neighbour.account;
    let secret = &siege.neighbour.secret;
    for sql in [
        "create table diary (text)",
        &format!("insert into diary values ('{secret}')"),
    ] {
        let done: Result<Value, _> = ada.post(EXECUTE, &json!({"statement": sql})).await;
        done.expect("a table");
    }
    let wrote = ada.call(Method::POST, "/v1/blob/diary", &json!(&**secret)).await;
    assert!(wrote.expect("an answer").0.is_success());
    siege
        .suffers("statements", async || statements(&siege).await)
        .await;
    siege.suffers("keys", async || keys(&siege).await).await;
    let rows: Value = ada
        .post(EXECUTE, &json!({"statement": "select text from diary"}))
        .await
        .expect("its table");
    assert_eq!(rows["rows"], json!([[&**secret]]));
    siege.over().await;
}

/// Each is refused in a sentence; what takes too much ends its own process alone.
async fn statements(siege: &Siege) {
    let data = siege.server.data_dir.display();
    let databases = fs::read_dir(siege.server.data_dir.join("sqlite"))
        .expect("databases")
        .flatten();
    let mut statements: Vec<String> = databases
        .map(|file| format!("attach '{}' as other", file.path().display()))
        .collect();
    statements.extend([
        format!("attach '{data}/hamlet.db' as server"),
        format!("vacuum into '{data}/work/copy'"),
        "select load_extension('libc.so.6')".to_owned(),
        format!("select readfile('{data}/secret.key')"),
        format!("select writefile('{data}/secret.key', 'x')"),
        format!("pragma temp_store_directory = '{data}'"),
        "select * from diary".to_owned(),
        format!("select {}", vec!["hex(zeroblob(8000000))"; 60].join(", ")),
        "with recursive n(i) as (select 1 union all select i + 1 from n)
         select count(*) from (select randomblob(1000000) as r from n order by r)"
            .to_owned(),
    ]);
    for sql in statements {
        let statement = json!({"statement": sql});
        let answer = siege.mallory.call(Method::POST, EXECUTE, &statement).await;
        let (status, answer) = answer.expect("an answer");
        let problem: Value = serde_json::from_slice(&answer).expect("a problem");
        let is_refused = status == StatusCode::BAD_REQUEST && problem["code"] == json!(ProblemCode::Invalid);
        assert!(is_refused, "{sql}: {status} {problem}");
        assert!(
            !problem.to_string().contains(&*siege.neighbour.secret),
            "{problem}"
        );
    }
    let tables = json!({"statement": "select count(*) from sqlite_master"});
    let tables: Value = siege
        .mallory
        .post(EXECUTE, &tables)
        .await
        .expect("its own database");
    assert_eq!(tables["rows"], json!([[0]]));
}

/// A key is a name among the account's own, whatever path it looks like.
async fn keys(siege: &Siege) {
    let files = ["hamlet.db", "secret.key", "server.lock"].map(|name| siege.server.data_dir.join(name));
    let key = fs::read(&files[1]).expect("the server's key");
    let call = async |method: Method, path: &str, body: &Value| {
        siege.mallory.call(method, path, body).await.expect("an answer")
    };
    for path in [
        "diary",
        "..%2f..%2f..%2fsecret.key",
        "%2e%2e/%2e%2e/%2e%2e/secret.key",
        "../../../hamlet.db",
        "%2fetc%2fpasswd",
        "diary%00",
    ] {
        let path = format!("/v1/blob/{path}");
        let (status, read) = call(Method::GET, &path, &Value::Null).await;
        assert!(status.is_client_error(), "{path}: {status} {read:?}");
        let (written, _) = call(Method::POST, &path, &json!("mine")).await;
        let (_, read) = call(Method::GET, &path, &Value::Null).await;
        assert!(!written.is_success() || &*read == b"\"mine\"", "{path}: {read:?}");
        call(Method::DELETE, &path, &Value::Null).await;
    }
    assert!(
        files.iter().all(|file| file.exists()),
        "the server's own files are there"
    );
    assert_eq!(fs::read(&files[1]).expect("the server's key"), key);
    let diary: Value = siege
        .neighbour
        .account
        .get("/v1/blob/diary")
        .await
        .expect("its blob");
    assert_eq!(diary, json!(&*siege.neighbour.secret));
}
