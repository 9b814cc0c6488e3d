//! Mail that comes: over a real connection, into the queue, to the val.

use std::{net::SocketAddr, time::Duration};

use hamlet_models::{BaseRun, ExtendedVal, FullRun, Page, Privacy, ProblemCode, RunStatus, Trigger, ValKind};
use hamlet_server::{
    config::{Config, Settings},
    mail::MailListener,
};
use hamlet_store::{QueuedEmail, Store, Turns};
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    transport::smtp::client::{Tls, TlsParameters},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpSocket, TcpStream},
    sync::watch,
};

use crate::test_app::{Client, Endless, TestApp, pass};

const DOMAIN: &str = "mail.test";

fn settings() -> Settings {
    Settings {
        mail_domain: Some(DOMAIN.into()),
        mail_listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
        ..Settings::default()
    }
}

/// Where mail is taken for this store, until the sender is dropped.
async fn listener(store: &Store) -> (SocketAddr, watch::Sender<bool>) {
    let config = Config::try_from(settings()).expect("settings");
    let listener = MailListener::bind(&config.mail, store.clone())
        .await
        .expect("a port");
    let listener = listener.expect("a listener");
    let address = listener.address().expect("an address");
    let (end, ended) = watch::channel(false);
    tokio::spawn(listener.serve(ended));
    (address, end)
}

/// Someone who sends mail, a line at a time.
struct Sender(BufReader<TcpStream>);

impl Sender {
    async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        let mut sender = Self(BufReader::new(stream));
        assert!(sender.answer().await.starts_with("220 "));
        assert!(sender.say("EHLO client.test").await.contains("STARTTLS"));
        sender
    }

    async fn say(&mut self, line: &str) -> String {
        self.send(&format!("{line}\r\n")).await;
        self.answer().await
    }

    async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.expect("sent");
    }

    /// The whole of an answer, which may have several lines; nothing once the connection is closed.
    async fn answer(&mut self) -> String {
        let mut answer = String::new();
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line).await.unwrap_or(0);
            answer.push_str(&line);
            if read == 0 || line.as_bytes().get(3) == Some(&b' ') {
                return answer;
            }
        }
    }

    async fn mail(&mut self, to: &str, message: &str) -> String {
        assert!(self.say("MAIL FROM:<bob@example.com>").await.starts_with("250"));
        assert!(self.say(&format!("RCPT TO:<{to}>")).await.starts_with("250"));
        assert!(self.say("DATA").await.starts_with("354"));
        self.send(message).await;
        self.say("\r\n.").await
    }
}

const MESSAGE: &str = "From: Bob <bob@example.com>\r\nTo: ada.clerk@mail.test\r\nSubject: hi\r\nX-Tag: one\r\n\
    MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
    --b\r\nContent-Type: text/plain\r\n\r\nhello\r\n..dots\r\n\
    --b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=\"a.csv\"\r\n\r\n1,2\r\n--b--";

const CLERK: &str = "export default async (email) => {
    const file = email.attachments[0];
    console.log(JSON.stringify({
        from: email.from, to: email.to, subject: email.subject, text: email.text?.trim(), tag: email.headers['x-tag'],
        file: file && [file instanceof File, file.name, file.type, (await file.text()).trim()],
    }));
}";

async fn clerk(ada: &Client) -> ExtendedVal {
    ada.write_val("clerk", ValKind::Email, Privacy::Private, CLERK)
        .await
}

async fn runs(ada: &Client) -> Vec<BaseRun> {
    ada.get("/v1/me/runs").await.json::<Page<BaseRun>>().data
}

/// The messages that nobody has claimed.
async fn queued(app: &TestApp) -> Vec<QueuedEmail> {
    let now = hamlet_server::clock::now();
    let queued = app.store.list_queued_emails(now, &Turns::of_all(99)).await;
    queued.expect("the queue")
}

