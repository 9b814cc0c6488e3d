//! `/v1/blob`: bytes by key.

use axum::{
    body::{Body, Bytes},
    http::{Method, StatusCode},
};
use futures_util::stream;
use hamlet_models::{Blob, ProblemCode};
use hamlet_server::{
    auth::{BLOB_READ, BLOB_WRITE, VAL_READ},
    config::Settings,
};
use hamlet_store::Store;

use crate::{
    s3::S3,
    test_app::{Answer, Client, TestApp},
};

/// Makes a test of this function with blobs in a folder and one with blobs in a bucket.
macro_rules! both {
    ($name:ident) => {
        both!($name, Settings::default());
    };
    ($name:ident, $settings:expr) => {
        mod $name {
            use super::*;

            #[tokio::test]
            async fn in_a_folder() {
                super::$name(TestApp::with_settings($settings).await).await;
            }

            #[tokio::test]
            async fn in_a_bucket() {
                let s3 = S3::start().await;
                super::$name(TestApp::with_bucket($settings, Some(s3.bucket())).await).await;
            }
        }
    };
}

async fn put(client: &Client, key: &str, body: impl Into<Body>) -> Answer {
    client
        .send(Method::POST, &format!("/v1/blob/{key}"), body.into())
        .await
}

async fn keys(client: &Client, query: &str) -> Vec<String> {
    let blobs: Vec<Blob> = client.get(&format!("/v1/blob{query}")).await.json();
    blobs.into_iter().map(|blob| blob.key.into()).collect()
}

both!(bytes_come_back_as_they_were_whatever_the_content_type);
async fn bytes_come_back_as_they_were_whatever_the_content_type(app: TestApp) {
    let ada = app.user("ada").await;
    let bytes: Vec<u8> = (0..=255).cycle().take(3_000_000).collect();
    for content_type in ["application/json", "text/plain", "application/octet-stream"] {
        let sent = put(&ada.with("content-type", content_type), "big", bytes.clone()).await;
        assert_eq!((sent.status, sent.body.len()), (StatusCode::CREATED, 0));
        let read = ada.get("/v1/blob/big").await;
        assert_eq!(
            (read.status, read.header("content-type")),
            (StatusCode::OK, "application/octet-stream")
        );
        assert_eq!(read.header("content-length"), "3000000");
        assert!(read.body == bytes, "{content_type}");
    }
    assert_eq!(
        put(&ada, "empty", Body::empty()).await.status,
        StatusCode::CREATED
    );
    assert_eq!(ada.get("/v1/blob/empty").await.body.len(), 0);
}

both!(a_key_is_the_same_however_its_slashes_are_written);
async fn a_key_is_the_same_however_its_slashes_are_written(app: TestApp) {
    let ada = app.user("ada").await;
    put(&ada, "a/b", "one").await;
    assert_eq!(ada.get("/v1/blob/a%2Fb").await.text(), "one");
    put(&ada, "a%2Fb", "two").await;
    assert_eq!(ada.get("/v1/blob/a/b").await.text(), "two");
    for key in [
        "%2E%2E%2F%2E%2E%2Fetc%2Fpasswd",
        "caf%C3%A9",
        "a%20b+c%25",
        "A/b",
        "x//y",
        ".hidden",
    ] {
        put(&ada, key, key.to_owned()).await;
        assert_eq!(ada.get(&format!("/v1/blob/{key}")).await.text(), key);
    }
    assert_eq!(
        keys(&ada, "").await,
        [
            "../../etc/passwd",
            ".hidden",
            "A/b",
            "a b+c%",
            "a/b",
            "café",
            "x//y"
        ]
    );
}

