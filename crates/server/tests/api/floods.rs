//! Connections by the thousand: those that a val opens, and those that somebody opens to the server.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    time::{sleep, timeout},
};

use crate::{
    command_line::{RunningServer, folder, last_word},
    own_network::{PUBLIC, in_own_network},
};

/// Longer than anything here takes on a busy machine, and less than a connection may say nothing.
const PATIENCE: Duration = Duration::from_secs(30);
/// Files that the store may open in the meantime.
const FEW: usize = 10;
/// Where someone takes every connection and keeps it.
const SINK: u16 = 7000;

/// A server, Ada on it, and a val of hers that others visit.
struct Beside {
    folder: TempDir,
    server: RunningServer,
    token: String,
}

impl Beside {
    async fn new(start: impl AsyncFnOnce(&Path) -> RunningServer) -> Self {
        let folder = folder();
        let server = start(folder.path()).await;
        let create = ["token", "create", "--user", "ada", "--name", "test"];
        let token = last_word(folder.path(), &create, "").await;
        let ada = Self {
            folder,
            server,
            token,
        };
        let code = "export default () => new Response('beside')";
        ada.create("beside", "http", code).await;
        ada
    }

    async fn create(&self, name: &str, kind: &str, code: &str) {
        let val = json!({"name": name, "type": kind, "privacy": "public", "code": code});
        let (status, val) = self.post("/v1/vals", &val).await;
        assert_eq!(status, StatusCode::OK, "{val}");
    }

    async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        self.server.send(Method::POST, path, &self.token, body).await
    }

    /// The interface and the val answer, each by a connection of its own.
    async fn answers(&self, when: &str) {
        let both = async {
            assert_eq!(self.server.get("/v1/me", &self.token).await.0, StatusCode::OK);
            let authority = self.server.authority();
            let (_, port) = authority.split_once(':').expect("a port");
            let mut visit = TcpStream::connect(authority).await.expect("a connection");
            let head =
                format!("GET / HTTP/1.1\r\nhost: ada-beside.localhost:{port}\r\nconnection: close\r\n\r\n");
            visit.write_all(head.as_bytes()).await.expect("sent");
            let mut answer = String::new();
            visit.read_to_string(&mut answer).await.expect("an answer");
            assert!(answer.ends_with("beside"), "{answer}");
        };
        let answered = timeout(PATIENCE, both).await;
        assert!(answered.is_ok(), "nobody answers {when}");
    }

    /// What the server has: open files, processes and their folders.
    fn holds(&self) -> [usize; 3] {
        let id = self.server.id();
        let files = fs::read_dir(format!("/proc/{id}/fd")).expect("its files").count();
        let is_child = |process: &Path| {
            let status = fs::read_to_string(process.join("status")).unwrap_or_default();
            status.lines().any(|line| line == format!("PPid:\t{id}"))
        };
        let processes = fs::read_dir("/proc").expect("processes").flatten();
        let children = processes.filter(|process| is_child(&process.path())).count();
        let work = self.folder.path().join("hamlet-data/work");
        let folders = fs::read_dir(work).expect("its folders").count();
        [files, children, folders]
    }
}

/// Takes every connection and keeps it; who asks for a page gets the beginning of one.
async fn sink() {
    let listener = TcpListener::bind((PUBLIC, SINK)).await.expect("a port");
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                while let Ok(1..) = stream.read(&mut bytes).await {
                    let head = "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nbegun";
                    let _ = stream.write_all(head.as_bytes()).await;
                }
            });
        }
    });
}

/// Connections of which an end is still there, to or from the sink.
fn open_connections() -> usize {
    const ESTABLISHED: &str = "01";
    let port = format!(":{SINK:04X}");
    let all = fs::read_to_string("/proc/net/tcp").expect("connections");
    let is_open = |line: &&str| {
        let mut parts = line.split_whitespace().skip(1);
        let (own, other) = (parts.next(), parts.next());
        let ours =
            own.is_some_and(|own| own.ends_with(&port)) || other.is_some_and(|other| other.ends_with(&port));
        ours && parts.next() == Some(ESTABLISHED)
    };
    all.lines().filter(is_open).count()
}