/// Runs the vals of the messages that wait.
async fn deliver(app: &TestApp) -> usize {
    let delivered = app
        .server
        .postman
        .deliver(hamlet_server::clock::now())
        .await
        .expect("a look");
    app.server.postman.ended().await;
    delivered
}

async fn said(ada: &Client) -> Value {
    let run: FullRun = ada
        .get(&format!("/v1/runs/{}", runs(ada).await[0].id))
        .await
        .json();
    assert_eq!((run.run.status, run.run.error.as_ref()), (RunStatus::Ok, None));
    serde_json::from_str(&run.logs[0].message).expect("JSON")
}

#[tokio::test]
async fn a_message_reaches_its_val_with_all_its_parts_once() {
    let app = TestApp::running_with(settings()).await;
    let ada = app.user("ada").await;
    let val = clerk(&ada).await;
    assert_eq!(val.links.email.as_deref(), Some("ada.clerk@mail.test"));
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    assert!(
        sender
            .mail("Ada.CLERK@Mail.Test", MESSAGE)
            .await
            .starts_with("250")
    );
    assert!(
        runs(&ada).await.is_empty(),
        "it is queued, not run by the connection"
    );
    assert_eq!((deliver(&app).await, deliver(&app).await), (1, 0));
    let run = &runs(&ada).await[0];
    assert_eq!((run.trigger, run.val_id), (Trigger::Email, Some(val.id)));
    assert_eq!(
        said(&ada).await,
        json!({
            "from": "Bob <bob@example.com>", "to": ["ada.clerk@mail.test"], "subject": "hi", "tag": "one",
            "text": "hello\r\n.dots", "file": [true, "a.csv", "text/csv", "1,2"],
        })
    );
    assert!(
        sender
            .mail("ada.clerk@mail.test", MESSAGE)
            .await
            .starts_with("250"),
        "the session goes on"
    );
    assert!(sender.say("QUIT").await.starts_with("221"));
}

#[tokio::test]
async fn a_message_without_an_author_is_from_who_sent_it() {
    let app = TestApp::running_with(settings()).await;
    let ada = app.user("ada").await;
    clerk(&ada).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    let taken = sender
        .mail("ada.clerk@mail.test", "Subject: hi\r\n\r\nhello")
        .await;
    assert!(taken.starts_with("250"), "{taken}");
    assert_eq!(deliver(&app).await, 1);
    let said = said(&ada).await;
    assert_eq!(
        (&said["from"], &said["subject"], &said["text"]),
        (&json!("bob@example.com"), &json!("hi"), &json!("hello"))
    );
}

/// Whoever reads it goes down with it, a level at a time.
#[tokio::test]
async fn a_message_that_takes_all_memory_to_read_reaches_its_val_as_it_came() {
    let app = TestApp::running_with(settings()).await;
    let ada = app.user("ada").await;
    ada.write_val(
        "clerk",
        ValKind::Email,
        Privacy::Private,
        "export default async ({ from, to, text, attachments: [file] }) => {
            const came = await file.text();
            console.log(JSON.stringify([from, to, text, file.name, file.type, came.length > 3e6, came.includes('Subject: deep')]));
        }",
    )
    .await;
    let (address, _end) = listener(&app.store).await;
    let deep = "Content-Type: message/rfc822\r\n\r\n".repeat(100_000);
    let message = format!("From: Bob <bob@example.com>\r\nSubject: deep\r\n{deep}end");
    let taken = Sender::connect(address)
        .await
        .mail("ada.clerk@mail.test", &message)
        .await;
    assert!(taken.starts_with("250"), "{taken}");
    assert_eq!(deliver(&app).await, 1);
    let text = "This message takes too much memory or time to be read. It is attached as it came.";
    assert_eq!(
        said(&ada).await,
        json!([
            "bob@example.com",
            [],
            text,
            "message.eml",
            "message/rfc822",
            true,
            true
        ])
    );
    assert_eq!(queued(&app).await.len(), 0, "it is delivered once");
}