both!(a_list_has_sizes_and_times_and_goes_by_prefix);
async fn a_list_has_sizes_and_times_and_goes_by_prefix(app: TestApp) {
    let ada = app.user("ada").await;
    for key in ["logs/2", "logs/1", "Logs/3", "other", "100%25", "1000"] {
        put(&ada, key, "12345").await;
    }
    assert_eq!(keys(&ada, "?prefix=logs/").await, ["logs/1", "logs/2"]);
    assert_eq!(
        keys(&ada, "?prefix=100%25").await,
        ["100%"],
        "a prefix is no pattern"
    );
    assert_eq!(keys(&ada, "?prefix=%00").await, Vec::<String>::new());
    let answer = ada.get("/v1/blob?prefix=other").await.value();
    assert_eq!(
        (&answer[0]["key"], &answer[0]["size"]),
        (&"other".into(), &5.into())
    );
    assert!(
        answer[0]["lastModified"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z'))
    );
}

both!(a_blob_is_deleted_once);
async fn a_blob_is_deleted_once(app: TestApp) {
    let ada = app.user("ada").await;
    put(&ada, "a", "1").await;
    ada.delete("/v1/blob/a").await.nothing();
    ada.delete("/v1/blob/a").await.refused(ProblemCode::NotFound);
    ada.get("/v1/blob/a").await.refused(ProblemCode::NotFound);
    assert!(keys(&ada, "").await.is_empty());
}

both!(keys_that_are_none_are_refused);
async fn keys_that_are_none_are_refused(app: TestApp) {
    let ada = app.user("ada").await;
    put(&ada, &"k".repeat(512), "1").await;
    for key in ["k".repeat(513), "a%00b".to_owned(), "%FF".to_owned()] {
        let refused = put(&ada, &key, "1").await.problem();
        assert_eq!(refused.code.status(), 400, "{key}");
    }
    put(&ada, "", "1").await.problem();
}

both!(an_account_sees_its_own_blobs_alone);
async fn an_account_sees_its_own_blobs_alone(app: TestApp) {
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    put(&ada, "mine", "1").await;
    eve.get("/v1/blob/mine").await.refused(ProblemCode::NotFound);
    eve.delete("/v1/blob/mine").await.refused(ProblemCode::NotFound);
    assert!(keys(&eve, "").await.is_empty());
    app.anonymous()
        .get("/v1/blob")
        .await
        .refused(ProblemCode::SignedOut);
    app.anonymous()
        .get("/v1/blob/mine")
        .await
        .refused(ProblemCode::SignedOut);
    put(&app.anonymous(), "mine", "2")
        .await
        .refused(ProblemCode::SignedOut);
}

both!(a_token_does_what_its_scopes_say);
async fn a_token_does_what_its_scopes_say(app: TestApp) {
    let ada = app.user("ada").await;
    put(&ada, "a", "1").await;
    let with = async |scope| app.token(&ada, [scope].into_iter().collect()).await;
    let (reader, writer, other) = (
        with(BLOB_READ).await,
        with(BLOB_WRITE).await,
        with(VAL_READ).await,
    );
    assert_eq!(reader.get("/v1/blob/a").await.text(), "1");
    assert_eq!(put(&writer, "a", "2").await.status, StatusCode::CREATED);
    for client in [&writer, &other] {
        client.get("/v1/blob/a").await.refused(ProblemCode::MissingScope);
        client.get("/v1/blob").await.refused(ProblemCode::MissingScope);
    }
    for client in [&reader, &other] {
        put(client, "a", "3").await.refused(ProblemCode::MissingScope);
        client
            .delete("/v1/blob/a")
            .await
            .refused(ProblemCode::MissingScope);
    }
}

both!(
    what_is_too_large_or_breaks_off_leaves_nothing_behind,
    Settings {
        request_body_mb: Some(1),
        ..Settings::default()
    }
);
async fn what_is_too_large_or_breaks_off_leaves_nothing_behind(app: TestApp) {
    let ada = app.user("ada").await;
    put(&ada, "a", "before").await;
    let announced = ada.with("content-length", "1000001");
    put(&announced, "a", "short").await.refused(ProblemCode::TooLarge);
    let chunks = stream::iter((0..11).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![0; 100_000]))));
    put(&ada, "a", Body::from_stream(chunks))
        .await
        .refused(ProblemCode::TooLarge);
    let broken = stream::iter([Ok(Bytes::from("half")), Err(std::io::Error::other("gone"))]);
    put(&ada, "a", Body::from_stream(broken))
        .await
        .refused(ProblemCode::Malformed);
    assert_eq!(ada.get("/v1/blob/a").await.text(), "before");
    assert_eq!(keys(&ada, "").await, ["a"]);
}

both!(what_is_in_a_blob_is_never_a_page_of_this_site);
async fn what_is_in_a_blob_is_never_a_page_of_this_site(app: TestApp) {
    let ada = app.user("ada").await;
    put(&ada, "page.html", "<script>1</script>").await;
    let read = ada.with("accept", "text/html").get("/v1/blob/page.html").await;
    assert_eq!(read.header("content-disposition"), "attachment");
    assert_eq!(read.header("content-security-policy"), "sandbox");
    assert_eq!(read.header("x-content-type-options"), "nosniff");
}

both!(a_blob_that_is_being_read_is_whole_while_it_is_replaced);
async fn a_blob_that_is_being_read_is_whole_while_it_is_replaced(app: TestApp) {
    let ada = app.user("ada").await;
    let (one, other) = (vec![1; 2_000_000], vec![2; 2_000_000]);
    put(&ada, "a", one.clone()).await;
    let key = "a".parse().expect("a key");
    let before = app.store.get_blob(ada.id, &key).await.expect("a blob");
    put(&ada, "a", other.clone()).await;
    assert!(read(before).await == one);
    assert!(ada.get("/v1/blob/a").await.body == other);
    assert_eq!(Store::sweep_blobs(&app.store).await.expect("a sweep"), 0);
}

