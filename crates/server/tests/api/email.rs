//! `/v1/email` and the outbox.

use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use futures_util::future::join_all;
use hamlet_models::{OutboxEmail, Page, ProblemCode, Timestamp};
use hamlet_server::{
    auth::{EMAIL_READ, EMAIL_WRITE},
    config::Settings,
    server::Server,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::test_app::{Client, TestApp};

/// Takes mail as an SMTP server does.
struct Relay {
    address: String,
    /// What it says to recipients.
    to_recipients: watch::Sender<&'static str>,
    /// What it was told.
    heard: Arc<Mutex<Vec<String>>>,
}

impl Relay {
    async fn start(to_recipients: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (to_recipients, says) = watch::channel(to_recipients);
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let hears = heard.clone();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(converse(connection, says.clone(), hears.clone()));
            }
        });
        Self {
            address: format!("smtp://{address}"),
            to_recipients,
            heard,
        }
    }

    /// How often it was told this.
    fn heard(&self, line: &str) -> usize {
        let heard = self.heard.lock().expect("nobody panicked");
        heard.iter().filter(|told| *told == line).count()
    }
}

/// The address of a relay that says this to recipients.
async fn relay(to_recipients: &'static str) -> String {
    Relay::start(to_recipients).await.address
}

async fn converse(
    connection: TcpStream,
    to_recipients: watch::Receiver<&'static str>,
    hears: Arc<Mutex<Vec<String>>>,
) -> std::io::Result<()> {
    let (reader, mut writer) = connection.into_split();
    let mut lines = BufReader::new(reader).lines();
    let mut in_message = false;
    writer.write_all(b"220 relay\r\n").await?;
    while let Some(line) = lines.next_line().await? {
        hears.lock().expect("nobody panicked").push(line.clone());
        let answer = match line
            .split_once([' ', ':'])
            .map_or(line.as_str(), |(verb, _)| verb)
        {
            "." => "250 taken",
            _ if in_message => continue,
            "DATA" => "354 go on",
            "RCPT" => *to_recipients.borrow(),
            _ => "250 relay",
        };
        in_message = answer.starts_with('3');
        writer.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
    Ok(())
}

fn by_relay(relay: String) -> Settings {
    Settings {
        mail_relay: Some(relay),
        ..Settings::default()
    }
}

async fn outbox(client: &Client) -> Vec<OutboxEmail> {
    client.get("/v1/me/outbox").await.json::<Page<OutboxEmail>>().data
}

#[tokio::test]
async fn without_a_relay_a_message_is_kept_in_the_outbox() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let message = json!({
        "to": [{"email": "bob@example.com", "name": "Bob"}, "Eve <eve@example.com>"],
        "cc": "carl@example.com", "bcc": "dora@example.com", "replyTo": "answers@example.com",
        "subject": "Grüße", "text": "hello", "html": "<p>hello</p>", "headers": {"X-Mine": "1"},
        "attachments": [{"filename": "a.txt", "content": "aGk=", "type": "text/plain"}],
    });
    let sent = ada.post("/v1/email", &message).await;
    assert_eq!(sent.status, StatusCode::OK);
    assert!(
        sent.value()["message"]
            .as_str()
            .is_some_and(|text| text.contains("outbox"))
    );
    let kept = outbox(&ada).await;
    let [email] = kept.as_slice() else {
        panic!("one message: {kept:?}")
    };
    assert_eq!(
        (email.content.subject.as_str(), email.content.text.as_deref()),
        ("Grüße", Some("hello"))
    );
    assert_eq!(
        email.content.to,
        ["Bob <bob@example.com>", "Eve <eve@example.com>"]
    );
    assert_eq!(
        (email.content.from.as_str(), email.run_id),
        ("ada@localhost", None)
    );
    assert_eq!(
        (
            email.content.attachments[0].filename.as_str(),
            email.content.attachments[0].size
        ),
        ("a.txt", 2)
    );

    let path = format!("/v1/me/outbox/{}", email.id);
    let raw = ada.get(&path).await;
    assert_eq!(raw.header("content-type"), "message/rfc822");
    for part in [
        "X-Mine: 1",
        "Reply-To: answers@example.com",
        "hello",
        "filename=\"a.txt\"",
    ] {
        assert!(raw.text().contains(part), "{part}: {}", raw.text());
    }
    assert!(!raw.text().contains("dora"), "nobody learns of a blind copy");
    ada.delete(&path).await.nothing();
    ada.get(&path).await.refused(ProblemCode::NotFound);
    assert!(outbox(&ada).await.is_empty());
}

