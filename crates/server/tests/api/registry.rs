//! A registry of packages on this machine, to which versions come one after the other.

use std::{
    collections::BTreeMap,
    io::Write,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A registry that is gone with its test.
#[derive(Clone)]
pub(crate) struct Registry {
    pub(crate) url: String,
    packages: Arc<Mutex<BTreeMap<(String, String), Package>>>,
    asked: Arc<AtomicUsize>,
}

#[derive(Clone)]
struct Package {
    code: String,
    dependencies: Value,
}

impl Registry {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let registry = Self {
            url: format!("http://{}", listener.local_addr().expect("an address")),
            packages: Arc::default(),
            asked: Arc::default(),
        };
        let app = Router::new()
            .route("/{name}", get(versions))
            .route("/{name}/-/{file}", get(archive))
            .with_state(registry.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        registry
    }

    /// From now on there is this version, whose code is this.
    pub(crate) fn publish(&self, name: &str, version: &str, code: &str, dependencies: Value) {
        let package = Package {
            code: code.to_owned(),
            dependencies,
        };
        self.packages
            .lock()
            .expect("packages")
            .insert((name.to_owned(), version.to_owned()), package);
    }

    /// How often it was asked which versions there are of something.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

async fn versions(State(registry): State<Registry>, Path(name): Path<String>) -> Response {
    registry.asked.fetch_add(1, Ordering::Relaxed);
    let packages = registry.packages.lock().expect("packages");
    let of_name = packages.iter().filter(|((known, _), _)| *known == name);
    let versions: BTreeMap<&str, Value> = of_name
        .map(|((_, version), package)| {
            let description = json!({
                "name": name,
                "version": version,
                "dependencies": package.dependencies,
                "dist": {"tarball": format!("{}/{name}/-/{name}-{version}.tgz", registry.url)},
            });
            (version.as_str(), description)
        })
        .collect();
    match versions.keys().last() {
        Some(latest) => {
            let tags = json!({"latest": latest});
            Json(json!({"name": name, "dist-tags": tags, "versions": versions})).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn archive(State(registry): State<Registry>, Path((name, file)): Path<(String, String)>) -> Response {
    let version = file
        .strip_prefix(&format!("{name}-"))
        .and_then(|rest| rest.strip_suffix(".tgz"));
    let key = (name, version.unwrap_or_default().to_owned());
    let package = registry.packages.lock().expect("packages").get(&key).cloned();
    match package {
        Some(package) => pack(&key.0, &key.1, &package).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A package as `npm pack` makes it, whose one file is its runtime for JSX too.
fn pack(name: &str, version: &str, package: &Package) -> Vec<u8> {
    let description = json!({
        "name": name, "version": version, "dependencies": package.dependencies,
        "exports": {".": "./index.js", "./jsx-runtime": "./index.js"},
    });
    let files = [
        ("package/package.json", description.to_string()),
        ("package/index.js", package.code.clone()),
    ];
    let mut archive = GzEncoder::new(Vec::new(), Compression::fast());
    for (name, content) in &files {
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
