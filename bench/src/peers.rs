//! What Hamlet is measured beside: the least that could answer, and a well-known neighbour.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::{Context, Result};
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use bytes::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::{net::UnixStream, process::Command};

use crate::{
    Options,
    load::{get as get_request, json, post},
    process::{Server, free_address},
};

/// A peer's process.
#[derive(clap::Subcommand)]
pub(crate) enum PeerKind {
    /// An axum handler that answers the bytes of a file as JSON.
    Bare {
        /// The file.
        file: PathBuf,
    },
    /// axum and hyper before a Unix socket, and nothing else.
    Proxy {
        /// The socket.
        socket: PathBuf,
    },
}

/// Which peer to be, and where to listen.
#[derive(clap::Args)]
pub(crate) struct Peer {
    /// Where to listen.
    #[arg(long)]
    listen: SocketAddr,
    #[command(subcommand)]
    kind: PeerKind,
}

/// Is that peer until the process is ended.
pub(crate) async fn serve(peer: Peer) -> Result<()> {
    let router = match peer.kind {
        PeerKind::Bare { file } => {
            let bytes = Bytes::from(std::fs::read(file)?);
            Router::new().route(
                "/v1/vals/{val_id}",
                get(move || async move { ([(header::CONTENT_TYPE, "application/json")], bytes) }),
            )
        }
        PeerKind::Proxy { socket } => Router::new()
            .fallback(any(forward))
            .with_state(Arc::new(Upstream {
                socket,
                idle: Mutex::default(),
            })),
    };
    let listener = tokio::net::TcpListener::bind(peer.listen).await?;
    axum::serve(listener, router).await?;
    Ok(())
}

struct Upstream {
    socket: PathBuf,
    idle: Mutex<Vec<SendRequest<Body>>>,
}

async fn forward(State(upstream): State<Arc<Upstream>>, request: Request) -> Response {
    match try_forward(&upstream, request).await {
        Ok(response) => response,
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}

async fn try_forward(upstream: &Upstream, request: Request) -> Result<Response> {
    let idle = upstream.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut sender = match idle {
        Some(sender) if !sender.is_closed() => sender,
        _ => {
            let stream = UnixStream::connect(&upstream.socket).await?;
            let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
            tokio::spawn(connection);
            sender
        }
    };
    sender.ready().await?;
    let response = sender.send_request(request).await?;
    upstream
        .idle
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(sender);
    Ok(response.map(Body::new))
}

/// npm's @valtown/deno-http-worker with this handler, behind Node's own HTTP server.
pub(crate) async fn deno_http_worker(options: &Options, handler: &str) -> Result<Option<Server>> {
    let Some(folder) = &options.deno_http_worker else {
        return Ok(None);
    };
    let address = free_address()?;
    let mut command = Command::new("node");
    command
        .args([
            "--input-type=module",
            "--eval",
            include_str!("deno_http_worker.mjs"),
            "--",
        ])
        .arg(folder)
        .arg(&options.deno)
        .arg(address.port().to_string())
        .arg(handler);
    Ok(Some(Server::start(command, address).await?))
}

/// PocketBase with a collection shaped like vals, over a folder of its own.
pub(crate) async fn pocketbase(options: &Options, data: &std::path::Path) -> Result<Option<Server>> {
    let Some(binary) = &options.pocketbase else {
        return Ok(None);
    };
    let (email, password) = ("bench@example.com", "a password for this run alone");
    let status = Command::new(binary)
        .args(["superuser", "upsert", email, password, "--dir"])
        .arg(data)
        .output()
        .await
        .with_context(|| format!("can't start {}", binary.display()))?
        .status;
    anyhow::ensure!(status.success(), "PocketBase made no superuser");
    let address = free_address()?;
    let mut command = Command::new(binary);
    command
        .arg("serve")
        .arg("--http")
        .arg(address.to_string())
        .arg("--dir")
        .arg(data);
    let server = Server::start(command, address).await?;
    let host = address.to_string();
    let login = serde_json::json!({"identity": email, "password": password}).to_string();
    let session = json(
        address,
        &post(
            &host,
            "/api/collections/_superusers/auth-with-password",
            "",
            &login,
        ),
    )
    .await?;
    let token = session["token"].as_str().context("PocketBase gave no token")?;
    let text = |name: &str| serde_json::json!({"name": name, "type": "text", "max": 300_000});
    let collection = serde_json::json!({
        "name": "vals", "type": "base", "listRule": "", "viewRule": "", "createRule": "",
        "fields": [
            text("name"), text("code"), text("readme"), text("privacy"), text("type"), text("url"), text("module"),
            {"name": "created", "type": "autodate", "onCreate": true},
            {"name": "updated", "type": "autodate", "onCreate": true, "onUpdate": true},
        ],
        "indexes": ["CREATE INDEX vals_created ON vals (created)"],
    });
    let authorization = format!("authorization: {token}\r\n");
    json(
        address,
        &post(&host, "/api/collections", &authorization, &collection.to_string()),
    )
    .await?;
    json(address, &get_request(&host, "/api/health", "")).await?;
    Ok(Some(server))
}