#[tokio::test]
async fn a_message_is_to_its_sender_unless_it_says_otherwise() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let problem = ada
        .post("/v1/email", &json!({"text": "1"}))
        .await
        .refused(ProblemCode::Invalid);
    assert_eq!(problem.details[0].path, "to");
    ada.put("/v1/me", &json!({"email": "ada@example.com"}))
        .await
        .value();
    ada.post("/v1/email", &json!({})).await.value();
    let kept = outbox(&ada).await;
    assert_eq!(kept[0].content.to, ["ada@example.com"]);
    assert_eq!(kept[0].content.subject, "Message from @ada on Hamlet");
}

#[tokio::test]
async fn nobody_sends_in_anothers_name_or_slips_in_headers() {
    let app = TestApp::with_settings(Settings {
        mail_domain: Some("mail.test".into()),
        ..Settings::default()
    })
    .await;
    let ada = app.user("ada").await;
    let with = |field: &str, value: Value| {
        let mut message = json!({"to": "bob@example.com"});
        message[field] = value;
        message
    };
    for from in ["bob@mail.test", "adam@mail.test", "ada@example.com"] {
        ada.post("/v1/email", &with("from", json!(from)))
            .await
            .refused(ProblemCode::Invalid);
    }
    for (field, value) in [
        ("subject", json!("a\r\nBcc: all@example.com")),
        ("headers", json!({"X-A": "1\r\nBcc: all@example.com"})),
        ("headers", json!({"X-A\r\nBcc": "1"})),
        ("headers", json!({"Bcc": "all@example.com"})),
        ("headers", json!({"Content-Type": "text/html"})),
        ("to", json!("no address")),
        (
            "to",
            json!({"email": "bob@example.com", "name": "a\r\nBcc: all@example.com"}),
        ),
        ("attachments", json!([{"filename": "a\r\nb", "content": ""}])),
        ("attachments", json!([{"filename": "a", "content": "no base64!"}])),
        ("to", json!(vec!["bob@example.com"; 51])),
    ] {
        ada.post("/v1/email", &with(field, value))
            .await
            .refused(ProblemCode::Invalid);
    }
    assert!(outbox(&ada).await.is_empty());
    ada.post("/v1/email", &with("from", json!("Ada <ada.clerk@mail.test>")))
        .await
        .value();
    assert_eq!(outbox(&ada).await[0].content.from, "Ada <ada.clerk@mail.test>");
}

#[tokio::test]
async fn an_outbox_is_its_accounts_alone_and_scopes_hold() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let message = json!({"to": "bob@example.com"});
    ada.post("/v1/email", &message).await.value();
    let path = format!("/v1/me/outbox/{}", outbox(&ada).await[0].id);
    eve.get(&path).await.refused(ProblemCode::NotFound);
    eve.delete(&path).await.refused(ProblemCode::NotFound);
    app.anonymous()
        .post("/v1/email", &message)
        .await
        .refused(ProblemCode::SignedOut);
    let reader = app.token(&ada, [EMAIL_READ].into_iter().collect()).await;
    reader
        .post("/v1/email", &message)
        .await
        .refused(ProblemCode::MissingScope);
    reader.delete(&path).await.refused(ProblemCode::MissingScope);
    assert_eq!(outbox(&reader).await.len(), 1);
    let writer = app.token(&ada, [EMAIL_WRITE].into_iter().collect()).await;
    writer
        .get("/v1/me/outbox")
        .await
        .refused(ProblemCode::MissingScope);
}

