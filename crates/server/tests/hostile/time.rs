//! Acts that would go on for ever, or keep others waiting.

use axum::{
    body::{Body, Bytes},
    http::{Method, StatusCode},
};
use futures_util::{
    future::{join, join_all, join3},
    stream,
};
use hamlet_models::{FullRun, LogStream, RunStatus, ValKind};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::{account::whole, post::Post, siege::Siege};

const LATE: &str = "ran longer than the 5 s that a run may take";
const BUSY: &str = "used more than the 1 s of CPU time that a run may use";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_never_ends_beside_a_neighbour() {
    let siege = Siege::start(&[
        ("HAMLET_WALL_SECONDS", "5"),
        ("HAMLET_CPU_SECONDS", "1"),
        ("HAMLET_LOG_KB", "100"),
    ])
    .await;
    // Both do nothing but wait for the end of their time.
    let nothing_comes = async || nothing_comes(&siege).await;
    let drips = async || drips(&siege).await;
    join(
        siege.suffers("promises that never settle", nothing_comes),
        siege.suffers("requests that drip", drips),
    )
    .await;
    siege.suffers("deep recursion", async || deep(&siege).await).await;
    siege
        .suffers("floods of lines", async || floods(&siege).await)
        .await;
    let half_said = async || half_said(&siege).await;
    siege.suffers("what is never said to its end", half_said).await;
    siege.over().await;
}

/// What is recorded of a run that a limit of time ended.
fn was_ended(run: &FullRun, reasons: &[&str]) {
    let error = run.error.as_ref().expect("a reason");
    let is_true = run.status == RunStatus::Timeout && reasons.contains(&error.message.as_str());
    assert!(is_true && run.return_value.is_none(), "{run:?}");
}

fn said(run: &FullRun) -> Vec<&str> {
    run.logs.iter().map(|line| line.message.as_str()).collect()
}

/// By each kind of val: a timer keeps the process from ending by itself.
async fn nothing_comes(siege: &Siege) {
    let never = "console.log('in'); setInterval(() => {}, 100); await new Promise(() => {});";
    let handler = format!("export default async () => {{ {never} }}");
    let script = siege.script(never);
    let visit = async {
        let val = siege.val(ValKind::Http, &handler).await;
        let (status, page) = siege.mallory.visit(&val, "/").await.expect("an answer");
        assert_eq!(status, StatusCode::BAD_GATEWAY);
        assert!(String::from_utf8_lossy(&page).contains(LATE), "{page:?}");
        siege.latest_run(&val).await
    };
    let message = async {
        let val = siege.val(ValKind::Email, &handler).await;
        let sent = Post::to(&siege.server)
            .send("mallory", val.val.name.as_str(), "wait")
            .await;
        sent.expect("sent");
        siege.latest_run(&val).await
    };
    let (script, visit, message) = join3(script, visit, message).await;
    for run in [script, visit, message] {
        was_ended(&run, &[LATE]);
        assert_eq!(said(&run), ["in"]);
    }
}

async fn deep(siege: &Siege) {
    let down = "const down = (n: number): number => down(n + 1) + 1;";
    let run = siege.script(&format!("{down} console.log('in'); down(0);")).await;
    let error = run.error.as_ref().expect("an error");
    assert_eq!(
        (run.status, error.name.as_str()),
        (RunStatus::Error, "RangeError"),
        "{run:?}"
    );
    assert_eq!(said(&run), ["in"]);

    let page = "export default (request) => new Response(request.url.endsWith('/down') ? down(0) : 'up');";
    let val = siege.val(ValKind::Http, &format!("{down} {page}")).await;
    let (status, _) = siege.mallory.visit(&val, "/down").await.expect("an answer");
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    assert_eq!(siege.latest_run(&val).await.status, RunStatus::Error);
    let (status, body) = siege.mallory.visit(&val, "/").await.expect("an answer");
    assert_eq!(
        (status, &*body),
        (StatusCode::OK, &b"up"[..]),
        "its process goes on"
    );
}

async fn floods(siege: &Siege) {
    let flood = async |code: &str| {
        let run = siege.script(code).await;
        // What waits for its output to be taken uses little of the processor.
        was_ended(&run, &[LATE, BUSY]);
        let kept: usize = said(&run).iter().map(|line| line.len()).sum();
        assert!(
            run.truncated.logs && kept < 120_000,
            "{kept} bytes are kept of {code}"
        );
        let last = run.logs.last().expect("a line");
        assert_eq!(last.stream, LogStream::Hamlet, "{}", last.message);
        assert!(last.message.contains("cut here"), "{}", last.message);
    };
    join3(
        flood("for (;;) console.log('x'.repeat(1000));"),
        flood("const line = new Uint8Array(1e6).fill(97); for (;;) Deno.stdout.writeSync(line);"),
        flood("const lines = new Uint8Array(1e6).fill(10); for (;;) Deno.stderr.writeSync(lines);"),
    )
    .await;
}

/// As many requests as a user may have runs, of whose bodies the end never comes.
async fn drips(siege: &Siege) {
    let reads = "export default async (request) => new Response(await request.text());";
    let val = siege.val(ValKind::Http, reads).await;
    let drip = async || {
        let first = stream::iter([Ok::<_, std::io::Error>(Bytes::from("drip"))]);
        let body = Body::from_stream(futures_util::StreamExt::chain(first, stream::pending()));
        let answer = siege.mallory.open(&val, Method::POST, "/", body).await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.status(), StatusCode::BAD_GATEWAY);
        whole(answer).await.expect("a page")
    };
    for page in join_all((0..20).map(|_| drip())).await {
        assert!(String::from_utf8_lossy(&page).contains(LATE), "{page:?}");
    }
    for run in siege.mallory.runs(&val).await.expect("its runs") {
        was_ended(&siege.mallory.ended(run.id).await.expect("its run"), &[LATE]);
    }
}

/// Connections whose requests and greetings are never finished.
async fn half_said(siege: &Siege) {
    let (_, port) = siege.server.url.rsplit_once(':').expect("a port");
    let address = format!("127.0.0.1:{port}");
    let half_asked = join_all((0..200).map(|_| async {
        let mut stream = TcpStream::connect(&address).await.expect("a connection");
        stream
            .write_all(b"GET /v1/vals HTTP/1.1\r\nhost: ")
            .await
            .expect("sent");
        stream
    }));
    // From another place than the neighbour's mail, which has as many connections of its own.
    let half_greeted = join_all((0..8).map(|_| async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(([127, 0, 0, 2], 0).into()).expect("an address");
        let mut stream = socket
            .connect(([127, 0, 0, 1], siege.server.mail_port).into())
            .await
            .expect("a connection");
        stream.read_u8().await.expect("a greeting");
        stream.write_all(b"EHLO mallory.te").await.expect("sent");
        stream
    }));
    let open = join(half_asked, half_greeted).await;
    siege.neighbour.loads.go_on_all().await;
    drop(open);
}