#[tokio::test]
async fn a_message_that_was_taken_outlives_the_server() {
    let app = TestApp::running_with(settings()).await;
    let ada = app.user("ada").await;
    clerk(&ada).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    assert!(
        sender
            .mail("ada.clerk@mail.test", MESSAGE)
            .await
            .starts_with("250")
    );
    // Another server took it, and died.
    let now = hamlet_server::clock::now();
    let email = queued(&app).await.remove(0);
    let far = hamlet_server::clock::after(std::time::Duration::from_secs(3_600));
    assert!(app.store.claim_email(&email, now, far).await.expect("an answer"));
    assert!(
        !app.store.claim_email(&email, now, far).await.expect("an answer"),
        "it is one server's"
    );
    assert_eq!(deliver(&app).await, 0);
    app.server.postman.resume().await.expect("resumed");
    assert_eq!(deliver(&app).await, 1);
    assert_eq!(said(&ada).await["subject"], "hi");
}

#[tokio::test]
async fn a_message_that_finds_every_place_taken_is_delivered_later() {
    let app = TestApp::running_with(Settings {
        user_runs: Some(1),
        ..settings()
    })
    .await;
    let ada = app.user("ada").await;
    let val = clerk(&ada).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    let taken = sender.mail("ada.clerk@mail.test", MESSAGE).await;
    assert!(taken.starts_with("250"), "{taken}");
    let endless = Endless::start(&ada).await;
    let look = async || {
        let soon = hamlet_server::clock::after(Duration::from_secs(60));
        app.server.postman.deliver(soon).await.expect("a look")
    };
    assert_eq!(look().await, 0);
    assert_eq!(queued(&app).await, [], "it waits for a place");
    pass(Duration::from_secs(11)).await;
    let soon = hamlet_server::clock::after(Duration::from_secs(60));
    let again = Turns::of_all(9);
    while app
        .store
        .list_queued_emails(soon, &again)
        .await
        .expect("the queue")
        .is_empty()
    {
        tokio::task::yield_now().await;
    }
    let of_clerk = format!("/v1/vals/{}/runs", val.id);
    let tried = ada.get(&of_clerk).await.json::<Page<BaseRun>>().data;
    assert!(tried.is_empty(), "what did not begin is no run");

    endless.cancel().await;
    loop {
        look().await;
        let runs = ada.get(&of_clerk).await.json::<Page<BaseRun>>().data;
        if runs.first().is_some_and(|run| run.status.is_over()) {
            assert_eq!(runs.len(), 1);
            break;
        }
    }
    assert_eq!(said(&ada).await["subject"], "hi");
}

#[tokio::test]
async fn much_mail_of_one_owner_does_not_hold_up_that_of_another() {
    let app = TestApp::running_with(Settings {
        user_runs: Some(2),
        ..settings()
    })
    .await;
    let (bob, ada) = (app.user("bob").await, app.user("ada").await);
    let slow = "export default () => new Promise((done) => setTimeout(done, 1e6))";
    bob.write_val("slow", ValKind::Email, Privacy::Private, slow)
        .await;
    clerk(&ada).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    for _ in 0..25 {
        let taken = sender.mail("bob.slow@mail.test", MESSAGE).await;
        assert!(taken.starts_with("250"), "{taken}");
    }
    let taken = sender.mail("ada.clerk@mail.test", MESSAGE).await;
    assert!(taken.starts_with("250"), "{taken}");
    let now = hamlet_server::clock::now();
    let started = app.server.postman.deliver(now).await.expect("a look");
    assert_eq!(started, 2, "one of each, as many as a user may have");
    while runs(&ada).await.first().is_none_or(|run| !run.status.is_over()) {
        tokio::task::yield_now().await;
    }
    assert_eq!(said(&ada).await["subject"], "hi");
}

