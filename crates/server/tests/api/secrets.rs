//! Secrets: written, given to vals, and never read back.

use std::{fs, path::Path, sync::Arc};

use hamlet_models::{ExtendedVal, Page, Privacy, ProblemCode, Secret, ValKind};
use hamlet_server::auth::{USER_READ, USER_WRITE};
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

use crate::test_app::{Client, TestApp};

const VALUE: &str = "hunter2-and-more";

async fn set(client: &Client, name: &str, body: Value) -> Secret {
    client.put(&format!("/v1/me/secrets/{name}"), &body).await.json()
}

async fn secrets(client: &Client) -> Vec<Secret> {
    client.get("/v1/me/secrets").await.json::<Page<Secret>>().data
}

#[tokio::test]
async fn a_secret_is_set_listed_by_name_and_deleted_and_its_value_never_comes_back() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let answer = ada.put("/v1/me/secrets/B_KEY", &json!({"value": VALUE})).await;
    assert!(!answer.text().contains(VALUE));
    let made: Secret = answer.json();
    assert_eq!((made.name.as_str(), made.val_ids), ("B_KEY", None));
    set(&ada, "A_KEY", json!({"value": VALUE})).await;
    let list = ada.get("/v1/me/secrets").await;
    assert!(!list.text().contains(VALUE), "{}", list.text());
    let names: Vec<_> = secrets(&ada)
        .await
        .into_iter()
        .map(|secret| secret.name.to_string())
        .collect();
    assert_eq!(names, ["A_KEY", "B_KEY"]);
    let page: Page<Secret> = ada.get("/v1/me/secrets?limit=1").await.json();
    assert_eq!((page.data.len(), page.links.next.is_some()), (1, true));
    ada.get("/v1/me/secrets/A_KEY")
        .await
        .refused(ProblemCode::MethodNotAllowed);

    ada.delete("/v1/me/secrets/A_KEY").await.nothing();
    ada.delete("/v1/me/secrets/A_KEY")
        .await
        .refused(ProblemCode::NotFound);
    assert_eq!(secrets(&ada).await.len(), 1);
}

#[tokio::test]
async fn what_is_no_secret_is_refused() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let theirs = eve.create_val("theirs", Privacy::Public).await;
    for name in ["1A", "A-B", "valtown", "HAMLET_RUN_ID"] {
        let refused = ada
            .put(&format!("/v1/me/secrets/{name}"), &json!({"value": "1"}))
            .await;
        assert_eq!(refused.problem().code.status(), 400, "{name}");
    }
    for name in ["HTTPS_PROXY", "no_proxy", "NPM_CONFIG_REGISTRY"] {
        let refused = ada
            .put(&format!("/v1/me/secrets/{name}"), &json!({"value": "1"}))
            .await
            .refused(ProblemCode::Invalid);
        assert!(refused.message.contains("no val gets"), "{}", refused.message);
    }
    let long = "v".repeat(32_769);
    for body in [
        json!({"value": long}),
        json!({"value": 1}),
        json!({"value": "1", "valIds": [theirs.id]}),
    ] {
        let problem = ada
            .put("/v1/me/secrets/A", &body)
            .await
            .refused(ProblemCode::Invalid);
        assert!(!problem.message.contains(&long));
    }
    ada.put("/v1/me/secrets/A", &json!({"valIds": null}))
        .await
        .refused(ProblemCode::NotFound);
    assert!(secrets(&ada).await.is_empty());
}

#[tokio::test]
async fn secrets_are_their_accounts_alone_and_need_the_users_scopes() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    set(&ada, "A", json!({"value": VALUE})).await;
    assert!(secrets(&eve).await.is_empty());
    eve.delete("/v1/me/secrets/A")
        .await
        .refused(ProblemCode::NotFound);
    app.anonymous()
        .get("/v1/me/secrets")
        .await
        .refused(ProblemCode::SignedOut);
    let reader = app.token(&ada, [USER_READ].into_iter().collect()).await;
    assert_eq!(secrets(&reader).await.len(), 1);
    reader
        .delete("/v1/me/secrets/A")
        .await
        .refused(ProblemCode::MissingScope);
    let new = json!({"value": "2"});
    reader
        .put("/v1/me/secrets/A", &new)
        .await
        .refused(ProblemCode::MissingScope);
    let writer = app.token(&ada, [USER_WRITE].into_iter().collect()).await;
    writer
        .get("/v1/me/secrets")
        .await
        .refused(ProblemCode::MissingScope);
}