#[tokio::test]
async fn a_val_sends_mail_by_the_standard_library() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = r#"
        import { email } from "https://esm.town/v/std/email";
        const file = { filename: "a.bin", content: new Uint8Array([1, 2, 3]) };
        const refused = await email({ to: "nobody" }).catch((error) => error.name);
        export default [(await email({ to: "bob@example.com", subject: "hi", attachments: [file] })).message, refused];
    "#;
    let value = ada.post("/v1/eval", &json!({ "code": code })).await.value();
    assert!(
        value[0].as_str().is_some_and(|text| text.contains("outbox")),
        "{value}"
    );
    assert_eq!(value[1], "EmailError");
    let kept = outbox(&ada).await;
    assert_eq!(
        (
            kept[0].content.subject.as_str(),
            kept[0].content.attachments[0].size
        ),
        ("hi", 3)
    );
    let runs = ada.get("/v1/me/runs").await.value();
    let run = ada
        .get(&format!(
            "/v1/runs/{}",
            json!(kept[0].run_id).as_str().expect("a run")
        ))
        .await
        .value();
    assert_eq!(run["emails"][0]["subject"], "hi");
    assert_eq!(
        json!(kept[0].run_id),
        runs["data"][0]["id"],
        "it names the run that sent it"
    );
}

#[tokio::test]
async fn bytes_of_every_kind_go_with_a_message() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = r#"
        import { email } from "https://esm.town/v/std/email";
        const bytes = new Uint8Array([1, 2, 3]);
        await email({ to: "bob@example.com", subject: "hi", attachments: [
          new File([bytes], "a.png", { type: "image/png" }),
          { filename: "b.bin", content: bytes.buffer },
          { filename: "c.bin", content: new Blob([bytes]) },
          { filename: "d.txt", content: "aGk=", type: "text/plain" },
        ] });
    "#;
    let ran = ada.post("/v1/eval", &json!({ "code": code })).await;
    assert_eq!(ran.status, StatusCode::OK, "{}", ran.text());
    let kept = outbox(&ada).await;
    let files = &kept[0].content.attachments;
    let sizes: Vec<_> = files
        .iter()
        .map(|file| (file.filename.as_str(), file.size))
        .collect();
    assert_eq!(sizes, [("a.png", 3), ("b.bin", 3), ("c.bin", 3), ("d.txt", 2)]);
    assert_eq!(files[0].media_type, "image/png");
}

#[tokio::test]
async fn a_run_tells_of_the_mail_that_went_by_the_relay() {
    let app = TestApp::running_with(by_relay(relay("250 known").await)).await;
    let ada = app.user("ada").await;
    let code = r#"
        import { email } from "https://esm.town/v/std/email";
        export default (await email({ to: "bob@example.com", subject: "hi", text: "there" })).message;
    "#;
    let value = ada.post("/v1/eval", &json!({ "code": code })).await.value();
    assert_eq!(value, "Sent.");
    assert!(outbox(&ada).await.is_empty(), "nothing waits");
    let runs = ada.get("/v1/me/runs").await.value();
    let id = runs["data"][0]["id"].as_str().expect("an id");
    let run = ada.get(&format!("/v1/runs/{id}")).await.value();
    let emails = run["emails"].as_array().expect("a list");
    assert_eq!(emails.len(), 1);
    assert_eq!(
        (&emails[0]["to"], &emails[0]["subject"], &emails[0]["text"]),
        (&json!(["bob@example.com"]), &json!("hi"), &json!("there"))
    );
    assert!(
        emails[0]["sentAt"].is_string() && emails[0]["failure"].is_null(),
        "{run}"
    );
    let path = format!("/v1/me/outbox/{}", emails[0]["id"].as_str().expect("an id"));
    ada.get(&path).await.refused(ProblemCode::NotFound);
}

