//! What vals import from elsewhere: fetched by the server, from a registry on this machine.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{Json, Router, http::StatusCode, routing::get};
use flate2::{Compression, write::GzEncoder};
use hyper::Method;
use serde_json::json;
use tokio::net::TcpListener;

use crate::command_line::{RunningServer, folder, last_word};

/// A registry that has one package; gives its address, and counts who asks.
async fn registry() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let description = json!({
        "name": "answer",
        "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": {
            "name": "answer",
            "version": "1.0.0",
            "dist": {"tarball": format!("{url}/answer/-/answer-1.0.0.tgz")},
        }},
    });
    let package = package();
    let app = Router::new()
        .route(
            "/answer",
            get(move || {
                count.fetch_add(1, Ordering::Relaxed);
                async { Json(description) }
            }),
        )
        .route("/answer/-/answer-1.0.0.tgz", get(move || async { package }));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, asked)
}

/// A package as `npm pack` makes it.
fn package() -> Vec<u8> {
    let files = [
        (
            "package/package.json",
            r#"{"name":"answer","version":"1.0.0","main":"index.js"}"#,
        ),
        ("package/index.js", "module.exports = 42;"),
    ];
    let mut archive = GzEncoder::new(Vec::new(), Compression::fast());
    for (name, content) in files {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[148..156].fill(b' ');
        header[156] = b'0';
        header[257..263].copy_from_slice(b"ustar\0");
        header[263..265].copy_from_slice(b"00");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        archive.write_all(&header).expect("an archive");
        archive.write_all(content.as_bytes()).expect("an archive");
        archive
            .write_all(&vec![0; 512 - content.len() % 512])
            .expect("an archive");
    }
    archive.write_all(&[0; 1024]).expect("an archive");
    archive.finish().expect("an archive")
}

#[tokio::test]
async fn packages_are_fetched_once_by_the_server_and_read_by_vals() {
    let (url, asked) = registry().await;
    let folder = folder();
    let server = RunningServer::start_with(folder.path(), &[("NPM_CONFIG_REGISTRY", &url)]).await;
    let token = last_word(
        folder.path(),
        &["token", "create", "--user", "ada", "--name", "test"],
        "",
    )
    .await;
    let evaluate = async |code: &str| {
        server
            .send(Method::POST, "/v1/eval", &token, &json!({"code": code}))
            .await
    };

    let (status, value) = evaluate("import answer from 'npm:answer@1'; export default answer;").await;
    assert_eq!((status, value), (StatusCode::OK, json!(42)));
    let before = asked.load(Ordering::Relaxed);
    // Whether an import is written out or only shows at run time.
    let computed = "export default (await import('npm:' + 'answer@1')).default;";
    for code in [
        "import answer from 'npm:answer@1'; export default answer + 1;",
        computed,
    ] {
        let (status, value) = evaluate(code).await;
        assert_eq!(status, StatusCode::OK, "{value}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), before, "it is asked for once");

    let (status, error) = evaluate("import missing from 'npm:missing@1'; export default missing;").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.contains("missing") && message.contains("does not exist"),
        "{message}"
    );
}