#[tokio::test]
async fn a_value_is_in_no_file_and_no_log() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    let _logged = tracing::subscriber::set_default(subscriber);
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    // Tests beside this one may have told the log's sites in between that nobody listens.
    while !log.text().contains("/v1/me/secrets") {
        tracing::callsite::rebuild_interest_cache();
        secrets(&ada).await;
    }
    set(&ada, "A", json!({"value": VALUE})).await;
    ada.put("/v1/me/secrets/B", &json!({"value": VALUE, "valIds": 1}))
        .await
        .refused(ProblemCode::Invalid);
    app.store.close().await.expect("closed");
    assert!(
        log.text().matches("/v1/me/secrets").count() > 2,
        "the log is looked at"
    );
    assert!(!log.text().contains(VALUE));
    assert!(finds(app.data_dir(), b"ada"), "the files are looked at");
    assert!(!finds(app.data_dir(), VALUE.as_bytes()));
}

#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("a log")).into_owned()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a log").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Whether these bytes are in any file under the folder.
fn finds(folder: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).expect("a folder").any(|entry| {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => finds(&path, bytes),
            false => fs::read(&path)
                .expect("a file")
                .windows(bytes.len())
                .any(|window| window == bytes),
        }
    })
}

async fn call(client: &Client, name: &str) -> Value {
    client
        .post(&format!("/v1/run/ada.{name}"), &json!([]))
        .await
        .value()
}

async fn script(client: &Client, name: &str, code: &str) -> ExtendedVal {
    client
        .write_val(name, ValKind::Script, Privacy::Private, code)
        .await
}

#[tokio::test]
async fn vals_have_the_secrets_of_their_author_that_are_for_them() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let read = "export default () => [Deno.env.get('ALL') ?? null, process.env.ONE ?? null]";
    let one = script(&ada, "one", read).await;
    script(&ada, "other", read).await;
    ada.write_val("shared", ValKind::Script, Privacy::Public, read)
        .await;
    set(&ada, "ALL", json!({"value": "for all"})).await;
    set(&ada, "ONE", json!({"value": "for one", "valIds": [one.id]})).await;
    assert_eq!(call(&ada, "one").await, json!(["for all", "for one"]));
    assert_eq!(call(&ada, "other").await, json!(["for all", null]));
    let eval = json!({"code": format!("({})()", read.trim_start_matches("export default "))});
    assert_eq!(
        ada.post("/v1/eval", &eval).await.value(),
        json!(["for all", null])
    );
    // Who imports a val runs it with their own environment.
    let import = json!({"code": "import read from 'https://esm.town/v/ada/shared'; export default read()"});
    assert_eq!(eve.post("/v1/eval", &import).await.value(), json!([null, null]));

    set(&ada, "ONE", json!({"valIds": null})).await;
    set(&ada, "ALL", json!({"value": "changed"})).await;
    assert_eq!(call(&ada, "other").await, json!(["changed", "for one"]));
    ada.delete("/v1/me/secrets/ALL").await.nothing();
    assert_eq!(call(&ada, "other").await, json!([null, "for one"]));
}

#[tokio::test]
async fn an_http_val_that_is_warm_gets_a_changed_secret_with_its_next_request() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "export default () => new Response(Deno.env.get('KEY') ?? 'none')";
    ada.write_val("page", ValKind::Http, Privacy::Public, code).await;
    let page = app.anonymous().with("host", "ada-page.localhost:8787");
    assert_eq!(page.get("/").await.text(), "none");
    set(&ada, "KEY", json!({"value": "one"})).await;
    assert_eq!(page.get("/").await.text(), "one");
    set(&ada, "KEY", json!({"value": "two"})).await;
    assert_eq!(page.get("/").await.text(), "two");
}
