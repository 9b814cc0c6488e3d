//! `/v1/email` and the outbox.

use axum::http::StatusCode;
use hamlet_models::{OutboxEmail, Page, ProblemCode};
use hamlet_server::{
    auth::{EMAIL_READ, EMAIL_WRITE},
    config::Settings,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::test_app::{Client, TestApp};

/// Takes mail as an SMTP server does, but for recipients, to whom it says this; answers its address.
async fn relay(to_recipients: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(converse(connection, to_recipients));
        }
    });
    format!("smtp://{address}")
}

async fn converse(connection: TcpStream, to_recipients: &'static str) -> std::io::Result<()> {
    let (reader, mut writer) = connection.into_split();
    let mut lines = BufReader::new(reader).lines();
    let mut in_message = false;
    writer.write_all(b"220 relay\r\n").await?;
    while let Some(line) = lines.next_line().await? {
        let answer = match line
            .split_once([' ', ':'])
            .map_or(line.as_str(), |(verb, _)| verb)
        {
            "." => "250 taken",
            _ if in_message => continue,
            "DATA" => "354 go on",
            "RCPT" => to_recipients,
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
    assert_eq!(limits["emailsPerHour"], 100);
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
