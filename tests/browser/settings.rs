//! The settings.

use hamlet_app::pages::settings::SettingsPage;
use hamlet_models::{CreatedToken, Me, ProblemCode, Scopes, Secret, Token, TokenId, ValId, ValKind};
use leptos::prelude::*;
use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::HtmlElement;

use crate::{
    fixtures::{ago, id, instance, me, page, val},
    harness::{
        Mounted, button, field, fill, find, find_all, has_text, link, mount_at, query_named, tick, until,
        until_text,
    },
    server::Server,
};

fn token(number: u32, name: &str) -> Token {
    Token {
        id: id::<TokenId>(number),
        name: name.parse().expect("a name"),
        scopes: ["val:read", "run:read"]
            .iter()
            .map(|scope| scope.parse().expect("a scope"))
            .collect(),
        created_at: ago(86_400),
        expires_at: None,
        last_used_at: Some(ago(120)),
    }
}

fn server_with(me: &Me, tokens: Vec<Token>) -> Server {
    let server = Server::start();
    server.on("GET /v1/session", 200, me);
    server.on("GET /v1/me/tokens", 200, &page(tokens));
    server.on("GET /v1/instance", 200, &instance());
    server.on("GET /v1/me/secrets", 200, &page(Vec::<Secret>::new()));
    server.on(
        &format!("GET /v1/users/{}/vals", me.user.id),
        200,
        &page(vec![
            val(1, "hello", ValKind::Script),
            val(2, "robot", ValKind::Email),
        ]),
    );
    server
}

fn secret(name: &str, val_ids: Option<Vec<ValId>>) -> Secret {
    Secret {
        name: name.parse().expect("a name"),
        val_ids,
        created_at: ago(86_400),
        updated_at: ago(120),
    }
}

async fn mount_settings() -> (HtmlElement, Mounted) {
    let (root, mounted) = mount_at("/settings", || view! { <SettingsPage /> });
    until_text(&root, "Limits in force").await;
    (root, mounted)
}

#[wasm_bindgen_test]
async fn a_profile_is_saved_as_it_is_written() {
    let server = server_with(&me(), vec![]);
    server.on("PUT /v1/me", 200, &me());
    let (root, _mounted) = mount_settings().await;
    fill(&root, "Bio", "");
    fill(&root, "E-mail address", " ada@example.com ");
    button(&root, "Save profile").click();
    until_text(&root, "Saved.").await;
    assert_eq!(
        server.seen("PUT /v1/me")[0].json(),
        json!({"username": "ada", "bio": null, "email": "ada@example.com", "profileImageUrl": null})
    );
}

#[wasm_bindgen_test]
async fn a_rule_is_told_beside_its_field_before_anything_is_sent() {
    let server = server_with(&me(), vec![]);
    let (root, _mounted) = mount_settings().await;
    fill(&root, "Username", "@ada");
    fill(&root, "Address of a picture", "http://x/y.png");
    button(&root, "Save profile").click();
    until_text(&root, "A username is made of letters").await;
    assert!(has_text(&root, "A picture's address begins with https://"));
    assert_eq!(
        field(&root, "Username").get_attribute("aria-invalid").as_deref(),
        Some("true")
    );
    assert_eq!(field(&root, "Bio").get_attribute("aria-invalid"), None);
    assert!(server.seen("PUT /v1/me").is_empty());
}

#[wasm_bindgen_test]
async fn a_taken_name_is_told_and_nothing_is_lost() {
    let server = server_with(&me(), vec![]);
    server.refuse(
        "PUT /v1/me",
        ProblemCode::NameTaken,
        "the username grace is taken: choose another",
    );
    let (root, _mounted) = mount_settings().await;
    fill(&root, "Username", "grace");
    button(&root, "Save profile").click();
    until_text(&root, "The username grace is taken: choose another.").await;
    assert!(!has_text(&root, "Saved."));
}

#[wasm_bindgen_test]
async fn a_password_needs_the_current_one_if_there_is_one() {
    let server = server_with(&me(), vec![]);
    server.on_empty("POST /v1/me/password", 204);
    let (root, _mounted) = mount_settings().await;
    fill(&root, "Current password", "old and good");
    fill(&root, "New password", "short");
    button(&root, "Set password").click();
    until_text(&root, "A password has 10 to 1,000 characters.").await;
    assert!(server.seen("POST /v1/me/password").is_empty());
    fill(&root, "New password", "new and better");
    button(&root, "Set password").click();
    until_text(&root, "The new password is set.").await;
    let sent = server.seen("POST /v1/me/password")[0].json();
    assert_eq!(sent, json!({"current": "old and good", "new": "new and better"}));
    assert!(!has_text(&root, "10 to 1,000"));
}