#[tokio::test]
async fn what_the_relay_does_not_take_for_now_is_kept_with_its_reason() {
    let gone = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let gone_address = gone.local_addr().expect("an address");
    drop(gone);
    for (relay, reason) in [
        (relay("451 later").await, "451"),
        (relay("530 sign in first").await, "530"),
        (format!("smtp://eve:sesame@{gone_address}"), "onnect"),
    ] {
        let app = TestApp::with_settings(by_relay(relay)).await;
        let ada = app.user("ada").await;
        let message = json!({"to": "bob@example.com", "subject": "hi"});
        let answer = ada.post("/v1/email", &message).await;
        let problem = answer.refused(ProblemCode::Unavailable);
        assert_eq!(answer.header("x-should-retry"), "false", "it is kept once");
        let kept = outbox(&ada).await;
        let [email] = kept.as_slice() else {
            panic!("one message: {kept:?}")
        };
        let failure = email.failure.as_deref().expect("a reason");
        assert!(
            failure.contains(reason) && problem.message.contains(failure),
            "{failure}"
        );
        assert!(!problem.message.contains("sesame"), "{}", problem.message);
        let raw = ada.get(&format!("/v1/me/outbox/{}", email.id)).await;
        assert!(raw.text().contains("Subject: hi"));
    }
}

/// The one message of an outbox.
async fn waiting(client: &Client) -> OutboxEmail {
    let mut kept = outbox(client).await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    kept.remove(0)
}

fn minutes_after(time: Timestamp, minutes: i64) -> Timestamp {
    Timestamp::from_millis(time.as_millis() + minutes * 60_000)
}

async fn send_due(app: &TestApp, now: Timestamp) -> usize {
    app.server.courier.send_due(now).await.expect("a look")
}

#[tokio::test]
async fn what_waits_is_sent_once_when_the_relay_takes_it() {
    let relay = Relay::start("451 later").await;
    let app = TestApp::with_settings(by_relay(relay.address.clone())).await;
    let ada = app.user("ada").await;
    let message = json!({
        "to": {"email": "bob@example.com", "name": "Bob <the> \"B\" Ö"}, "bcc": "dora@example.com", "text": "It rains.",
    });
    ada.post("/v1/email", &message)
        .await
        .refused(ProblemCode::Unavailable);
    let kept = waiting(&ada).await;
    let first = kept.next_attempt_at.expect("a time");
    assert_eq!(first, minutes_after(kept.created_at, 1));

    assert_eq!(send_due(&app, kept.created_at).await, 0);
    assert_eq!(waiting(&ada).await, kept, "it is not due");
    assert_eq!(send_due(&app, first).await, 0, "the relay has no time yet");
    let second = waiting(&ada).await.next_attempt_at.expect("a time");
    assert_eq!(second, minutes_after(first, 5));

    relay.to_recipients.send_replace("250 known");
    assert_eq!(send_due(&app, first).await, 0, "it was tried at that time");
    let mut others = Vec::new();
    for _ in 0..4 {
        let config = app.server.state.config.clone();
        let other = Server::start_without_runtime(config, app.store.clone()).await;
        others.push(other.expect("a server"));
    }
    let looks = others.iter().map(|other| other.courier.send_due(second));
    let sent: usize = join_all(looks)
        .await
        .into_iter()
        .map(|sent| sent.expect("a look"))
        .sum();
    assert_eq!(sent, 1, "one of the servers sends it");
    assert!(outbox(&ada).await.is_empty());
    ada.get(&format!("/v1/me/outbox/{}", kept.id))
        .await
        .refused(ProblemCode::NotFound);
    assert_eq!(send_due(&app, minutes_after(second, 60)).await, 0);
    assert_eq!((relay.heard("DATA"), relay.heard("It rains.")), (1, 1));
    for address in ["bob", "dora"] {
        let told = relay.heard(&format!("RCPT TO:<{address}@example.com>"));
        assert!(told > 0, "{address} gets it");
    }
}