#[tokio::test]
async fn a_message_for_a_val_that_takes_none_any_more_is_dropped() {
    let app = TestApp::running_with(settings()).await;
    let ada = app.user("ada").await;
    let val = clerk(&ada).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    let path = format!("/v1/vals/{}", val.id);
    for change in [true, false] {
        ada.put(&path, &json!({"type": "email"})).await.nothing();
        assert!(
            sender
                .mail("ada.clerk@mail.test", MESSAGE)
                .await
                .starts_with("250")
        );
        match change {
            true => ada.put(&path, &json!({"type": "script"})).await.nothing(),
            false => ada.delete(&path).await.nothing(),
        }
        assert_eq!(deliver(&app).await, 0);
        assert_eq!(queued(&app).await, []);
    }
    assert!(runs(&ada).await.is_empty());
}

#[tokio::test]
async fn only_email_vals_have_an_address() {
    let app = TestApp::with_settings(settings()).await;
    let ada = app.user("ada").await;
    clerk(&ada).await;
    ada.create_val("script", Privacy::Public).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    assert!(sender.say("MAIL FROM:<>").await.starts_with("250"));
    for to in [
        "ada.script@mail.test",
        "ada.missing@mail.test",
        "eve.clerk@mail.test",
        "ada@mail.test",
        "ada.clerk@example.com",
    ] {
        let refused = sender.say(&format!("RCPT TO:<{to}>")).await;
        assert_eq!(refused, "550 Nobody has this address\r\n", "{to}");
    }
    assert!(
        sender.say("DATA").await.starts_with("554"),
        "there is nobody to take it"
    );
    assert!(
        sender
            .say("RCPT TO:<ada.clerk@mail.test>")
            .await
            .starts_with("250")
    );
    assert!(sender.say("DATA").await.starts_with("354"));
}

#[tokio::test]
async fn mail_for_whom_much_waits_stays_with_its_sender_for_now() {
    let app = TestApp::with_settings(settings()).await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);
    let val = clerk(&ada).await.id;
    clerk(&bob).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    let mut incoming = app.store.begin_email();
    incoming.write("Subject: one".into()).await.expect("written");
    incoming.queue(&vec![val; 1_000]).await.expect("queued");
    let hello = "MAIL FROM:<eve@example.com>";
    assert!(sender.say(hello).await.starts_with("250"));
    let refused = sender.say("RCPT TO:<ada.clerk@mail.test>").await;
    assert_eq!(
        refused,
        "452 at most 1000 messages and 300 MB wait for an account's vals: try again later\r\n"
    );
    assert!(
        sender
            .say("RCPT TO:<bob.clerk@mail.test>")
            .await
            .starts_with("250"),
        "one's own"
    );
    let one = queued(&app).await.remove(0);
    app.store.finish_email(&one).await.expect("finished");
    assert!(
        sender
            .say("RCPT TO:<ada.clerk@mail.test>")
            .await
            .starts_with("250")
    );

    incoming = app.store.begin_email();
    incoming.write("Subject: another".into()).await.expect("written");
    incoming.queue(&[val]).await.expect("queued");
    assert!(sender.say("DATA").await.starts_with("354"));
    let answer = sender.say("Subject: late\r\n\r\n.").await;
    assert!(answer.starts_with("452"), "it came before this one: {answer}");
}

/// Connects from this address of the machine, and answers what is said first.
async fn greeted(address: SocketAddr, from: [u8; 4]) -> (BufReader<TcpStream>, String) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from((from, 0))).expect("an address");
    let mut stream = BufReader::new(socket.connect(address).await.expect("a connection"));
    let mut said = String::new();
    stream.read_line(&mut said).await.expect("a line");
    (stream, said)
}

