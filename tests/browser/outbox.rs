//! The outbox.

use hamlet_models::{EmailContent, EmailFile, EmailId, OutboxEmail, RunId};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{
    fixtures::{ago, id, me, page},
    harness::{button, find, find_all, has_text, link, mount_app, query, tick, until, until_text},
    server::Server,
};

const OUTBOX: &str = "GET /v1/me/outbox";

fn message(number: u32, subject: &str) -> OutboxEmail {
    OutboxEmail {
        id: id::<EmailId>(number),
        created_at: ago(120),
        run_id: Some(id::<RunId>(7)),
        sent_at: None,
        failure: None,
        next_attempt_at: None,
        content: EmailContent {
            from: "ada@vals.example".into(),
            to: vec!["grace@example.com".into()],
            cc: Vec::new(),
            bcc: vec!["quiet@example.com".into()],
            subject: subject.into(),
            text: Some("It rains.".into()),
            html: Some("<p>It <b>rains</b>.</p><script>parent.document.title = 'evil'</script>".into()),
            attachments: vec![EmailFile {
                filename: "map.png".into(),
                media_type: "image/png".into(),
                size: 2_000,
            }],
        },
    }
}

#[wasm_bindgen_test]
async fn what_could_not_be_sent_is_there_to_read() {
    let server = Server::start();
    server.on("GET /v1/session", 200, &me());
    let late = OutboxEmail {
        failure: Some("connection refused".into()),
        next_attempt_at: Some(ago(-60)),
        ..message(1, "Weather")
    };
    server.on(OUTBOX, 200, &page(vec![late, message(2, " ")]));
    let (root, _mounted) = mount_app("/outbox");
    until_text(&root, "Weather").await;
    assert!(has_text(&root, "No subject") && !has_text(&root, "It rains."));
    find(&root, "summary").click();
    until_text(&root, "It rains.").await;
    for text in [
        "ada@vals.example",
        "quiet@example.com",
        "connection refused",
        "Next try",
        "map.png (image/png, 2.0 kB)",
    ] {
        assert!(has_text(&root, text), "no {text}");
    }
    assert!(!has_text(&root, "Cc"));
    assert_eq!(
        find(&root, "iframe").get_attribute("sandbox").as_deref(),
        Some("allow-scripts"),
        "what someone wrote has no origin here"
    );
    assert_eq!(
        link(&root, "The run that sent it")
            .get_attribute("href")
            .as_deref(),
        Some("/runs/018f3c7e-0000-7000-8000-000000000007")
    );
    assert_eq!(
        link(&root, "Download").get_attribute("href").as_deref(),
        Some("/v1/me/outbox/018f3c7e-0000-7000-8000-000000000001")
    );
}

#[wasm_bindgen_test]
async fn a_message_is_deleted_only_after_a_question() {
    let server = Server::start();
    server.on("GET /v1/session", 200, &me());
    server.on(OUTBOX, 200, &page(vec![message(1, "Weather")]));
    server.on_empty("DELETE /v1/me/outbox/018f3c7e-0000-7000-8000-000000000001", 204);
    let (root, _mounted) = mount_app("/outbox");
    until_text(&root, "Weather").await;
    find(&root, "summary").click();
    tick().await;
    button(&root, "Delete Weather").click();
    until_text(&root, "Delete “Weather”?").await;
    assert!(server.seen("DELETE").is_empty());
    server.on(OUTBOX, 200, &page(Vec::<OutboxEmail>::new()));
    button(&root, "Delete message").click();
    until_text(&root, "The outbox is empty").await;
    assert_eq!(server.seen("DELETE").len(), 1);
}

#[wasm_bindgen_test]
async fn the_outbox_is_for_who_is_signed_in() {
    let server = Server::start();
    let (root, _mounted) = mount_app("/outbox");
    until_text(&root, "Sign in to see this").await;
    until("nothing asked", || server.seen(OUTBOX).is_empty()).await;
    assert!(query(&root, ".outbox").is_none() && find_all(&root, "details").is_empty());
}
