//! What vals import from elsewhere: fetched by the server, from a registry on this machine, and locked with each version.

use std::fs;

use axum::http::StatusCode;
use hyper::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    command_line::{RunningServer, folder, last_word},
    registry::Registry,
};

/// A server that takes its packages from a registry of its own, and Ada on it.
struct Instance {
    folder: TempDir,
    registry: Registry,
    server: RunningServer,
    token: String,
}

impl Instance {
    async fn new() -> Self {
        let (folder, registry) = (folder(), Registry::new().await);
        let server = serve(&folder, &registry).await;
        let create = ["token", "create", "--user", "ada", "--name", "test"];
        Self {
            token: last_word(folder.path(), &create, "").await,
            folder,
            registry,
            server,
        }
    }

    /// The same accounts and vals, on a server that has nothing in its memory and no package on its disk.
    async fn renewed(self) -> Self {
        self.server.end().await;
        fs::remove_dir_all(self.folder.path().join("hamlet-data/cache")).expect("the cache");
        Self {
            server: serve(&self.folder, &self.registry).await,
            ..self
        }
    }

    async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        self.server.send(Method::POST, path, &self.token, body).await
    }

    async fn evaluate(&self, code: &str) -> (StatusCode, Value) {
        self.post("/v1/eval", &json!({"code": code})).await
    }

    /// Makes a val; gives its id, and what there was to warn of.
    async fn create(&self, name: &str, code: &str) -> (String, Value) {
        let (status, val) = self.post("/v1/vals", &json!({"name": name, "code": code})).await;
        assert_eq!((status, &val["code"]), (StatusCode::OK, &json!(code)), "{val}");
        (
            val["id"].as_str().expect("an id").to_owned(),
            val["warnings"].clone(),
        )
    }

    /// What the val's function gives.
    async fn call(&self, name: &str) -> Value {
        let (status, value) = self
            .post(&format!("/v1/run/ada.{name}"), &json!({"args": []}))
            .await;
        assert_eq!(status, StatusCode::OK, "{name}: {value}");
        value
    }
}

async fn serve(folder: &TempDir, registry: &Registry) -> RunningServer {
    // With one worker ahead, the second run of a val gets one that was started with its lock before.
    let environment = [
        ("NPM_CONFIG_REGISTRY", registry.url.as_str()),
        ("HAMLET_BLANK_WORKERS", "1"),
    ];
    RunningServer::start_with(folder.path(), &environment).await
}

#[tokio::test]
async fn packages_are_fetched_once_by_the_server_and_read_by_vals() {
    let ada = Instance::new().await;
    ada.registry
        .publish("answer", "1.0.0", "module.exports = 42;", json!({}));

    let (status, value) = ada
        .evaluate("import answer from 'npm:answer@1'; export default answer;")
        .await;
    assert_eq!((status, value), (StatusCode::OK, json!(42)));
    let before = ada.registry.asked();
    // Whether an import is written out or only shows at run time.
    let computed = "export default (await import('npm:' + 'answer@1')).default;";
    for code in [
        "import answer from 'npm:answer@1'; export default answer + 1;",
        computed,
    ] {
        let (status, value) = ada.evaluate(code).await;
        assert_eq!(status, StatusCode::OK, "{value}");
    }
    assert_eq!(ada.registry.asked(), before, "it is asked for once");

    let (status, error) = ada
        .evaluate("import missing from 'npm:missing@1'; export default missing;")
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.contains("missing") && message.contains("does not exist"),
        "{message}"
    );
}

#[tokio::test]
async fn jsx_is_made_by_the_package_that_its_pragma_names() {
    let ada = Instance::new().await;
    let runtime = "exports.jsx = exports.jsxs = (tag, { children, id }) =>
        `<${tag} id=${id}>${[children].flat().join('')}</${tag}>`;";
    ada.registry.publish("tiny", "1.0.0", runtime, json!({}));
    let view = "/** @jsxImportSource npm:tiny@1 */
        const name: string = 'Bo';
        export default () => <p id=\"a\">hi <b id=\"b\">{name}</b></p>;";
    let (_, warnings) = ada.create("view", view).await;
    assert_eq!(warnings, Value::Null);
    ada.registry.publish(
        "tiny",
        "1.1.0",
        "exports.jsx = exports.jsxs = () => 'another';",
        json!({}),
    );
    assert_eq!(
        ada.call("view").await,
        "<p id=a>hi <b id=b>Bo</b></p>",
        "as it was when it was saved"
    );
    ada.create("new", view).await;
    assert_eq!(ada.call("new").await, "another");
}

const CALLS_ANSWER: &str = "import answer from 'npm:answer@^1'; export default () => answer;";

