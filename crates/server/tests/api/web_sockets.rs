//! Web sockets of HTTP vals, by a real connection, on the real Deno.

use std::{net::SocketAddr, time::Duration};

use axum::http::{Method, StatusCode, header};
use futures_util::{SinkExt, StreamExt};
use hamlet_models::{BaseRun, FullRun, Page, Privacy, RunStatus};
use hamlet_server::{config::Settings, listen::listen};
use serde_json::json;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        Error, Message,
        client::IntoClientRequest,
        handshake::client::Response,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use crate::{
    gateway::{at, end_of, get, page, runs_of, visit},
    test_app::{Client, TestApp},
};

/// Says back what it hears, and tells of everything that happens.
const ECHO: &str = "export default (request: Request) => {
  const { socket, response } = Deno.upgradeWebSocket(request);
  socket.onopen = () => console.log('open');
  socket.onmessage = ({ data }) => {
    console.log(typeof data === 'string' ? data : `${data.byteLength} bytes`);
    socket.send(data);
  };
  socket.onclose = ({ code, reason }) => console.log('closed', code, reason);
  return response;
};";

type Socket = WebSocketStream<TcpStream>;

/// A server that listens.
pub(crate) struct Listening {
    pub(crate) app: TestApp,
    pub(crate) address: SocketAddr,
    end: watch::Sender<bool>,
    over: JoinHandle<()>,
}

impl Listening {
    async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        let app = TestApp::running_with(settings).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let (end, ended) = watch::channel(false);
        let over = tokio::spawn(listen(listener, app.app.clone(), ended, Duration::ZERO));
        Self {
            app,
            address,
            end,
            over,
        }
    }

    /// Asks the val of this label for a web socket.
    async fn ask(
        &self,
        label: &str,
        headers: &[(header::HeaderName, &str)],
    ) -> Result<(Socket, Response), Error> {
        let url = format!("ws://{label}.localhost:8787/a?b=c");
        let mut request = url.into_client_request().expect("a request");
        for (name, value) in headers {
            request
                .headers_mut()
                .insert(name, value.parse().expect("a value"));
        }
        let stream = TcpStream::connect(self.address).await.expect("a connection");
        client_async(request, stream).await
    }

    async fn open(&self, label: &str) -> Socket {
        self.ask(label, &[]).await.expect("a web socket").0
    }

    /// The status and the text that the val, or the gateway, answered in place of a web socket.
    async fn refused(&self, label: &str, headers: &[(header::HeaderName, &str)]) -> StatusCode {
        match self.ask(label, headers).await {
            Err(Error::Http(response)) => response.status(),
            other => panic!("an answer over HTTP, not {other:?}"),
        }
    }
}

/// What comes next.
async fn next(socket: &mut Socket) -> Message {
    socket.next().await.expect("a message").expect("a whole message")
}

async fn say(socket: &mut Socket, message: impl Into<Message>) {
    socket.send(message.into()).await.expect("sent");
}

/// Whether the connection ends without a closing word.
async fn breaks_off(socket: &mut Socket) -> bool {
    loop {
        match socket.next().await {
            None | Some(Ok(Message::Close(_))) => return false,
            Some(Ok(_)) => {}
            Some(Err(_)) => return true,
        }
    }
}

/// The run of the only web socket so far.
async fn run_of(owner: &Client) -> BaseRun {
    let runs: Page<BaseRun> = owner.get("/v1/me/runs").await.json();
    let [run] = <[BaseRun; 1]>::try_from(runs.data).expect("one web socket makes one run");
    run
}

/// How the only run ended, with the line that has this text, which may come after the end.
async fn end_with_line(owner: &Client, text: &str) -> FullRun {
    let run = run_of(owner).await;
    end_of(owner, &run).await;
    loop {
        let run: FullRun = owner.get(&format!("/v1/runs/{}", run.id)).await.json();
        if run.logs.iter().any(|line| line.message.contains(text)) {
            return run;
        }
    }
}

fn lines(run: &FullRun) -> Vec<&str> {
    run.logs.iter().map(|line| line.message.as_str()).collect()
}