#[wasm_bindgen_test]
async fn a_first_password_asks_for_no_other() {
    let server = server_with(
        &Me {
            has_password: false,
            ..me()
        },
        vec![],
    );
    server.on_empty("POST /v1/me/password", 204);
    let (root, _mounted) = mount_settings().await;
    assert!(query_named(&root, "label", "Current password").is_none());
    fill(&root, "New password", "new and better");
    button(&root, "Set password").click();
    until("the next one asks", || {
        query_named(&root, "label", "Current password").is_some()
    })
    .await;
    assert_eq!(
        server.seen("POST /v1/me/password")[0].json(),
        json!({"new": "new and better"})
    );
}

#[wasm_bindgen_test]
async fn a_token_is_made_and_its_secret_shown_once() {
    let server = server_with(&me(), vec![]);
    let created = CreatedToken {
        token: token(3, "CI"),
        secret: "hmlt_s3cret".into(),
    };
    server.on("POST /v1/me/tokens", 201, &created);
    let (root, _mounted) = mount_settings().await;
    until_text(&root, "No tokens").await;
    button(&root, "New token").click();
    tick().await;
    fill(&root, "Name", "CI");
    fill(&root, "Works for", "never");
    for words in ["Send e-mail", "Change your profile and tokens"] {
        let choice: HtmlElement = wasm_bindgen::JsCast::unchecked_into(field(&root, words));
        choice.click();
    }
    server.on("GET /v1/me/tokens", 200, &page(vec![token(3, "CI")]));
    button(&root, "Make token").click();
    until_text(&root, "hmlt_s3cret").await;
    let sent = server.seen("POST /v1/me/tokens")[0].json();
    let scopes: Scopes = serde_json::from_value(sent["scopes"].clone()).expect("scopes");
    let left_out = ["email:write", "user:write"].map(|scope| scope.parse().expect("a scope"));
    assert_eq!(scopes, Scopes::all().without(&left_out));
    assert!(sent.get("expiresAt").is_none(), "it works until it is revoked");

    button(&root, "I have copied it").click();
    until_text(&root, "May read vals, runs").await;
    assert!(
        !root.inner_html().contains("hmlt_s3cret"),
        "the secret must be gone"
    );
}

#[wasm_bindgen_test]
async fn a_token_of_no_name_or_no_use_is_not_made() {
    let server = server_with(&me(), vec![]);
    let (root, _mounted) = mount_settings().await;
    button(&root, "New token").click();
    tick().await;
    button(&root, "Make token").click();
    until_text(&root, "A token's name has 1 to 64 characters.").await;
    for choice in find_all(&root, ".scopes input") {
        choice.click();
    }
    tick().await;
    assert!(button(&root, "Make token").has_attribute("disabled"));
    assert!(server.seen("POST /v1/me/tokens").is_empty());
}

#[wasm_bindgen_test]
async fn a_token_is_revoked_only_after_a_question() {
    let server = server_with(&me(), vec![token(3, "CI"), token(4, "Backup")]);
    let revoke = format!("DELETE /v1/me/tokens/{}", id::<TokenId>(4));
    server.on_empty(&revoke, 204);
    let (root, _mounted) = mount_settings().await;
    until_text(&root, "Backup").await;
    button(&root, "Revoke Backup").click();
    until_text(&root, "Revoke Backup?").await;
    button(&root, "Cancel").click();
    tick().await;
    assert!(server.seen("DELETE").is_empty());

    button(&root, "Revoke Backup").click();
    until_text(&root, "Revoke Backup?").await;
    server.on("GET /v1/me/tokens", 200, &page(vec![token(3, "CI")]));
    button(&root, "Revoke token").click();
    until("one token", || find_all(&root, ".token").len() == 1).await;
    assert_eq!(server.seen("DELETE").len(), 1);
    assert_eq!(server.seen(&revoke).len(), 1);
    assert!(!find(&root, "dialog").has_attribute("open"));
}

#[wasm_bindgen_test]
async fn a_secret_is_set_and_its_value_is_nowhere_afterwards() {
    let server = server_with(&me(), vec![]);
    server.on("PUT /v1/me/secrets/API_KEY", 200, &secret("API_KEY", None));
    let (root, _mounted) = mount_settings().await;
    until_text(&root, "No secrets").await;
    button(&root, "New secret").click();
    tick().await;
    fill(&root, "Name", "HTTPS_PROXY");
    fill(&root, "Value", "hunter2\nand more");
    button(&root, "Make secret").click();
    until_text(&root, "No val gets a variable of this name").await;
    fill(&root, "Name", " API_KEY ");
    server.on("GET /v1/me/secrets", 200, &page(vec![secret("API_KEY", None)]));
    button(&root, "Make secret").click();
    until_text(&root, "For every val of yours").await;
    assert_eq!(
        server.seen("PUT /v1/me/secrets/API_KEY")[0].json(),
        json!({"value": "hunter2\nand more", "valIds": null})
    );
    assert!(!root.inner_html().contains("hunter2"));
    assert!(query_named(&root, "button", "New secret").is_some());
}

