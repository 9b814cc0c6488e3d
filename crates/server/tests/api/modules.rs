//! Vals as modules to import.

use axum::http::StatusCode;
use hamlet_models::{Privacy, ProblemCode, ValKind};
use serde_json::json;

use crate::test_app::TestApp;

#[tokio::test]
async fn a_module_leads_to_its_latest_version_which_never_changes() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let val = ada
        .write_val(
            "Word",
            ValKind::Script,
            Privacy::Public,
            "export const word: string = \"one\";",
        )
        .await;
    ada.post(
        &format!("/v1/vals/{}/versions", val.id),
        &json!({"code": "export const word = \"two\";"}),
    )
    .await;

    let anyone = app.anonymous();
    let latest = anyone.get("/v/@ADA/word").await;
    assert_eq!(latest.status, StatusCode::FOUND);
    assert_eq!(latest.header("location"), "http://hamlet.test/v/ada/Word?v=1");
    assert_eq!(latest.header("cache-control"), "no-cache");
    let module = anyone.get(latest.header("location")).await;
    assert_eq!(
        (module.status, module.text()),
        (StatusCode::OK, "export const word = \"two\";")
    );
    assert_eq!(
        module.header("content-type"),
        "application/typescript; charset=utf-8"
    );
    assert_eq!(
        module.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(module.header("access-control-allow-origin"), "*");
    assert!(anyone.get("/v/ada/word?v=0").await.text().contains("\"one\""));
    anyone.get("/v/ada/word?v=2").await.refused(ProblemCode::NotFound);
    anyone.get("/v/ada/word?v=x").await.refused(ProblemCode::Invalid);
    anyone.get("/v/ada/missing").await.refused(ProblemCode::NotFound);
}

#[tokio::test]
async fn a_private_module_is_its_owners_alone() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    ada.write_val(
        "secret",
        ValKind::Script,
        Privacy::Private,
        "export const word = \"hush\";",
    )
    .await;
    for stranger in [eve, app.anonymous()] {
        for path in ["/v/ada/secret", "/v/ada/secret?v=0"] {
            let answer = stranger.get(path).await;
            answer.refused(ProblemCode::NotFound);
            assert!(
                !answer.text().contains("secret") && !answer.text().contains("hush"),
                "{}",
                answer.text()
            );
        }
    }
    let own = ada.get("/v/ada/secret?v=0").await;
    assert!(own.text().contains("hush"));
    assert_eq!(own.header("cache-control"), "private, no-cache");
    let writer = app
        .token(&ada, [hamlet_server::auth::VAL_WRITE].into_iter().collect())
        .await;
    writer
        .get("/v/ada/secret?v=0")
        .await
        .refused(ProblemCode::MissingScope);
}

#[tokio::test]
async fn jsx_is_named_as_such() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let code = "/** @jsxImportSource npm:preact */\nexport default () => <b>hi</b>;";
    ada.write_val("view", ValKind::Script, Privacy::Public, code)
        .await;
    assert_eq!(
        app.anonymous()
            .get("/v/ada/view?v=0")
            .await
            .header("content-type"),
        "text/tsx; charset=utf-8"
    );
}

#[tokio::test]
async fn a_browser_that_asks_for_a_page_gets_the_app_whatever_the_val() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.write_val(
        "secret",
        ValKind::Script,
        Privacy::Private,
        "export const word = \"hush\";",
    )
    .await;
    let browser = app
        .anonymous()
        .with("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    for path in [
        "/v/ada/secret",
        "/v/ada/missing",
        "/v/ada/secret/versions",
        "/u/ada",
        "/",
    ] {
        let page = browser.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(page.header("content-type").starts_with("text/html"), "{path}");
        assert!(!page.text().contains("hush"));
    }
}

#[tokio::test]
async fn who_asks_decides_between_typescript_and_javascript() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let code = "// kept\nexport const word: string = \"one\";\nexport { blob } from \"https://esm.town/v/std/blob\";";
    ada.write_val("word", ValKind::Script, Privacy::Public, code)
        .await;
    let anyone = app.anonymous();
    let typed = |answer: &crate::test_app::Answer| answer.text().contains(": string");
    for (name, value) in [
        ("user-agent", "Deno/2.9.6"),
        ("accept", "*/*"),
        ("accept", "application/typescript, text/javascript"),
    ] {
        let module = anyone.with(name, value).get("/v/ada/word?v=0").await;
        assert!(typed(&module), "{name}: {value}");
        assert_eq!(
            module.header("content-type"),
            "application/typescript; charset=utf-8"
        );
    }
    for (name, value) in [
        ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)"),
        ("sec-fetch-dest", "script"),
        ("accept", "text/javascript"),
    ] {
        let module = anyone.with(name, value).get("/v/ada/word?v=0").await;
        assert!(
            !typed(&module) && module.text().contains("const word = \"one\""),
            "{}",
            module.text()
        );
        assert!(
            module.text().contains("\"http://hamlet.test/v/std/blob.js\"")
                && !module.text().contains("esm.town"),
            "vals are this instance's: {}",
            module.text()
        );
        assert_eq!(module.header("content-type"), "text/javascript; charset=utf-8");
        assert_eq!(
            module.header("cache-control"),
            "public, max-age=31536000, immutable"
        );
        assert!(module.header("vary").contains("user-agent"));
    }
    let latest = anyone.get("/v/ada/word.js").await;
    assert_eq!(latest.header("location"), "http://hamlet.test/v/ada/word.js?v=0");
    assert!(!typed(&anyone.get(latest.header("location")).await));
    let browser = anyone.with("user-agent", "Mozilla/5.0");
    assert!(typed(&browser.get("/v/ada/word.ts?v=0").await));
    assert!(
        browser
            .get("/v/std/blob")
            .await
            .text()
            .contains("async function get")
    );
}

#[tokio::test]
async fn javascript_imports_vals_from_this_instance_and_the_rest_from_where_it_is() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let code = "import './near.ts'; export * from 'https://esm.town/v/@bob/tool?v=2';
        import 'npm:hono@4'; import 'https://esm.sh/preact'; import 'http://hamlet.test/v/bob/other';
        export const far = () => import('https://esm.town/v/bob/far'), text = 'https://esm.town/v/bob/text';";
    ada.write_val("word", ValKind::Script, Privacy::Public, code)
        .await;
    let answer = app.anonymous().get("/v/ada/word.js?v=0").await;
    for kept in [
        "\"http://hamlet.test/v/ada/near.js\"",
        "\"http://hamlet.test/v/bob/tool.js?v=2\"",
        "\"npm:hono@4\"",
        "\"https://esm.sh/preact\"",
        "\"http://hamlet.test/v/bob/other.js\"",
        "import(\"http://hamlet.test/v/bob/far.js\")",
        "\"https://esm.town/v/bob/text\"",
    ] {
        assert!(answer.text().contains(kept), "{kept} in {}", answer.text());
    }
}

#[tokio::test]
async fn code_that_is_none_has_no_javascript() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.write_val("broken", ValKind::Script, Privacy::Public, "let let = 1")
        .await;
    ada.write_val("deep", ValKind::Script, Privacy::Public, &"[".repeat(200_000))
        .await;
    for name in ["broken", "deep"] {
        let refused = app.anonymous().get(&format!("/v/ada/{name}.js?v=0")).await;
        assert!(
            refused
                .refused(ProblemCode::Invalid)
                .message
                .contains("SyntaxError")
        );
        assert_eq!(
            app.anonymous().get(&format!("/v/ada/{name}?v=0")).await.status,
            StatusCode::OK
        );
    }
}
