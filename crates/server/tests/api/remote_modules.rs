//! What vals import by `https:`: fetched and locked when a version is saved, and what becomes of it when its origin
//! changes, goes down or leads elsewhere.

use std::{fs, path::Path};

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    command_line::{RunningServer, folder, last_word},
    own_network::{Traps, in_own_network},
};

/// A server that trusts the hosts of the network, and Ada on it.
pub(crate) struct Ada {
    folder: TempDir,
    server: RunningServer,
    token: String,
    settings: Vec<(&'static str, String)>,
}

impl Ada {
    pub(crate) async fn new() -> Self {
        Self::with(&[]).await
    }

    /// On a server with these settings.
    pub(crate) async fn with(settings: &[(&'static str, &str)]) -> Self {
        let mut settings: Vec<_> = settings
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        let trusted = std::env::var("DENO_CERT").expect("whom to trust");
        settings.push(("DENO_CERT", trusted));
        let folder = folder();
        let server = serve(folder.path(), &settings).await;
        let create = ["token", "create", "--user", "ada", "--name", "test"];
        Self {
            token: last_word(folder.path(), &create, "").await,
            folder,
            server,
            settings,
        }
    }

    /// The same accounts and vals on a server that has nothing in its memory.
    pub(crate) async fn restarted(self) -> Self {
        self.server.end().await;
        Self {
            server: serve(self.folder.path(), &self.settings).await,
            ..self
        }
    }

    /// The same without anything that was ever fetched.
    pub(crate) async fn without_cache(self) -> Self {
        fs::remove_dir_all(self.folder.path().join("hamlet-data/cache")).expect("the cache");
        self.restarted().await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        self.server.send(Method::POST, path, &self.token, body).await
    }

    /// Makes a val; gives its id, and what there was to warn of.
    pub(crate) async fn create(&self, name: &str, code: &str) -> (String, Vec<String>) {
        let (status, val) = self.post("/v1/vals", &json!({"name": name, "code": code})).await;
        assert_eq!(status, StatusCode::OK, "{val}");
        let warnings = val["warnings"].as_array().into_iter().flatten();
        let warnings = warnings.filter_map(|warning| warning.as_str().map(str::to_owned));
        (val["id"].as_str().expect("an id").to_owned(), warnings.collect())
    }

    /// Saves another version.
    pub(crate) async fn save(&self, id: &str, code: &str) {
        let path = format!("/v1/vals/{id}/versions");
        let (status, val) = self.post(&path, &json!({"code": code})).await;
        assert_eq!(status, StatusCode::CREATED, "{val}");
    }

    /// What the val's function gives, or the sentence that says why it gives nothing.
    pub(crate) async fn call(&self, name: &str) -> Result<Value, String> {
        let path = format!("/v1/run/ada.{name}");
        match self.post(&path, &json!({"args": []})).await {
            (StatusCode::OK, value) => Ok(value),
            (_, error) => Err(error["message"].as_str().expect("a sentence").to_owned()),
        }
    }
}

async fn serve(folder: &Path, settings: &[(&'static str, String)]) -> RunningServer {
    let settings: Vec<_> = settings
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    RunningServer::start_with(folder, &settings).await
}

const CALLS: &str = "import { said } from 'https://modules.example/m.ts'; export default () => said;";

#[test]
fn a_version_keeps_what_its_addresses_gave_and_refuses_what_they_give_instead() {
    in_own_network(async |network| {
        let origins = &network.origins;
        let deep = "https://modules.example/deep.ts";
        origins.put(
            "https://modules.example/m.ts",
            "import { deep } from './deep.ts'; export const said: string = `m ${deep}`;",
        );
        origins.put(deep, "export const deep = 'old';");
        let ada = Ada::new().await;
        let (id, warnings) = ada.create("main", CALLS).await;
        assert_eq!(warnings, [""; 0]);
        assert_eq!(ada.call("main").await, Ok(json!("m old")));

        origins.put(deep, "export const deep = 'new';");
        let ada = ada.restarted().await;
        origins.asked();
        assert_eq!(ada.call("main").await, Ok(json!("m old")));
        assert_eq!(origins.asked(), [""; 0], "nobody is asked");

        let ada = ada.without_cache().await;
        let refused = ada.call("main").await.expect_err("it is another module now");
        assert!(
            refused.contains("modules.example/m.ts\" is no longer what it was"),
            "{refused}"
        );
        ada.save(&id, &format!("{CALLS} // Again.")).await;
        assert_eq!(
            ada.call("main").await,
            Ok(json!("m new")),
            "a new save takes what there is"
        );
    });
}

#[test]
fn an_origin_that_is_down_is_missed_by_new_imports_alone() {
    in_own_network(async |network| {
        let origins = &network.origins;
        origins.put("https://modules.example/m.ts", "export const said = 'here';");
        let ada = Ada::new().await;
        ada.create("main", CALLS).await;
        origins.go_down(true);
        let ada = ada.restarted().await;
        assert_eq!(ada.call("main").await, Ok(json!("here")));

        let later = CALLS.replace("m.ts", "later.ts");
        let (_, warnings) = ada.create("later", &later).await;
        let [warning] = warnings.as_slice() else {
            panic!("one warning, not {warnings:?}");
        };
        assert!(
            warning.starts_with("\"https://modules.example/later.ts\" could not be had"),
            "{warning}"
        );
        let missing = ada.call("later").await.expect_err("it is not there");
        assert!(missing.contains("https://modules.example/later.ts"), "{missing}");

        origins.go_down(false);
        origins.put("https://modules.example/later.ts", "export const said = 'later';");
        assert_eq!(ada.call("later").await, Ok(json!("later")));
        origins.put(
            "https://modules.example/later.ts",
            "export const said = 'changed';",
        );
        assert_eq!(
            ada.call("later").await,
            Ok(json!("later")),
            "locked when it was had"
        );
    });
}

#[test]
fn an_import_is_led_to_other_hosts_and_to_no_private_address() {
    in_own_network(async |network| {
        let origins = &network.origins;
        let traps = Traps::set(&[80, 443]).await;
        origins.redirect("https://modules.example/m.ts", "https://other.example/there/m.ts");
        origins.put(
            "https://other.example/there/m.ts",
            "import { said as deep } from './deep.ts'; export const said = [deep, import.meta.url];",
        );
        origins.put(
            "https://other.example/there/deep.ts",
            "export const said = 'deep';",
        );
        let ada = Ada::new().await;
        let (_, warnings) = ada.create("main", CALLS).await;
        assert_eq!(warnings, [""; 0]);
        let there = json!(["deep", "https://other.example/there/m.ts"]);
        assert_eq!(ada.call("main").await, Ok(there.clone()));
        origins.redirect(
            "https://modules.example/m.ts",
            "https://modules.example/elsewhere.ts",
        );
        origins.put(
            "https://modules.example/elsewhere.ts",
            "export const said = 'elsewhere';",
        );
        assert_eq!(ada.call("main").await, Ok(there.clone()));
        let ada = ada.without_cache().await;
        assert_eq!(ada.call("main").await, Ok(there), "a redirect is locked too");

        for (name, to) in [
            ("number", "https://10.0.0.1/m.ts"),
            ("local", "http://localhost/m.ts"),
            ("metadata", "http://169.254.169.254/latest/meta-data"),
        ] {
            let from = format!("https://modules.example/{name}.ts");
            origins.redirect(&from, to);
            let (_, warnings) = ada
                .create(name, &format!("import '{from}'; export default () => 1;"))
                .await;
            assert_eq!(warnings.len(), 1, "{warnings:?}");
            assert!(ada.call(name).await.is_err(), "{name}");
        }
        assert_eq!(traps.who_came(), [""; 0]);
    });
}

#[test]
fn a_val_of_a_user_who_is_not_here_comes_from_the_fallback_and_is_locked() {
    in_own_network(async |network| {
        let origins = &network.origins;
        let tool = "https://upstream.example/v/steve/tool";
        origins.put(
            tool,
            "import { deep } from './deep'; export const said: string = `tool ${deep}`;",
        );
        origins.put(
            "https://upstream.example/v/steve/deep",
            "export const deep = 'old';",
        );
        origins.put(
            "https://upstream.example/v/ada/lib",
            "export const said = 'not hers';",
        );
        let ada = Ada::with(&[("HAMLET_MODULE_FALLBACK", "https://upstream.example")]).await;
        let code = |path: &str| CALLS.replace("modules.example/m.ts", path);
        let (_, warnings) = ada.create("main", &code("esm.town/v/steve/tool")).await;
        assert_eq!(warnings, [""; 0]);
        assert_eq!(ada.call("main").await, Ok(json!("tool old")));

        origins.put(
            "https://upstream.example/v/steve/deep",
            "export const deep = 'new';",
        );
        assert_eq!(ada.call("main").await, Ok(json!("tool old")));
        origins.asked();
        let (_, warnings) = ada.create("own", &code("esm.town/v/ada/lib")).await;
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let missing = ada.call("own").await.expect_err("she has none");
        assert!(missing.contains("there is no val ada/lib"), "{missing}");
        assert_eq!(origins.asked(), [""; 0], "nobody is asked for what is hers");

        let ada = ada.without_cache().await;
        let refused = ada.call("main").await.expect_err("it is another module now");
        assert!(refused.contains("is no longer what it was"), "{refused}");
    });
}