#[tokio::test]
async fn a_version_keeps_what_its_imports_were_when_it_was_saved() {
    let ada = Instance::new().await;
    let answer = "module.exports = [VERSION, ...require('deep')];";
    let publish = |registry: &Registry, version: &str| {
        let code = answer.replace("VERSION", &json!(version).to_string());
        registry.publish("answer", version, &code, json!({"deep": "^1"}));
        let code = format!("module.exports = [{}];", json!(version));
        registry.publish("deep", version, &code, json!({}));
    };
    publish(&ada.registry, "1.0.0");
    let (old, warnings) = ada.create("old", CALLS_ANSWER).await;
    assert_eq!(warnings, Value::Null);

    publish(&ada.registry, "1.1.0");
    ada.create(
        "deep",
        "import deep from 'npm:deep@^1.1'; export default () => deep;",
    )
    .await;
    ada.create("new", CALLS_ANSWER).await;
    let imports_both = "import old from 'https://esm.town/v/ada/old'; import own from 'npm:answer@^1.1';
        export default () => [old(), own];";
    ada.create("both", imports_both).await;
    let foreseen = "export default async () => (await import('https://esm.town/v/ada/old')).default();";
    ada.create("foreseen", foreseen).await;
    let (before, after) = (json!(["1.0.0", "1.0.0"]), json!(["1.1.0", "1.1.0"]));
    let see = async |ada: &Instance| {
        assert_eq!(
            ada.call("old").await,
            before,
            "what it was, and what that asks for"
        );
        assert_eq!(ada.call("deep").await, json!(["1.1.0"]));
        assert_eq!(ada.call("new").await, after, "a new save takes what there is now");
        assert_eq!(
            ada.call("both").await,
            json!([before, after]),
            "each goes by its own"
        );
        let named = ada.call("foreseen").await;
        assert_eq!(named, before, "also where it is imported at run time");
    };
    see(&ada).await;

    let ada = ada.renewed().await;
    publish(&ada.registry, "1.2.0");
    see(&ada).await;
    let asked = ada.registry.asked();
    see(&ada).await;
    assert_eq!(ada.registry.asked(), asked, "a run asks nobody");

    let path = format!("/v1/vals/{old}/versions");
    let code = format!("{CALLS_ANSWER} // Again.");
    let (status, _) = ada.post(&path, &json!({"code": code})).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(ada.call("old").await[0], "1.2.0");
}

#[tokio::test]
async fn a_save_warns_of_what_cant_be_had_and_is_kept() {
    let ada = Instance::new().await;
    ada.registry
        .publish("answer", "1.0.0", "module.exports = 42;", json!({}));
    let code = "import late from 'npm:late@1'; import answer from 'npm:answer@1';
        export default () => [answer, late];";
    let (_, warnings) = ada.create("both", code).await;
    let [warning] = warnings.as_array().expect("warnings").as_slice() else {
        panic!("one warning, not {warnings}");
    };
    let warning = warning.as_str().expect("a sentence");
    assert!(
        warning.starts_with("\"npm:late@1\" could not be had") && warning.contains("does not exist"),
        "{warning}"
    );
    let (status, _) = ada.post("/v1/run/ada.both", &json!({"args": []})).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);

    ada.registry
        .publish("late", "1.0.0", "module.exports = 1;", json!({}));
    ada.registry
        .publish("answer", "1.1.0", "module.exports = 43;", json!({}));
    assert_eq!(ada.call("both").await, json!([42, 1]), "what was locked stays");
    ada.registry
        .publish("late", "1.1.0", "module.exports = 2;", json!({}));
    let ada = ada.renewed().await;
    assert_eq!(ada.call("both").await, json!([42, 1]), "and what came later too");

    let (_, warnings) = ada
        .create("own", "import 'https://esm.town/v/ada/both'; let let;")
        .await;
    assert_eq!(warnings, Value::Null, "code that is none imports nothing");
}

#[tokio::test]
async fn a_package_that_is_built_on_node_s_http_reaches_the_instance() {
    let ada = Instance::new().await;
    let client = "const http = require('http');\n\
        module.exports = (address, headers) => new Promise((resolve, reject) => {\n\
          http.get(address, { headers }, (answer) => {\n\
            let text = '';\n\
            answer.on('data', (part) => text += part).on('end', () => resolve(text));\n\
          }).on('error', reject);\n\
        });";
    ada.registry.publish("client", "1.0.0", client, json!({}));
    let code = "import get from 'npm:client@1';\n\
        const headers = { authorization: `Bearer ${process.env.valtown}` };\n\
        export default JSON.parse(await get(process.env.VALTOWN_API_URL + '/v1/me', headers)).username;";
    let (status, value) = ada.evaluate(code).await;
    assert_eq!((status, value), (StatusCode::OK, json!("ada")));
}
