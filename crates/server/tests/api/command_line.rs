//! The binary: accounts and tokens from the command line, beside a running server and without one.

use std::{
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use hamlet_runtime::Layer;
use http_body_util::BodyExt;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::{deno::deno, s3::S3};

fn hamlet(folder: &Path) -> Command {
    started_as(Command::new(env!("CARGO_BIN_EXE_hamlet")), folder)
}

/// The same with so many open files at most.
fn hamlet_with_files(folder: &Path, most: u32) -> Command {
    let mut shell = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_hamlet");
    shell.args(["-c", &format!("ulimit -n {most}; exec \"$@\""), "sh", program]);
    started_as(shell, folder)
}

fn started_as(mut command: Command, folder: &Path) -> Command {
    // Settings of whoever runs the tests are not the tests'.
    command
        .env_clear()
        .current_dir(folder)
        .env("USER", "ada")
        .env("HAMLET_DENO", deno())
        .kill_on_drop(true);
    for name in ["PATH", "HOME"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

async fn run(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = hamlet(folder)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary");
    let mut stdin = child.stdin.take().expect("its input");
    // Who reads none may have ended before this.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    // A server that should not have started would run for ever.
    timeout(Duration::from_secs(60), child.wait_with_output())
        .await
        .expect("it ends by itself")
        .expect("its end")
}

/// The last word that a command printed, once it did what it was told.
pub(crate) async fn last_word(folder: &Path, arguments: &[&str], input: &str) -> String {
    let output = run(folder, arguments, input).await;
    let (out, log) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{arguments:?}: {out}{log}");
    let last_line = out.trim_end().lines().last().expect("a line");
    last_line.split_whitespace().last().expect("a word").to_owned()
}

/// The sentence with which a command failed, and its exit code.
async fn failure(folder: &Path, arguments: &[&str], input: &str) -> (i32, String) {
    let output = run(folder, arguments, input).await;
    let code = output.status.code().expect("an exit code");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    (code, String::from_utf8(output.stderr).expect("text"))
}

pub(crate) struct RunningServer {
    url: String,
    lines: Lines<BufReader<ChildStdout>>,
    child: Child,
}

impl RunningServer {
    pub(crate) async fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[]).await
    }

    /// One with these variables in its environment.
    pub(crate) async fn start_with(folder: &Path, environment: &[(&str, &str)]) -> Self {
        Self::start_by(hamlet(folder), environment).await
    }

    /// One that may have so many files open.
    pub(crate) async fn start_with_files(folder: &Path, most: u32) -> Self {
        Self::start_by(hamlet_with_files(folder, most), &[]).await
    }

    async fn start_by(mut hamlet: Command, environment: &[(&str, &str)]) -> Self {
        let mut child = hamlet
            .env("HAMLET_BLANK_WORKERS", "0")
            .envs(environment.iter().copied())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let ready = lines.next_line().await.expect("its output").expect("a line");
        let url = ready
            .strip_prefix("Hamlet is ready at ")
            .expect("the address")
            .to_owned();
        Self { url, lines, child }
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: &Value,
    ) -> (StatusCode, Value) {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(header::CONTENT_TYPE, "application/json");
        if !token.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = if body.is_null() {
            Body::empty()
        } else {
            Body::from(body.to_string())
        };
        let client = Client::builder(TokioExecutor::new()).build_http();
        let response = client
            .request(request.body(body).expect("a request"))
            .await
            .expect("an answer");
        let status = response.status();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// Reads a stream until it has this word.
    async fn wait_for(&self, path: &str, token: &str, word: &str) {
        let request = Request::get(format!("{}{path}", self.url))
            .header(header::AUTHORIZATION, format!("Bearer {token}"));
        let client = Client::builder(TokioExecutor::new()).build_http();
        let request = request.body(Body::empty()).expect("a request");
        let mut body = client.request(request).await.expect("an answer").into_body();
        let mut text = String::new();
        while !text.contains(word) {
            let frame = body.frame().await.expect("more").expect("a frame");
            text.push_str(&String::from_utf8_lossy(&frame.into_data().unwrap_or_default()));
        }
    }

    pub(crate) async fn get(&self, path: &str, token: &str) -> (StatusCode, Value) {
        self.send(Method::GET, path, token, &Value::Null).await
    }

    /// Its host and port.
    pub(crate) fn authority(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Ends it at once, as a power failure would.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.expect("its end");
    }

    /// Tells it to end, waits for it, and answers what it printed since it was ready.
    pub(crate) async fn end(mut self) -> String {
        let id = self.child.id().expect("it runs").to_string();
        let told = Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .await
            .expect("kill");
        assert!(told.success());
        assert!(
            self.child.wait().await.expect("its end").success(),
            "it ends cleanly"
        );
        let mut rest = String::new();
        while let Some(line) = self.lines.next_line().await.expect("its output") {
            rest.push_str(&line);
            rest.push('\n');
        }
        rest
    }

    /// The secret of the sign-in link, which is among the first lines.
    async fn link(&mut self) -> String {
        let line = self.lines.next_line().await.expect("its output").expect("a line");
        let (_, secret) = line
            .split_once(&format!("{}/login?link=", self.url))
            .expect("a link");
        secret.to_owned()
    }
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

#[tokio::test]
async fn tokens_work_and_stop_at_once_beside_a_running_server() {
    let folder = folder();
    let first = last_word(folder.path(), &["user", "create", "early"], "").await;
    let server = RunningServer::start(folder.path()).await;
    assert_eq!(server.get("/v1/me", &first).await.1["username"], "early");

    let token = last_word(folder.path(), &["user", "create", "eve", "--admin"], "").await;
    assert!(token.starts_with("hmlt_"));
    let (status, me) = server.get("/v1/me", &token).await;
    assert_eq!(
        (status, &me["username"], &me["admin"]),
        (StatusCode::OK, &json!("eve"), &json!(true))
    );

    let create = [
        "token",
        "create",
        "--user",
        "eve",
        "--name",
        "CI",
        "--scope",
        "val:read",
        "--expires",
        "30d",
    ];
    let limited = last_word(folder.path(), &create, "").await;
    assert_eq!(server.get("/v1/vals", &limited).await.0, StatusCode::OK);
    assert_eq!(server.get("/v1/me", &limited).await.0, StatusCode::FORBIDDEN);

    last_word(folder.path(), &["token", "revoke"], &limited).await;
    assert_eq!(
        server.get("/v1/vals", &limited).await.0,
        StatusCode::UNAUTHORIZED,
        "revoked by itself"
    );
    last_word(
        folder.path(),
        &["token", "revoke", "--user", "eve", "--name", "command line"],
        "",
    )
    .await;
    assert_eq!(
        server.get("/v1/vals", &token).await.0,
        StatusCode::UNAUTHORIZED,
        "revoked by its name"
    );
    last_word(folder.path(), &["token", "revoke", &first], "").await;
    assert_eq!(
        server.get("/v1/vals", &first).await.0,
        StatusCode::UNAUTHORIZED,
        "revoked as an argument"
    );
    server.end().await;
}

#[tokio::test]
async fn the_first_start_makes_an_owner_with_examples_and_a_link_that_works_once() {
    let folder = folder();
    let mut server = RunningServer::start(folder.path()).await;
    let first_link = server.link().await;
    server.end().await;

    let mut server = RunningServer::start(folder.path()).await;
    let link = server.link().await;
    assert_ne!(link, first_link, "another start, another link");
    let (status, me) = server
        .send(Method::POST, "/v1/session", "", &json!({"link": link}))
        .await;
    assert_eq!(
        (status, &me["username"], &me["hasPassword"]),
        (StatusCode::OK, &json!("ada"), &json!(false))
    );
    let again = server
        .send(Method::POST, "/v1/session", "", &json!({"link": link}))
        .await;
    assert_eq!(again.0, StatusCode::UNAUTHORIZED);

    let token = last_word(
        folder.path(),
        &["token", "create", "--user", "ada", "--name", "test"],
        "",
    )
    .await;
    let vals = format!("/v1/users/{}/vals", me["id"].as_str().expect("an id"));
    let (_, vals) = server.get(&vals, &token).await;
    let kinds: Vec<&str> = vals["data"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|val| val["type"].as_str())
        .collect();
    assert_eq!(kinds, ["http", "script", "interval", "email"]);

    let new = json!({"new": "correct horse battery"});
    assert_eq!(
        server.send(Method::POST, "/v1/me/password", &token, &new).await.0,
        StatusCode::NO_CONTENT
    );
    server.end().await;
    let server = RunningServer::start(folder.path()).await;
    assert_eq!(
        server.get("/v1/me", &token).await.0,
        StatusCode::OK,
        "tokens outlive the server"
    );
    assert_eq!(server.end().await, "", "who has a password needs no link");
}

#[tokio::test]
async fn what_ran_when_the_server_was_killed_is_lost_with_its_lines_kept() {
    let folder = folder();
    let token = last_word(folder.path(), &["user", "create", "eve"], "").await;
    let server = RunningServer::start(folder.path()).await;
    let code = "console.log(\"begun\"); await new Promise(() => setInterval(() => {}, 1000));";
    let (_, val) = server
        .send(Method::POST, "/v1/vals", &token, &json!({"code": code}))
        .await;
    let runs = format!("/v1/vals/{}/runs", val["id"].as_str().expect("an id"));
    let (status, run) = server.send(Method::POST, &runs, &token, &json!({})).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let path = format!("/v1/runs/{}", run["id"].as_str().expect("an id"));
    // The stream has the line once it was printed; a list has what the store has.
    server.wait_for(&format!("{path}/events"), &token, "begun").await;
    assert_eq!(server.get(&runs, &token).await.1["data"][0]["status"], "running");
    server.kill().await;

    let server = RunningServer::start(folder.path()).await;
    let (_, run) = server.get(&path, &token).await;
    assert_eq!(
        (&run["status"], &run["logs"][0]["message"]),
        (&json!("lost"), &json!("begun"))
    );
    assert!(
        run["error"]["message"].is_string() && run["runEndAt"].is_string(),
        "{run}"
    );
    server.end().await;
}

#[tokio::test]
async fn the_examples_run() {
    let folder = folder();
    let server = RunningServer::start(folder.path()).await;
    let token = last_word(
        folder.path(),
        &["token", "create", "--user", "ada", "--name", "test"],
        "",
    )
    .await;

    let (status, line) = server.get("/v1/run/ada.sparkline?args=[[1,5,3]]", &token).await;
    assert_eq!((status, line), (StatusCode::OK, json!("▁█▅")));

    let clerk = format!(
        "import clerk from '{}/v/ada/mailClerk';
         export default () => clerk({{from: 'eve@example.com', to: [], subject: 'Urgent', text: 'hi', attachments: []}});",
        server.url
    );
    let (status, _) = server
        .send(
            Method::PUT,
            "/v1/vals",
            &token,
            &json!({"name": "post", "code": clerk}),
        )
        .await;
    assert_eq!(status, StatusCode::OK);
    let (status, answer) = server.get("/v1/run/ada.post", &token).await;
    assert_eq!(status, StatusCode::OK, "{answer}");

    for (name, said) in [
        ("maze", "maze "),
        ("moonWatch", "next full moon"),
        ("post", "eve@example.com"),
    ] {
        let (_, val) = server.get(&format!("/v1/alias/ada/{name}"), &token).await;
        let runs = format!("/v1/vals/{}/runs", val["id"].as_str().expect("an id"));
        let (status, run) = server
            .send(Method::POST, &runs, &token, &json!({"args": []}))
            .await;
        assert_eq!(status, StatusCode::ACCEPTED, "{name}: {run}");
        let run = format!("/v1/runs/{}", run["id"].as_str().expect("an id"));
        // Following a run takes as long as the run does.
        server.get(&format!("{run}/events"), &token).await;
        let (_, run) = server.get(&run, &token).await;
        assert_eq!(run["status"], "ok", "{name}: {run}");
        assert!(run["logs"].to_string().contains(said), "{name}: {run}");
    }
    server.end().await;
}

#[tokio::test]
async fn a_password_from_standard_input_signs_in() {
    let folder = folder();
    let arguments = ["user", "create", "eve", "--password-stdin"];
    let (code, sentence) = failure(folder.path(), &arguments, "short\n").await;
    assert_eq!(code, 1);
    assert!(sentence.contains("10 to 1,000 characters"), "{sentence}");
    last_word(folder.path(), &arguments, "correct horse battery\n").await;

    let server = RunningServer::start(folder.path()).await;
    for (password, expected) in [
        ("correct horse battery", StatusCode::OK),
        ("another one", StatusCode::UNAUTHORIZED),
    ] {
        let body = json!({"username": "eve", "password": password});
        assert_eq!(
            server.send(Method::POST, "/v1/session", "", &body).await.0,
            expected
        );
    }
    assert_eq!(
        server.end().await,
        "",
        "no link, and no example's owner beside her"
    );
}

#[tokio::test]
async fn what_can_not_be_done_is_said_in_a_sentence() {
    let folder = folder();
    last_word(folder.path(), &["user", "create", "eve"], "").await;
    std::fs::write(folder.path().join("bad.toml"), "lisen = \"127.0.0.1:1\"").expect("a file");
    for (arguments, code, words) in [
        (&["user", "create", "EVE"][..], 1, "taken"),
        (&["user", "create", "-", "--admin"], 2, "letters, digits"),
        (&["user", "create", "std"], 2, "reserved"),
        (
            &["token", "create", "--user", "bob", "--name", "x"],
            1,
            "hamlet user create bob",
        ),
        (
            &[
                "token", "create", "--user", "eve", "--name", "x", "--scope", "val:fly",
            ],
            2,
            "read or write",
        ),
        (
            &[
                "token",
                "create",
                "--user",
                "eve",
                "--name",
                "x",
                "--expires",
                "soon",
            ],
            2,
            "30d",
        ),
        (
            &["token", "revoke", "--user", "eve", "--name", "x"],
            1,
            "hamlet token list",
        ),
        (&["token", "revoke", "--user", "eve"], 1, "--name or --id"),
        (&["token", "revoke", "hmlt_unknown"], 1, "no such token"),
        (&["token", "revoke"], 1, "standard input"),
        (&["serve", "--config", "nowhere.toml"], 1, "nowhere.toml"),
        (&["serve", "--config", "bad.toml"], 1, "lisen"),
        (&["serve", "--wall-seconds", "0"], 1, "wall_seconds"),
        (&["serve", "--base-url", "example.com"], 1, "base_url"),
        (
            &["serve", "--listen", "127.0.0.1:0", "--deno", "/nowhere/deno"],
            1,
            "/nowhere/deno",
        ),
        (&["dance"], 2, "dance"),
    ] {
        let (got, sentence) = failure(folder.path(), arguments, "").await;
        assert_eq!(got, code, "{arguments:?}: {sentence}");
        assert!(sentence.contains(words), "{arguments:?}: {sentence}");
    }
}

#[tokio::test]
async fn a_store_that_can_not_be_opened_says_why_once() {
    let folder = folder();
    let data = folder.path().join("hamlet-data");
    std::fs::create_dir(&data).expect("a folder");
    std::fs::write(
        data.join("hamlet.db"),
        "no database, but as long as the head of one. ".repeat(8),
    )
    .expect("a file");
    for arguments in [
        &["user", "create", "eve"][..],
        &["serve", "--listen", "127.0.0.1:0"],
    ] {
        let (code, sentence) = failure(folder.path(), arguments, "").await;
        assert_eq!(code, 1, "{arguments:?}: {sentence}");
        let times = sentence.matches("file is not a database").count();
        assert_eq!(times, 1, "{arguments:?}: {sentence}");
    }
}

#[tokio::test]
async fn settings_come_by_flag_before_environment_before_file() {
    let folder = folder();
    last_word(folder.path(), &["user", "create", "eve"], "").await;
    let file = "wall_seconds = 1\ncpu_seconds = 2\nmemory_mb = 300\nlisten = \"127.0.0.1:0\"\n";
    std::fs::write(folder.path().join("hamlet.toml"), file).expect("a file");
    let mut child = hamlet(folder.path())
        .args(["serve", "--wall-seconds", "5"])
        .env("HAMLET_WALL_SECONDS", "6")
        .env("HAMLET_CPU_SECONDS", "7")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let ready = lines.next_line().await.expect("its output").expect("a line");
    let url = ready
        .strip_prefix("Hamlet is ready at ")
        .expect("the address")
        .to_owned();
    let server = RunningServer { url, lines, child };
    let (_, instance) = server.get("/v1/instance", "").await;
    let limits = &instance["limits"];
    assert_eq!(
        (&limits["wallSeconds"], &limits["cpuSeconds"], &limits["memoryMb"]),
        (&json!(5), &json!(7), &json!(300))
    );
    let port = server.url.rsplit(':').next().expect("a port");
    assert_eq!(instance["valsDomain"], format!("localhost:{port}"));
    server.end().await;
}

#[tokio::test]
async fn the_doctor_says_of_each_layer_whether_it_holds() {
    let folder = folder();
    let output = run(folder.path(), &["doctor"], "").await;
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{said}");
    for wanted in [
        "ok  deno: ",
        "ok  Deno's permissions: refused to a val: reading /etc/passwd",
        "ok  files: ",
        "ok  no IPv6: ",
        "ok  accounts' SQL: files: reading /etc/passwd is refused: ",
        "ok  accounts' SQL: network: an IPv4 socket is refused: ",
        "ok  accounts' SQL: programs: starting a program is refused: ",
        "ok  accounts' SQL: signals: a signal to the server is refused: ",
        "ok  accounts' SQL: memory and files' sizes: taking 512 MB of memory is refused: ",
        "ok  accounts' SQL: privileges: ",
    ] {
        assert!(said.contains(wanted), "{said}");
    }
    assert!(
        !folder.path().join("hamlet-data").exists(),
        "it leaves nothing behind"
    );
}

#[tokio::test]
async fn the_start_names_the_layers_that_the_doctor_finds() {
    let folder = folder();
    let doctor = run(folder.path(), &["doctor"], "").await;
    let found = String::from_utf8(doctor.stdout).expect("text");
    let (holding, missing): (Vec<_>, Vec<_>) = Layer::ALL
        .iter()
        .map(|layer| layer.name())
        .partition(|name| found.contains(&format!("ok  {name}: ")));
    for name in &missing {
        assert!(found.contains(&format!("no  {name}: ")), "{name}: {found}");
    }

    let log = folder.path().join("log");
    let mut child = hamlet(folder.path())
        .env("HAMLET_BLANK_WORKERS", "0")
        .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(&log).expect("a file"))
        .spawn()
        .expect("the binary");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    lines.next_line().await.expect("its output").expect("a line");
    let url = String::new();
    RunningServer { url, lines, child }.end().await;
    let log = std::fs::read_to_string(log).expect("its log");
    let said: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    let start = said.iter().find(|line| line["message"] == "ready");
    let start = start.expect("the line of the start");
    assert_eq!(
        (&start["sandbox"], &start["sandbox.missing"]),
        (&json!(holding.join(", ")), &json!(missing.join(", "))),
        "{found}"
    );
    let explained: Vec<&str> = said
        .iter()
        .filter(|line| line["why"].as_str().is_some_and(|why| !why.is_empty()))
        .filter_map(|line| line["layer"].as_str())
        .collect();
    assert_eq!(explained, missing, "each that is missing has its reason");
}

#[tokio::test]
async fn a_bucket_that_can_not_be_used_is_found_out_at_the_start() {
    let (folder, s3) = (folder(), S3::start().await);
    let told = async |command: &str, url: &str| {
        let mut hamlet = hamlet(folder.path());
        hamlet.args([command, "--listen", "127.0.0.1:0", "--blobs-url", url]);
        let output = hamlet.envs(s3.variables()).output();
        let output = timeout(Duration::from_secs(60), output).await;
        let output = output.expect("it ends by itself").expect("its end");
        let told = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(told).expect("text"))
    };
    let (succeeded, said) = told("serve", "s3://other").await;
    assert!(
        !succeeded && said.contains("the bucket s3://other can't be used"),
        "{said}"
    );
    assert!(!said.contains("sesame"), "{said}");
    let (_, said) = told("doctor", "s3://other").await;
    assert!(
        said.contains("no  blobs: the bucket s3://other can't be used"),
        "{said}"
    );
    let (_, said) = told("doctor", "s3://vals/hamlet").await;
    assert!(said.contains("ok  blobs: s3://vals/hamlet"), "{said}");
}

#[tokio::test]
async fn the_doctor_says_what_stands_in_the_way() {
    let folder = folder();
    let (code, said) = failure(folder.path(), &["doctor", "--deno", "/bin/true"], "").await;
    assert_eq!(code, 1);
    assert!(said.contains("vals can't run here"), "{said}");
}
