//! Connections: how they are answered, and how they end with the server.

use std::{net::SocketAddr, time::Duration};

use hamlet_server::listen::listen;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

use crate::test_app::TestApp;

const LONG: Duration = Duration::from_secs(60);

struct Listening {
    address: SocketAddr,
    end: watch::Sender<bool>,
    over: JoinHandle<()>,
    _app: TestApp,
}

async fn listening(grace: Duration) -> Listening {
    let app = TestApp::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("its address");
    let (end, ended) = watch::channel(false);
    let over = tokio::spawn(listen(listener, app.app.clone(), ended, grace));
    Listening {
        address,
        end,
        over,
        _app: app,
    }
}

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("a connection")
}

async fn write(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.expect("written");
}

/// Everything up to the end of an answer's head.
async fn head(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\n") {
        text.push(stream.read_u8().await.expect("more of the head"));
    }
    String::from_utf8(text).expect("text")
}

#[tokio::test]
async fn a_connection_answers_one_request_after_the_other() {
    let server = listening(LONG).await;
    let mut stream = connect(server.address).await;
    for _ in 0..3 {
        write(&mut stream, "HEAD /healthz HTTP/1.1\r\nhost: hamlet.test\r\n\r\n").await;
        assert!(head(&mut stream).await.starts_with("HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn at_the_end_what_is_under_way_is_answered_and_what_is_idle_is_closed() {
    let server = listening(LONG).await;
    let (mut idle, mut busy) = (connect(server.address).await, connect(server.address).await);
    write(&mut idle, "HEAD /healthz HTTP/1.1\r\nhost: hamlet.test\r\n\r\n").await;
    head(&mut idle).await;
    let body = r##"{"markdown":"# Hi"}"##;
    let (first, rest) = body.split_at(5);
    let length = body.len();
    write(
        &mut busy,
        &format!(
            "POST /v1/markdown HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nexpect: 100-continue\r\n\
             content-length: {length}\r\n\r\n"
        ),
    )
    .await;
    assert!(
        head(&mut busy).await.starts_with("HTTP/1.1 100"),
        "it is being answered"
    );
    write(&mut busy, first).await;

    server.end.send_replace(true);
    assert_eq!(
        idle.read(&mut [0]).await.expect("its end"),
        0,
        "the idle connection is closed"
    );
    write(&mut busy, rest).await;
    assert!(head(&mut busy).await.starts_with("HTTP/1.1 200"));
    let mut answer = String::new();
    busy.read_to_string(&mut answer)
        .await
        .expect("the answer, and the connection's end");
    assert!(answer.contains("<h1>Hi</h1>"), "{answer}");
    server.over.await.expect("the server's end");
    assert!(
        TcpStream::connect(server.address).await.is_err(),
        "nobody listens any more"
    );
}

#[tokio::test]
async fn who_never_ends_does_not_hold_up_the_end() {
    let server = listening(Duration::ZERO).await;
    let mut stream = connect(server.address).await;
    write(
        &mut stream,
        "POST /v1/markdown HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\n",
    )
    .await;
    head(&mut stream).await;
    server.end.send_replace(true);
    server.over.await.expect("the server's end");
}