#[tokio::test]
async fn silent_connections_keep_nobody_else_out_and_who_is_kept_out_is_told() {
    let app = TestApp::with_settings(settings()).await;
    let (address, _end) = listener(&app.store).await;
    let mut silent = Vec::new();
    loop {
        let (stream, said) = greeted(address, [127, 0, 0, 1]).await;
        if said.starts_with("421 ") {
            break;
        }
        assert!(said.starts_with("220 "), "{said}");
        silent.push(stream);
    }
    assert_eq!(silent.len(), 8);
    let (_other, said) = greeted(address, [127, 0, 0, 2]).await;
    assert!(said.starts_with("220 "), "{said}");

    let mut line = String::new();
    pass(Duration::from_secs(61)).await;
    silent[0].read_line(&mut line).await.expect("a line");
    assert!(line.starts_with("421 "), "{line}");
    while !greeted(address, [127, 0, 0, 1]).await.1.starts_with("220 ") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn who_writes_to_someone_has_time_for_it() {
    let app = TestApp::with_settings(settings()).await;
    clerk(&app.user("ada").await).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    assert!(sender.say("MAIL FROM:<bob@example.com>").await.starts_with("250"));
    assert!(
        sender
            .say("RCPT TO:<ada.clerk@mail.test>")
            .await
            .starts_with("250")
    );
    for _ in 0..7 {
        pass(Duration::from_secs(250)).await;
        assert!(sender.say("NOOP").await.starts_with("250"));
    }
    pass(Duration::from_secs(61)).await;
    assert!(sender.answer().await.starts_with("421"), "but not for ever");
}

#[tokio::test]
async fn nothing_is_slipped_in_by_odd_line_ends() {
    let app = TestApp::with_settings(settings()).await;
    let ada = app.user("ada").await;
    clerk(&ada).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    let smuggled = "Subject: one\r\n\r\nhi\n.\r\nMAIL FROM:<eve@example.com>\r\n";
    let answer = sender.mail("ada.clerk@mail.test", smuggled).await;
    assert!(answer.starts_with("500"), "{answer}");
    assert_eq!(queued(&app).await, []);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_and_leaves_nothing() {
    let app = TestApp::with_settings(settings()).await;
    let ada = app.user("ada").await;
    clerk(&ada).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    let line = format!("{}\r\n", "a".repeat(998));
    let answer = sender.mail("ada.clerk@mail.test", &line.repeat(30_000)).await;
    assert_eq!(answer, "552 The message is larger than 30 MB as it is sent\r\n");
    assert_eq!(queued(&app).await, []);
    let answer = sender.mail("ada.clerk@mail.test", &line.repeat(29_999)).await;
    assert!(answer.starts_with("250"), "the session goes on: {answer}");
    assert_eq!(queued(&app).await.len(), 1);
}

#[tokio::test]
async fn who_says_how_large_a_message_is_hears_at_once_whether_it_is_taken() {
    let app = TestApp::with_settings(settings()).await;
    clerk(&app.user("ada").await).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    let offered = sender.say("EHLO client.test").await;
    assert!(
        offered.lines().any(|line| line == "250-SIZE 30000000"),
        "{offered}"
    );
    assert!(offered.contains("8BITMIME"), "{offered}");
    for (parameters, code) in [
        ("SIZE=30000001", "552"),
        ("SIZE=99999999999999999999", "501"),
        ("SIZE", "501"),
        ("BODY=BINARYMIME", "555"),
        ("SIZE=1 NOTIFY=NEVER", "555"),
        ("size=30000000 body=8bitmime", "250"),
    ] {
        let answer = sender
            .say(&format!("MAIL FROM:<bob@example.com> {parameters}"))
            .await;
        assert!(answer.starts_with(code), "{parameters}: {answer}");
    }
    assert!(
        sender
            .say("RCPT TO:<ada.clerk@mail.test>")
            .await
            .starts_with("250")
    );
    assert!(sender.say("DATA").await.starts_with("354"));
    sender.send("MAIL FROM:<eve@example.com> SIZE=30000001\r\n").await;
    assert!(
        sender.say("\r\n.").await.starts_with("250"),
        "what a message says is its own"
    );
}

#[tokio::test]
async fn a_connection_becomes_private_and_forgets_what_was_said_before() {
    let app = TestApp::with_settings(settings()).await;
    let (address, _end) = listener(&app.store).await;
    let mut sender = Sender::connect(address).await;
    sender.send("STARTTLS\r\nMAIL FROM:<eve@example.com>\r\n").await;
    assert!(sender.answer().await.starts_with("220"));
    let mut rest = Vec::new();
    let _ = sender.0.read_to_end(&mut rest).await;
    assert!(rest.is_empty(), "what came before the handshake is not answered");
}

#[tokio::test]
async fn mail_goes_by_a_relay_to_a_val_of_another_instance() {
    let there = TestApp::running_with(settings()).await;
    let ada = there.user("ada").await;
    clerk(&ada).await;
    let (address, _end) = listener(&there.store).await;
    let here = TestApp::with_settings(Settings {
        mail_relay: Some(format!("smtp://{address}")),
        ..Settings::default()
    })
    .await;
    let bob = here.user("bob").await;
    let message = json!({
        "to": "ada.clerk@mail.test", "subject": "from afar", "text": "hello",
        "attachments": [{"filename": "a.txt", "content": "aGk=", "type": "text/plain"}],
    });
    assert_eq!(
        bob.post("/v1/email", &message).await.value(),
        json!({"message": "Sent."})
    );
    assert_eq!(deliver(&there).await, 1);
    let said = said(&ada).await;
    assert_eq!(
        (&said["from"], &said["subject"], &said["text"]),
        (&json!("bob@localhost"), &json!("from afar"), &json!("hello"))
    );
    assert_eq!(said["file"], json!([true, "a.txt", "text/plain", "hi"]));
    let refused = bob.post("/v1/email", &json!({"to": "nobody@mail.test"})).await;
    refused.refused(ProblemCode::Invalid);
}

#[tokio::test]
async fn mail_comes_over_starttls() {
    let app = TestApp::with_settings(settings()).await;
    let ada = app.user("ada").await;
    clerk(&ada).await;
    let (address, _end) = listener(&app.store).await;
    // Nobody vouches for a certificate that was made at the start.
    let tls = TlsParameters::builder(DOMAIN.to_owned())
        .dangerous_accept_invalid_certs(true)
        .build()
        .expect("parameters");
    let client = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("127.0.0.1")
        .port(address.port())
        .tls(Tls::Required(tls))
        .build();
    let message = Message::builder()
        .from("bob@example.com".parse().expect("an address"))
        .to("ada.clerk@mail.test".parse().expect("an address"))
        .body("hello".to_owned())
        .expect("a message");
    client.send(message).await.expect("taken");
    assert_eq!(queued(&app).await.len(), 1);
}

#[tokio::test]
async fn a_val_is_tried_with_a_message_from_its_page() {
    let app = TestApp::running_with(settings()).await;
    let ada = app.user("ada").await;
    let val = clerk(&ada).await;
    let path = format!("/v1/vals/{}/runs", val.id);
    let started: BaseRun = ada
        .post(
            &path,
            &json!({"email": {"from": "eve@example.com", "subject": "try", "text": "1"}}),
        )
        .await
        .json();
    let mut run: FullRun = ada.get(&format!("/v1/runs/{}", started.id)).await.json();
    while !run.run.status.is_over() {
        tokio::task::yield_now().await;
        run = ada.get(&format!("/v1/runs/{}", started.id)).await.json();
    }
    assert_eq!(
        (run.run.status, run.run.trigger),
        (RunStatus::Ok, Trigger::Editor)
    );
    let said: Value = serde_json::from_str(&run.logs[0].message).expect("JSON");
    assert_eq!(
        said,
        json!({"from": "eve@example.com", "to": ["ada.clerk@mail.test"], "subject": "try", "text": "1"})
    );
}