fn status(run: &FullRun) -> (RunStatus, Option<u16>) {
    (
        run.status,
        run.request.as_ref().and_then(|request| request.status),
    )
}

#[tokio::test]
async fn messages_pass_both_ways_and_the_run_lasts_until_the_client_closes() {
    let server = Listening::new().await;
    let ada = server.app.user("ada").await;
    page(&ada, "echo", Privacy::Public, ECHO).await;
    let (mut socket, response) = server.ask("ada-echo", &[]).await.expect("a web socket");
    assert!(
        !response.headers().contains_key("access-control-allow-origin"),
        "no other page reads what is no answer: {:?}",
        response.headers()
    );

    let large: Vec<u8> = (0..3_000_000_u32).map(|number| number as u8).collect();
    for message in [
        Message::text("grüße"),
        Message::binary(vec![0, 255]),
        Message::binary(large),
    ] {
        say(&mut socket, message.clone()).await;
        assert_eq!(next(&mut socket).await, message);
    }
    assert_eq!(run_of(&ada).await.status, RunStatus::Running);
    let close = CloseFrame {
        code: CloseCode::Library(4001),
        reason: "bye".into(),
    };
    socket.close(Some(close)).await.expect("closed");
    assert!(!breaks_off(&mut socket).await, "the val says that it closes too");

    let run = end_with_line(&ada, "closed").await;
    assert_eq!(status(&run), (RunStatus::Ok, Some(101)));
    assert_eq!(
        lines(&run),
        ["open", "grüße", "2 bytes", "3000000 bytes", "closed 4001 bye"]
    );
}

#[tokio::test]
async fn a_val_that_closes_tells_the_client_why() {
    let server = Listening::new().await;
    let ada = server.app.user("ada").await;
    let code = "export default (request: Request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onopen = () => socket.close(4002, 'enough');
      return response;
    };";
    page(&ada, "curt", Privacy::Public, code).await;
    let mut socket = server.open("ada-curt").await;
    let Message::Close(Some(frame)) = next(&mut socket).await else {
        panic!("the val closes")
    };
    assert_eq!((u16::from(frame.code), frame.reason.as_str()), (4002, "enough"));
    assert!(socket.next().await.is_none(), "the connection is closed");
    let run = run_of(&ada).await;
    assert_eq!(status(&end_of(&ada, &run).await.1), (RunStatus::Ok, Some(101)));
}

#[tokio::test]
async fn a_val_that_does_not_agree_answers_as_ever() {
    let server = Listening::new().await;
    let ada = server.app.user("ada").await;
    let code = "export default (request: Request) => {
      const said = request.headers.get('upgrade') + ' ' + request.headers.get('connection');
      return new Response(said, { status: 403 });
    };";
    page(&ada, "shy", Privacy::Public, code).await;
    let Err(Error::Http(response)) = server.ask("ada-shy", &[]).await else {
        panic!("no web socket")
    };
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert_eq!(response.headers()["access-control-allow-origin"], "*");
    assert_eq!(response.body().as_deref(), Some(b"websocket Upgrade".as_slice()));
    let run = run_of(&ada).await;
    assert_eq!(status(&end_of(&ada, &run).await.1), (RunStatus::Ok, Some(403)));

    let other = at(Method::GET, "ada-shy", "/")
        .header(header::CONNECTION, "upgrade")
        .header(header::UPGRADE, "h2c");
    assert_eq!(
        visit(&server.app, other).await.text(),
        "null null",
        "a val is asked for nothing but web sockets"
    );
}

#[tokio::test]
async fn a_web_socket_ends_with_the_time_of_its_run() {
    let settings = Settings {
        wall_seconds: Some(1),
        ..Settings::default()
    };
    let server = Listening::with(settings).await;
    let ada = server.app.user("ada").await;
    page(&ada, "echo", Privacy::Public, ECHO).await;
    let mut socket = server.open("ada-echo").await;
    assert!(breaks_off(&mut socket).await);
    let run = run_of(&ada).await;
    assert_eq!(
        status(&end_of(&ada, &run).await.1),
        (RunStatus::Timeout, Some(101))
    );
}