#[wasm_bindgen_test]
async fn a_secret_may_be_for_some_vals_alone_and_keeps_its_value_if_none_is_given() {
    let server = server_with(&me(), vec![]);
    server.on(
        "GET /v1/me/secrets",
        200,
        &page(vec![secret("API_KEY", Some(vec![id(1)]))]),
    );
    server.on("PUT /v1/me/secrets/API_KEY", 200, &secret("API_KEY", None));
    let (root, _mounted) = mount_settings().await;
    until_text(&root, "For hello").await;
    button(&root, "Change API_KEY").click();
    until("the choices", || query_named(&root, "label", "robot").is_some()).await;
    for val in ["hello", "robot"] {
        let choice: HtmlElement = wasm_bindgen::JsCast::unchecked_into(field(&root, val));
        choice.click();
    }
    button(&root, "Set secret").click();
    until("the list again", || {
        query_named(&root, "button", "New secret").is_some()
    })
    .await;
    assert_eq!(
        server.seen("PUT /v1/me/secrets/API_KEY")[0].json(),
        json!({"valIds": [id::<ValId>(2)]})
    );
}

#[wasm_bindgen_test]
async fn a_secret_of_a_wrong_name_or_of_one_that_is_there_is_not_sent() {
    let server = server_with(&me(), vec![]);
    server.on("GET /v1/me/secrets", 200, &page(vec![secret("API_KEY", None)]));
    let (root, _mounted) = mount_settings().await;
    until_text(&root, "API_KEY").await;
    button(&root, "New secret").click();
    tick().await;
    for (name, says) in [
        ("1st", "doesn't begin with a digit"),
        ("HAMLET_KEY", "choose another"),
        ("API_KEY", "You have a secret of this name already"),
        ("FREE", "A secret needs a value."),
    ] {
        fill(&root, "Name", name);
        button(&root, "Make secret").click();
        until_text(&root, says).await;
    }
    assert!(server.seen("PUT").is_empty());
}

#[wasm_bindgen_test]
async fn a_secret_is_deleted_only_after_a_question() {
    let server = server_with(&me(), vec![]);
    server.on("GET /v1/me/secrets", 200, &page(vec![secret("API_KEY", None)]));
    server.on_empty("DELETE /v1/me/secrets/API_KEY", 204);
    let (root, _mounted) = mount_settings().await;
    until_text(&root, "API_KEY").await;
    button(&root, "Delete API_KEY").click();
    until_text(&root, "Delete API_KEY?").await;
    assert!(server.seen("DELETE").is_empty());
    server.on("GET /v1/me/secrets", 200, &page(Vec::<Secret>::new()));
    button(&root, "Delete secret").click();
    until_text(&root, "No secrets").await;
    assert_eq!(server.seen("DELETE /v1/me/secrets/API_KEY").len(), 1);
}

#[wasm_bindgen_test]
async fn the_limits_are_those_of_the_instance() {
    let _server = server_with(&me(), vec![]);
    let (root, _mounted) = mount_settings().await;
    until_text(&root, "256 MB").await;
    let table = find(&root, "#limits table");
    assert!(has_text(&table, "--wall-seconds") && has_text(&table, "60 s"));
    assert!(has_text(&table, "256,000") && has_text(&table, "10 MB") && has_text(&table, "--blobs-mb"));
    for (row, value) in [
        ("Time of a call’s statements", "11 s"),
        ("An account’s database", "1,024 MB"),
        ("An account’s blobs", "1,000 MB"),
        ("Message to a val, as it is sent", "30 MB"),
    ] {
        let row = find_all(&table, "tbody tr")
            .into_iter()
            .find(|found| has_text(found, row))
            .unwrap_or_else(|| panic!("no row {row}"));
        assert!(has_text(&row, value), "{}", row.inner_text());
    }
    assert!(has_text(&root, "Deno 2.9.6"));
}

#[wasm_bindgen_test]
async fn who_is_not_signed_in_is_led_to_sign_in() {
    let server = Server::start();
    let (root, _mounted) = mount_at("/settings", || view! { <SettingsPage /> });
    until_text(&root, "Sign in to see this").await;
    assert_eq!(
        link(&root, "Sign in").get_attribute("href").as_deref(),
        Some("/login?next=%2Fsettings")
    );
    assert!(server.seen("GET /v1/me/tokens").is_empty());
}