#[tokio::test]
async fn what_is_refused_for_good_or_too_old_is_tried_no_more() {
    for (answer, minutes) in [("550 no such mailbox", 1), ("250 known", 3 * 24 * 60 + 1)] {
        let relay = Relay::start("451 later").await;
        let app = TestApp::with_settings(by_relay(relay.address.clone())).await;
        let ada = app.user("ada").await;
        ada.post("/v1/email", &json!({"to": "bob@example.com"}))
            .await
            .refused(ProblemCode::Unavailable);
        relay.to_recipients.send_replace(answer);
        let kept = waiting(&ada).await;
        assert_eq!(
            send_due(&app, minutes_after(kept.created_at, minutes)).await,
            0,
            "{answer}"
        );
        let left = waiting(&ada).await;
        assert_eq!((left.next_attempt_at, left.sent_at), (None, None));
        let reason = if answer.starts_with('5') { "550" } else { "451" };
        assert!(left.failure.is_some_and(|failure| failure.contains(reason)));
        relay.to_recipients.send_replace("250 known");
        assert_eq!(
            send_due(&app, minutes_after(kept.created_at, 2 * minutes)).await,
            0
        );
        assert_eq!(relay.heard("DATA"), 0);
    }
}

#[tokio::test]
async fn what_was_kept_for_want_of_a_relay_is_not_sent_unasked() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.post("/v1/email", &json!({"to": "bob@example.com"}))
        .await
        .value();
    let kept = waiting(&ada).await;
    assert_eq!(kept.next_attempt_at, None);
    let relay = Relay::start("250 known").await;
    let mut config = app.server.state.config.clone();
    Arc::make_mut(&mut config).mail.relay = Some(relay.address.clone());
    let later = Server::start_without_runtime(config, app.store.clone())
        .await
        .expect("a server");
    for minutes in [1, 60] {
        let look = later.courier.send_due(minutes_after(kept.created_at, minutes));
        assert_eq!(look.await.expect("a look"), 0);
    }
    assert_eq!(waiting(&ada).await, kept);
    assert_eq!(relay.heard("DATA"), 0);
}

#[tokio::test]
async fn what_the_relay_never_takes_is_refused_with_its_words() {
    let app = TestApp::with_settings(by_relay(relay("550 no such mailbox").await)).await;
    let ada = app.user("ada").await;
    let problem = ada
        .post("/v1/email", &json!({"to": "bob@example.com"}))
        .await
        .refused(ProblemCode::Invalid);
    assert!(problem.message.contains("550"), "{}", problem.message);
    assert!(outbox(&ada).await.is_empty());
}

#[tokio::test]
async fn an_accounts_mail_goes_to_so_many_addresses_an_hour() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let limits = ada.get("/v1/instance").await.value()["limits"].clone();
    assert_eq!(limits["email"]["addressesPerHour"], 100);
    let many = json!({"to": vec!["bob@example.com"; 40], "bcc": vec!["carl@example.com"; 10]});
    for _ in 0..2 {
        ada.post("/v1/email", &many).await.value();
    }
    let one = json!({"to": "bob@example.com"});
    let answer = ada.post("/v1/email", &one).await;
    let problem = answer.refused(ProblemCode::TooManyRequests);
    assert!(
        problem.message.contains("100 addresses an hour"),
        "{}",
        problem.message
    );
    let wait: u64 = answer.header("retry-after").parse().expect("seconds");
    assert!((3_000..=3_600).contains(&wait), "{wait}");
    assert_eq!(outbox(&ada).await.len(), 2);
    eve.post("/v1/email", &one).await.value();
}