#[tokio::test]
async fn cancelling_the_run_ends_its_web_socket_alone() {
    let server = Listening::new().await;
    let ada = server.app.user("ada").await;
    let val = page(&ada, "echo", Privacy::Public, ECHO).await;
    let mut socket = server.open("ada-echo").await;
    let run = run_of(&ada).await;
    let mut other = server.open("ada-echo").await;
    let cancelled = ada
        .post(
            &format!("/v1/vals/{}/evaluations/{}/cancel", val.id, run.id),
            &json!({}),
        )
        .await;
    assert_eq!(cancelled.status, StatusCode::OK);
    assert!(breaks_off(&mut socket).await);
    assert_eq!(end_of(&ada, &run).await.0, RunStatus::Cancelled);

    say(&mut other, "still here").await;
    assert_eq!(next(&mut other).await, Message::text("still here"));
}

#[tokio::test]
async fn a_val_whose_process_ends_ends_its_web_sockets_as_failed_runs() {
    let server = Listening::new().await;
    let ada = server.app.user("ada").await;
    let code = "export default (request: Request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onmessage = ({ data }) => { if (data === 'throw') throw new Error('thrown'); Deno.exit(7); };
      return response;
    };";
    page(&ada, "leaves", Privacy::Public, code).await;
    let mut socket = server.open("ada-leaves").await;
    say(&mut socket, "throw").await;
    say(&mut socket, "exit").await;
    assert!(breaks_off(&mut socket).await);
    let run = end_with_line(&ada, "thrown").await;
    assert_eq!(status(&run), (RunStatus::Error, Some(101)));
    let error = run.error.clone().expect("an error");
    assert!(error.message.contains("exit code 7"), "{}", error.message);
}

#[tokio::test]
async fn a_client_that_leaves_without_closing_cancels_the_run_and_the_val_hears_of_it() {
    let settings = Settings {
        user_runs: Some(1),
        ..Settings::default()
    };
    let server = Listening::with(settings).await;
    let ada = server.app.user("ada").await;
    page(&ada, "echo", Privacy::Public, ECHO).await;
    let mut socket = server.open("ada-echo").await;
    say(&mut socket, "hello").await;
    next(&mut socket).await;
    drop(socket);
    let run = end_with_line(&ada, "closed").await;
    assert_eq!(status(&run), (RunStatus::Cancelled, Some(101)));
    // There is one place, which is free again.
    server.open("ada-echo").await;
}

#[tokio::test]
async fn a_web_socket_takes_a_place_for_as_long_as_it_is_open() {
    let settings = Settings {
        user_runs: Some(1),
        ..Settings::default()
    };
    let server = Listening::with(settings).await;
    let ada = server.app.user("ada").await;
    let val = page(&ada, "echo", Privacy::Public, ECHO).await;
    let mut first = server.open("ada-echo").await;
    let waits_and_is_let_in = async {
        while runs_of(&ada, &val)
            .await
            .iter()
            .all(|run| run.status != RunStatus::Queued)
        {}
        first.close(None).await.expect("closed");
        breaks_off(&mut first).await
    };
    let (mut second, first_broke) = tokio::join!(server.open("ada-echo"), waits_and_is_let_in);
    assert!(!first_broke);
    say(&mut second, "in").await;
    assert_eq!(next(&mut second).await, Message::text("in"));
}

