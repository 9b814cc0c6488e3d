//! What imports of vals lead to, for whom, and since when.

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use hamlet_models::{ExtendedVal, Privacy, ValKind};
use hamlet_server::config::Settings;
use serde_json::json;

use crate::test_app::{Answer, Client, TestApp};

async fn save(owner: &Client, val: &ExtendedVal, code: &str) {
    let path = format!("/v1/vals/{}/versions", val.id);
    let saved = owner.post(&path, &json!({"code": code})).await;
    assert_eq!(saved.status, StatusCode::CREATED, "{}", saved.text());
}

async fn hide(owner: &Client, val: &ExtendedVal) {
    let path = format!("/v1/vals/{}", val.id);
    owner.put(&path, &json!({"privacy": "private"})).await.nothing();
}

/// Asks an HTTP val for its page.
async fn visit(app: &TestApp, label: &str) -> Answer {
    let visitor = app.anonymous().with("host", &format!("{label}.localhost:8787"));
    visitor.send(Method::GET, "/", Body::empty()).await
}

const ASKS: [&str; 4] = [
    "import { word } from 'https://esm.town/v/ada/lib'; export default () => new Response(word);",
    "import { word } from 'https://esm.town/v/ada/through'; export default () => new Response(word);",
    "const { word } = await import('https://esm.town/v/@ADA/LIB'); export default () => new Response(word);",
    "export default async () => new Response((await import('https://esm.town/v/ada/' + 'lib')).word);",
];

#[tokio::test]
async fn a_warm_val_takes_what_was_saved_and_loses_what_was_hidden_however_it_imports() {
    let app = TestApp::running().await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);
    let write = async |owner: &Client, name: &str, kind, code: &str| {
        owner.write_val(name, kind, Privacy::Public, code).await
    };
    let lib = write(&ada, "lib", ValKind::Script, "export const word = 'old';").await;
    write(&ada, "through", ValKind::Script, "export * from './lib';").await;
    let labels = ["bob-a", "bob-b", "bob-c", "bob-d"];
    for (label, code) in labels.into_iter().zip(ASKS) {
        write(&bob, label.trim_start_matches("bob-"), ValKind::Http, code).await;
        assert_eq!(visit(&app, label).await.text(), "old", "{code}");
    }

    save(&ada, &lib, "export const word = 'new';").await;
    for (label, code) in labels.into_iter().zip(ASKS) {
        assert_eq!(visit(&app, label).await.text(), "new", "{code}");
    }

    hide(&ada, &lib).await;
    for (label, code) in labels.into_iter().zip(ASKS) {
        let refused = visit(&app, label).await;
        assert_eq!(
            refused.status,
            StatusCode::BAD_GATEWAY,
            "{code}: {}",
            refused.text()
        );
        assert!(
            refused.text().contains("there is no val"),
            "{code}: {}",
            refused.text()
        );
    }
}

#[tokio::test]
async fn a_private_val_is_not_imported_through_a_public_one() {
    let app = TestApp::running().await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);
    let script = async |owner: &Client, name: &str, privacy, code: &str| {
        owner.write_val(name, ValKind::Script, privacy, code).await;
    };
    script(&ada, "secret", Privacy::Private, "export const word = 'hush';").await;
    for (name, code) in [
        ("imports", "import { word } from './secret'; export { word };"),
        ("reexports", "export * from './secret';"),
        (
            "renames",
            "export { word } from 'https://esm.town/v/ada/secret?v=0';",
        ),
        ("loads", "export const { word } = await import('./secret');"),
        (
            "computes",
            "export const { word } = await import('./' + 'secret');",
        ),
    ] {
        script(&ada, name, Privacy::Public, code).await;
        let import = format!("import {{ word }} from 'https://esm.town/v/ada/{name}'; export default word;");
        for owner in [&ada, &bob] {
            let answer = owner.post("/v1/eval", &json!({"code": import})).await;
            if owner.id == ada.id {
                assert_eq!(answer.value(), "hush", "{name}");
                continue;
            }
            assert_eq!(
                answer.status,
                StatusCode::BAD_REQUEST,
                "{name}: {}",
                answer.text()
            );
            assert!(
                answer.text().contains("there is no val ada/secret") && !answer.text().contains("hush"),
                "{name}: {}",
                answer.text()
            );
        }
    }
}