/// Opens connections until it can't any more, and keeps them all.
const FLOOD: &str = "import net from 'node:net';
    const kept = [], hostname = '203.0.113.7', port = 7000;
    const ways = {
      connect: async () => kept.push(await Deno.connect({ hostname, port })),
      fetch: async () => kept.push(await fetch(`http://${hostname}:${port}/`)),
      node: () => new Promise((resolve, reject) => {
        kept.push(net.connect(port, hostname).on('connect', resolve).on('error', reject));
      }),
    };
    export default async (way) => {
      let opened = 0;
      const open = async () => { await ways[way](); opened += 1; };
      try {
        for (;;) await Promise.all(Array.from({ length: 20 }, open));
      } catch (error) {
        return { opened, why: String(error?.cause ?? error) };
      }
    };";

#[test]
fn a_val_that_opens_thousands_of_connections_ends_and_leaves_none() {
    in_own_network(async |_network| {
        sink().await;
        // Sockets of `node:net` keep a run until its time is over.
        let environment = [("HAMLET_WARM_SECONDS", "3600"), ("HAMLET_WALL_SECONDS", "10")];
        let ada = Beside::new(async |folder| RunningServer::start_with(folder, &environment).await).await;
        ada.create("flood", "script", FLOOD).await;
        ada.answers("before the flood").await;
        let before = ada.holds();
        for way in ["connect", "fetch", "node"] {
            let args = json!({"args": [way]});
            let flood = ada.post("/v1/run/ada.flood", &args);
            let neighbours = async {
                loop {
                    ada.answers("during the flood").await;
                }
            };
            let (status, ended) = tokio::select! {
                ended = flood => ended,
                () = neighbours => unreachable!("they go on"),
            };
            assert_eq!(status, StatusCode::OK, "{way}: {ended}");
            let (opened, why) = (ended["opened"].as_u64(), ended["why"].as_str());
            assert!(opened > Some(1000), "{way}: {ended}");
            assert!(
                why.is_some_and(|why| why.contains("Too many open files") || why.contains("EMFILE")),
                "{way}: {ended}"
            );

            let began = Instant::now();
            loop {
                let (connections, holds) = (open_connections(), ada.holds());
                let more = holds[0] > before[0] + FEW || holds[1] > before[1] || holds[2] > before[2];
                if connections == 0 && !more {
                    break;
                }
                let left = (connections, holds);
                assert!(
                    began.elapsed() < PATIENCE,
                    "{way} left {left:?}, where there was {before:?}"
                );
                sleep(Duration::from_millis(20)).await;
            }
            ada.answers("after the flood").await;
        }
    });
}

/// Opens a connection from this address of the machine.
async fn connect_from(from: &str, to: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    let from: SocketAddr = format!("{from}:0").parse().expect("an address");
    socket.bind(from).expect("an address of this machine");
    timeout(PATIENCE, socket.connect(to.parse().expect("an address")))
        .await
        .expect("the server takes connections")
        .expect("a connection")
}

#[tokio::test]
async fn one_peer_that_opens_connections_without_end_keeps_nobody_out() {
    /// More than the server may have files.
    const FLOOD: usize = 400;
    let idle = "";
    let half_a_head = "GET /v1/me HTTP/1.1\r\nhost: x\r\nx-half: ";
    let half_a_body = "POST /v1/markdown HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                       content-length: 1000\r\n\r\n{";
    let ada = Beside::new(async |folder| RunningServer::start_with_files(folder, 256).await).await;
    ada.answers("before the flood").await;
    // Who says nothing makes room even for others of its own address; who has begun to ask, for those of others.
    for (from, said) in [
        ("127.0.0.1", idle),
        ("127.0.0.1", half_a_head),
        ("127.0.0.2", half_a_body),
    ] {
        let mut flood = Vec::new();
        for _ in 0..FLOOD {
            let mut stream = connect_from(from, ada.server.authority()).await;
            // It may have been sent away by now.
            let _ = stream.write_all(said.as_bytes()).await;
            flood.push(stream);
        }
        ada.answers(&format!("with so many that say {said:?}")).await;
    }
}