#[tokio::test]
async fn a_private_val_opens_web_sockets_for_its_owner_alone() {
    let server = Listening::new().await;
    let (ada, eve) = (server.app.user("ada").await, server.app.user("eve").await);
    let code = "export default (request: Request) => {
      const said = `${request.headers.get('authorization')} ${request.headers.get('cookie')}`;
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onopen = () => socket.send(said);
      return response;
    };";
    let val = page(&ada, "secret", Privacy::Private, code).await;
    assert_eq!(server.refused("ada-secret", &[]).await, StatusCode::NOT_FOUND);
    let as_eve = [(header::AUTHORIZATION, eve.authorization())];
    assert_eq!(server.refused("ada-secret", &as_eve).await, StatusCode::NOT_FOUND);
    assert!(
        runs_of(&ada, &val).await.is_empty(),
        "who is refused starts no run"
    );
    let as_ada = [(header::AUTHORIZATION, ada.authorization())];
    let (mut socket, _) = server.ask("ada-secret", &as_ada).await.expect("a web socket");
    assert_eq!(next(&mut socket).await, Message::text("null null"));

    let opened = ada.get(&format!("/v1/vals/{}/open", val.id)).await;
    let address = opened
        .header("location")
        .trim_start_matches("http://ada-secret.localhost:8787");
    let entered = get(&server.app, "ada-secret", address).await;
    let cookie = entered.header("set-cookie").split(';').next().unwrap_or_default();
    let from = |origin| [(header::COOKIE, cookie), (header::ORIGIN, origin)];
    for page in ["http://eve-trap.localhost:8787", "null"] {
        assert_eq!(
            server.refused("ada-secret", &from(page)).await,
            StatusCode::NOT_FOUND,
            "a page of {page} has the cookie sent along, and not the owner's will"
        );
    }
    let own = from("http://ada-secret.localhost:8787");
    let (mut socket, _) = server.ask("ada-secret", &own).await.expect("a web socket");
    assert_eq!(next(&mut socket).await, Message::text("null null"));
}

#[tokio::test]
async fn a_val_that_floods_meets_its_limits_and_harms_nobody() {
    let settings = Settings {
        memory_mb: Some(64),
        ..Settings::default()
    };
    let server = Listening::with(settings).await;
    let ada = server.app.user("ada").await;
    let code = "export default (request: Request) => {
      const { socket, response } = Deno.upgradeWebSocket(request);
      const part = new Uint8Array(1_000_000);
      socket.onopen = () => setInterval(() => { if (socket.readyState === 1) socket.send(part); }, 0);
      return response;
    };";
    page(&ada, "flood", Privacy::Public, code).await;
    // Nobody reads what the val says.
    let _deaf = server.open("ada-flood").await;
    let run = run_of(&ada).await;
    let (status, _) = end_of(&ada, &run).await;
    assert_eq!(status, RunStatus::OutOfMemory);

    page(&ada, "echo", Privacy::Public, ECHO).await;
    let mut socket = server.open("ada-echo").await;
    say(&mut socket, "calm").await;
    assert_eq!(next(&mut socket).await, Message::text("calm"));
}

#[tokio::test]
async fn a_val_notices_by_its_pings_that_a_client_is_silent() {
    let server = Listening::new().await;
    let ada = server.app.user("ada").await;
    let code = ECHO.replace("(request);", "(request, { idleTimeout: 1 });");
    page(&ada, "pings", Privacy::Public, &code).await;
    let mut lively = server.open("ada-pings").await;
    for _ in 0..2 {
        let ping = next(&mut lively).await;
        assert!(matches!(ping, Message::Ping(_)), "{ping:?}");
    }
    say(&mut lively, "alive").await;
    assert_eq!(next(&mut lively).await, Message::text("alive"));
    lively.close(None).await.expect("closed");
    breaks_off(&mut lively).await;
    assert_eq!(status(&end_with_line(&ada, "closed").await).0, RunStatus::Ok);

    let _silent = server.open("ada-pings").await;
    let runs: Page<BaseRun> = ada.get("/v1/me/runs").await.json();
    let (status, _) = end_of(&ada, &runs.data[0]).await;
    assert_eq!(status, RunStatus::Ok, "the val closed it");
}

#[tokio::test]
async fn a_server_that_ends_closes_its_web_sockets() {
    let server = Listening::new().await;
    let ada = server.app.user("ada").await;
    page(&ada, "echo", Privacy::Public, ECHO).await;
    let mut socket = server.open("ada-echo").await;
    let run = run_of(&ada).await;
    let recorded = server
        .app
        .server
        .state
        .runs
        .recorder()
        .find(run.id)
        .expect("it goes on");
    server.end.send_replace(true);
    server.over.await.expect("it listens no more");
    server.app.server.shutdown(Duration::ZERO).await.expect("its end");
    assert!(breaks_off(&mut socket).await);
    assert_eq!(recorded.record().status, RunStatus::Lost);
}