#[tokio::test]
async fn a_save_warns_of_vals_that_are_not_there_for_its_author() {
    let app = TestApp::running().await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);
    ada.write_val("own", ValKind::Script, Privacy::Private, "export default 1;")
        .await;
    bob.write_val("secret", ValKind::Script, Privacy::Private, "export default 1;")
        .await;
    let code = "import own, { type Kind } from './own'; import blob from 'https://esm.town/v/std/blob';
        import a from './nolib'; import b from 'https://esm.town/v/bob/secret'; export * from '../bob/nothing';
        import c from './own?v=7'; import type { T } from './types';
        export default () => [own, blob, a, b, c, import('./later'), import('./own'), import('./' + 'computed')];";
    let val = ada
        .write_val("main", ValKind::Script, Privacy::Public, code)
        .await;
    assert_eq!(val.val.code.as_deref(), Some(code), "it is saved");
    let warning = |specifier: &str, name: &str| {
        format!(
            "\"{specifier}\" could not be had, and is tried again when the val runs: there is no val {name} that this \
             val may import"
        )
    };
    let mut expected = [
        warning("./nolib", "ada/nolib"),
        warning("https://esm.town/v/bob/secret", "bob/secret"),
        warning("../bob/nothing", "bob/nothing"),
        warning("./own?v=7", "ada/own?v=7"),
        warning("./later", "ada/later"),
    ];
    let mut warnings = val.warnings;
    expected.sort();
    warnings.sort();
    assert_eq!(warnings, expected);

    ada.write_val("nolib", ValKind::Script, Privacy::Private, "export default 1;")
        .await;
    let path = format!("/v1/vals/{}/versions", val.val.id);
    let saved = ada
        .post(
            &path,
            &json!({"code": "import a from './nolib'; export default a;"}),
        )
        .await;
    assert_eq!(saved.json::<ExtendedVal>().warnings, [""; 0]);
}

/// What `word` of the module at this address is, or why there is none; a save warns of the same.
async fn word_at(user: &Client, address: &str) -> Result<String, String> {
    let code = format!("import {{ word }} from '{address}'; export default word;");
    let saved = user
        .write_val("asks", ValKind::Script, Privacy::Private, &code)
        .await;
    let answer = user.post("/v1/eval", &json!({"code": code})).await;
    user.delete(&format!("/v1/vals/{}", saved.val.id)).await.nothing();
    if answer.status == StatusCode::OK {
        assert_eq!(saved.warnings, [""; 0], "{address}");
        return Ok(answer.json());
    }
    assert_eq!(saved.warnings.len(), 1, "{address}");
    Err(answer.text().to_owned())
}

#[tokio::test]
async fn every_address_that_the_instance_hands_out_names_its_vals() {
    let app = TestApp::running().await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);
    ada.write_val(
        "lib",
        ValKind::Script,
        Privacy::Private,
        "export const word = 'hers';",
    )
    .await;
    for host in [
        "hamlet.test",
        "myserver.lan:18951",
        "203.0.113.7",
        "127.0.0.1:8787",
        "localhost:8787",
    ] {
        let val = ada
            .with("host", host)
            .get("/v1/alias/ada/lib")
            .await
            .json::<ExtendedVal>();
        let address = val.val.links.module;
        assert_eq!(address, format!("http://{host}/v/ada/lib"));
        assert_eq!(word_at(&ada, &address).await.as_deref(), Ok("hers"));
        let hidden = word_at(&bob, &address).await.expect_err("private");
        assert!(hidden.contains("there is no val ada/lib"), "{hidden}");
    }
}

#[tokio::test]
async fn with_a_public_address_that_one_and_the_machines_own_name_vals_and_no_other() {
    let public = Settings {
        base_url: Some("https://vals.example.org".to_owned()),
        ..Settings::default()
    };
    let app = TestApp::running_with(public).await;
    let ada = app.user("ada").await;
    let lib = ada
        .write_val(
            "lib",
            ValKind::Script,
            Privacy::Private,
            "export const word = 'hers';",
        )
        .await;
    assert_eq!(lib.val.links.module, "https://vals.example.org/v/ada/lib");
    for own in [
        "https://vals.example.org/v/ada/lib",
        "https://vals.example.org:443/v/@Ada/Lib.ts?v=0",
        "http://localhost:8787/v/ada/lib",
        "http://127.0.0.1:8787/v/ada/lib",
        "https://esm.town/v/ada/lib",
    ] {
        assert_eq!(word_at(&ada, own).await.as_deref(), Ok("hers"), "{own}");
    }
    for other in ["http://127.0.0.1:9/v/ada/lib", "https://10.0.0.1/v/ada/lib"] {
        let refused = word_at(&ada, other).await.expect_err("not this instance");
        assert!(!refused.contains("there is no val"), "{refused}");
    }
}