async fn read(blob: hamlet_store::BlobContent) -> Vec<u8> {
    use futures_util::TryStreamExt;
    let parts: Vec<Bytes> = blob.bytes.try_collect().await.expect("bytes");
    parts.concat()
}

both!(
    blobs_take_no_more_room_than_is_set,
    Settings {
        blobs_mb: Some(1),
        ..Settings::default()
    }
);
async fn blobs_take_no_more_room_than_is_set(app: TestApp) {
    let ada = app.user("ada").await;
    put(&ada, "a", vec![0; 600_000]).await;
    let problem = put(&ada, "b", vec![0; 600_000])
        .await
        .refused(ProblemCode::Invalid);
    assert!(problem.message.contains("1 MB"), "{}", problem.message);
    assert_eq!(put(&ada, "a", vec![0; 900_000]).await.status, StatusCode::CREATED);
    assert_eq!(keys(&ada, "").await, ["a"]);
}

/// A server that keeps bytes in a bucket.
async fn in_bucket(s3: &S3) -> TestApp {
    TestApp::with_bucket(Settings::default(), Some(s3.bucket())).await
}

#[tokio::test]
async fn a_bucket_has_what_is_kept_and_nothing_else() {
    let s3 = S3::start().await;
    let app = in_bucket(&s3).await;
    let ada = app.user("ada").await;
    assert_eq!(s3.keys(), Vec::<String>::new(), "not even what the start tried");
    put(&ada, "a", "one").await;
    put(&ada, "a", "other").await;
    let keys = s3.keys();
    assert!(
        keys.len() == 1 && keys[0].starts_with(&format!("hamlet/{}/", ada.id)),
        "{keys:?}"
    );
    ada.delete("/v1/blob/a").await.nothing();
    assert_eq!(s3.keys(), Vec::<String>::new());
    ada.post("/v1/email", &serde_json::json!({"to": "bob@example.com"}))
        .await
        .value();
    assert_eq!(s3.keys().len(), 1, "mail that waits is there too");
    assert!(!app.data_dir().join("blobs").exists());
}

#[tokio::test]
async fn what_is_large_goes_to_a_bucket_in_parts_and_leaves_none_behind() {
    let s3 = S3::start().await;
    let app = in_bucket(&s3).await;
    let ada = app.user("ada").await;
    let bytes: Vec<u8> = (0..=255).cycle().take(21_000_000).collect();
    put(&ada, "large", bytes.clone()).await;
    assert!(ada.get("/v1/blob/large").await.body == bytes);
    let parts = bytes
        .chunks(1_000_000)
        .map(|part| Ok(Bytes::copy_from_slice(part)));
    let broken = stream::iter(
        parts
            .chain([Err(std::io::Error::other("gone"))])
            .collect::<Vec<_>>(),
    );
    put(&ada, "large", Body::from_stream(broken))
        .await
        .refused(ProblemCode::Malformed);
    while s3.unfinished() > 0 {
        tokio::task::yield_now().await;
    }
    assert!(ada.get("/v1/blob/large").await.body == bytes);
    assert_eq!(s3.keys().len(), 1);
}

#[tokio::test]
async fn a_bucket_is_swept_of_what_no_row_names_and_of_nothing_that_is_not_ours() {
    let s3 = S3::start().await;
    let app = in_bucket(&s3).await;
    let ada = app.user("ada").await;
    for key in ["a", "b", "c"] {
        put(&ada, key, key).await;
    }
    let id = "018f3c7e-0000-7000-8000-000000000001";
    let left = [
        format!("hamlet/{}/{id}", ada.id),
        format!("hamlet/mail/{id}"),
        format!("hamlet/outbox/{id}"),
    ];
    for key in &left {
        s3.put(key, "left");
    }
    for key in ["hamlet/else/x", "hamlet/readme", "other/x"] {
        s3.put(key, "of someone else");
    }
    let before = s3.keys();
    assert_eq!(
        app.store.sweep_blobs().await.expect("a sweep"),
        0,
        "what is young may go on"
    );
    s3.age();
    assert_eq!(app.store.sweep_blobs().await.expect("a sweep"), left.len());
    let kept: Vec<_> = before.into_iter().filter(|key| !left.contains(key)).collect();
    assert_eq!(s3.keys(), kept);
    assert_eq!(keys(&ada, "").await, ["a", "b", "c"]);
}
