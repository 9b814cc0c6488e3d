//! Vals of another instance, where the settings name one.

use std::fs;

use axum::http::StatusCode;
use hamlet_models::{Privacy, ValKind};
use hamlet_server::config::Settings;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::test_app::{Client, TestApp};

/// What `https://esm.town` has; what begins with `/` leads there.
const MODULES: [(&str, &str); 6] = [
    ("/v/steve/tool", "/v/steve/tool?v=3"),
    (
        "/v/steve/tool?v=3",
        "import { deep } from './deep'; import { far } from 'https://esm.town/v/joe/far';
         export const said: string = `tool ${deep} ${far}`;",
    ),
    ("/v/steve/deep", "export const deep = 'deep';"),
    ("/v/joe/far", "export const far = 'far';"),
    ("/v/ada/secret", "export const said = 'not hers';"),
    ("/v/ada/missing", "export const said = 'not hers';"),
];

/// An instance with this fallback, whose cache has the other one's modules: no test reaches that one.
async fn instance(fallback: Option<&str>) -> TestApp {
    let settings = Settings {
        module_fallback: fallback.map(str::to_owned),
        ..Settings::default()
    };
    let app = TestApp::running_with(settings).await;
    let folder = app.data_dir().join("cache/remote/https/esm.town");
    fs::create_dir_all(&folder).expect("the cache");
    for (path, text) in MODULES {
        let (code, headers) = match text.starts_with('/') {
            true => ("", json!({"location": text})),
            false => (text, json!({"content-type": "application/typescript"})),
        };
        let about = json!({"headers": headers, "url": format!("https://esm.town{path}"), "time": 1});
        let name: String = Sha256::digest(path)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let file = format!("{code}\n// denoCacheMetadata={about}");
        fs::write(folder.join(name), file).expect("a cached module");
    }
    app
}

/// What the import of this address says, however it is written.
async fn said(user: &Client, address: &str) -> String {
    let codes = [
        format!("import {{ said }} from '{address}'; export default said;"),
        format!("export default (await import('{address}')).said;"),
        format!("export default (await import('{address}' + '')).said;"),
    ];
    let mut all = Vec::new();
    for code in codes {
        let answer = user.post("/v1/eval", &json!({"code": code})).await;
        all.push(match answer.status {
            StatusCode::OK => answer.json::<String>(),
            _ => answer.text().to_owned(),
        });
    }
    let same = |said: &String| *said == all[0] || said.contains("there is no val");
    assert!(all.iter().all(same), "{all:?}");
    all.swap_remove(0)
}

#[tokio::test]
async fn what_is_not_here_comes_from_the_instance_that_the_settings_name() {
    let app = instance(Some("https://esm.town")).await;
    let ada = app.user("ada").await;
    for address in [
        "https://esm.town/v/steve/tool",
        "https://esm.town/v/@steve/tool.ts?v=3",
    ] {
        assert_eq!(said(&ada, address).await, "tool deep far");
    }
    let code = "import { said } from 'https://esm.town/v/steve/tool'; export default () => said;";
    let val = ada
        .write_val("locked", ValKind::Script, Privacy::Public, code)
        .await;
    assert_eq!(val.warnings, [""; 0]);
    assert_eq!(
        ada.post("/v1/run/ada.locked", &json!([])).await.value(),
        "tool deep far"
    );
    let lock = app.store.version_lock(val.val.id, 0).await.expect("the store");
    let lock = lock.expect("a lock");
    assert!(
        lock.complete && lock.text.contains("https://esm.town/v/steve/deep"),
        "{}",
        lock.text
    );

    app.user("steve").await;
    let own = said(&ada, "https://esm.town/v/steve/tool").await;
    assert!(own.contains("there is no val steve/tool"), "{own}");
}

#[tokio::test]
async fn nobody_else_is_asked_for_vals_of_a_user_who_is_here() {
    let app = instance(Some("https://esm.town")).await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);
    let code = "export const said = 'hers';";
    ada.write_val("secret", ValKind::Script, Privacy::Private, code)
        .await;
    assert_eq!(said(&ada, "https://esm.town/v/ada/secret").await, "hers");
    let hidden = said(&bob, "https://esm.town/v/ada/secret").await;
    let missing = said(&bob, "https://esm.town/v/ada/missing").await;
    assert!(hidden.contains("there is no val ada/secret"), "{hidden}");
    assert_eq!(hidden.replace("secret", "missing"), missing);
    let standard = said(&bob, "https://esm.town/v/std/nothing").await;
    assert!(standard.contains("there is no val std/nothing"), "{standard}");
}

#[tokio::test]
async fn a_save_warns_of_what_the_other_instance_has_not() {
    // No such host is anywhere.
    let app = instance(Some("https://vals.invalid")).await;
    let ada = app.user("ada").await;
    let code = "import { said } from '../steve/tool'; export default () => said;";
    let val = ada
        .write_val("warned", ValKind::Script, Privacy::Public, code)
        .await;
    let [warning] = val.warnings.as_slice() else {
        panic!("one warning, not {:?}", val.warnings);
    };
    assert!(
        warning.starts_with("\"https://vals.invalid/v/steve/tool\" could not be had"),
        "{warning}"
    );
}

#[tokio::test]
async fn without_that_setting_no_import_of_a_val_leaves_the_instance() {
    let app = instance(None).await;
    let ada = app.user("ada").await;
    let own = said(&ada, "https://esm.town/v/steve/tool").await;
    assert!(own.contains("there is no val steve/tool"), "{own}");
}
