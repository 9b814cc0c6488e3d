//! `/v1/vals` and `/v1/vals/{val_id}`.

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use hamlet_models::{ExtendedVal, Privacy, ProblemCode, ValKind};
use serde_json::json;

use crate::test_app::{Client, TestApp};

async fn ada() -> (TestApp, Client) {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    (app, ada)
}

#[tokio::test]
async fn a_new_val_has_every_field_of_the_contract() {
    let (_app, ada) = ada().await;
    let new = json!({
        "code": "export default () => 1", "name": "hello", "readme": "# Hello", "privacy": "unlisted", "type": "httpnext",
    });
    let answer = ada.post("/v1/vals", &new).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("etag"), "\"0\"");
    let val = answer.value();
    let id = val["id"].as_str().expect("an id");
    let own = format!("http://hamlet.test/v1/vals/{id}");
    for (field, expected) in [
        ("name", json!("hello")),
        ("version", json!(0)),
        ("code", json!("export default () => 1")),
        ("readme", json!("# Hello")),
        ("public", json!(false)),
        ("privacy", json!("unlisted")),
        ("type", json!("http")),
        ("author", json!({"id": ada.id, "username": "ada"})),
        ("url", json!("http://hamlet.test/v/ada/hello")),
        ("likeCount", json!(0)),
        ("referenceCount", json!(0)),
        (
            "links",
            json!({
                "self": own,
                "versions": format!("{own}/versions"),
                "module": "http://hamlet.test/v/ada/hello",
                "endpoint": "http://ada-hello.localhost:8787",
            }),
        ),
    ] {
        assert_eq!(val[field], expected, "{field}");
    }
    for field in ["createdAt", "updatedAt", "versionCreatedAt"] {
        let time = val[field].as_str().expect("a time");
        assert!(time.len() == 24 && time.ends_with('Z'), "{field}: {time}");
    }
    assert_eq!(
        ada.get(&format!("/v1/vals/{id}")).await.value(),
        val,
        "what was made is what is read"
    );
}

#[tokio::test]
async fn a_val_needs_only_code() {
    let (_app, ada) = ada().await;
    let val: ExtendedVal = ada.post("/v1/vals", &json!({"code": "1"})).await.json();
    assert_eq!(
        (val.privacy, val.kind, val.version),
        (Privacy::Private, ValKind::Script, 0)
    );
    assert_eq!((val.public, &val.readme), (false, &None));
    assert_eq!(val.links.endpoint, None, "only HTTP vals have one");
    let other: ExtendedVal = ada.post("/v1/vals", &json!({"code": "1"})).await.json();
    assert_ne!(val.name.key(), other.name.key(), "made-up names differ");
}

#[tokio::test]
async fn bare_code_makes_a_val_too() {
    let (_app, ada) = ada().await;
    for content_type in [
        "text/plain",
        "text/plain;charset=UTF-8",
        "text/javascript",
        "application/javascript",
        "text/typescript",
        "Application/TypeScript",
    ] {
        let client = ada.with("content-type", content_type);
        let code = "export default '{\"code\": 1}' // é";
        let val: ExtendedVal = client
            .send(Method::POST, "/v1/vals", Body::from(code))
            .await
            .json();
        assert_eq!(val.code.as_deref(), Some(code), "{content_type}");
    }
}

#[tokio::test]
async fn what_breaks_a_rule_is_named() {
    let (_app, ada) = ada().await;
    for (body, path, word) in [
        (json!({"code": ""}), "code", "1 to 256,000"),
        (json!({"code": "a".repeat(256_001)}), "code", "1 to 256,000"),
        (json!({"code": "a\u{0}b"}), "code", "NUL"),
        (json!({"code": 1}), "code", "string"),
        (json!({}), "", "code"),
        (json!({"code": "1", "name": "no-good"}), "name", "letters"),
        (json!({"code": "1", "name": ""}), "name", "1 to 48"),
        (json!({"code": "1", "name": "a".repeat(49)}), "name", "1 to 48"),
        (json!({"code": "1", "privacy": "secret"}), "privacy", "unlisted"),
        (json!({"code": "1", "type": "express"}), "type", "http"),
        (json!({"code": "1", "type": "rpc"}), "type", "script"),
        (
            json!({"code": "1", "readme": "a".repeat(64_001)}),
            "readme",
            "64,000",
        ),
    ] {
        let problem = ada.post("/v1/vals", &body).await.refused(ProblemCode::Invalid);
        let detail = &problem.details[0];
        assert_eq!(detail.path, path, "{problem:?}");
        assert!(detail.message.contains(word), "{problem:?}");
    }
    let vals = ada.get("/v1/vals").await.value();
    assert_eq!(vals["data"], json!([]), "nothing was made");
}

#[tokio::test]
async fn the_longest_code_fits_however_it_is_written() {
    let (_app, ada) = ada().await;
    let code = "é".repeat(256_000);
    // As some clients write it: every character as an escape of six bytes.
    let escaped = format!(r#"{{"code":"{}"}}"#, r"\u00e9".repeat(256_000));
    let client = ada.with("content-type", "application/json");
    let val: ExtendedVal = client
        .send(Method::POST, "/v1/vals", Body::from(escaped))
        .await
        .json();
    assert_eq!(val.code.as_deref(), Some(code.as_str()));
}

#[tokio::test]
async fn a_name_is_taken_whatever_its_case_until_its_val_is_gone() {
    let (app, ada) = ada().await;
    let eve = app.user("eve").await;
    let val = ada.create_val("Hello", Privacy::Public).await;
    let again = json!({"code": "1", "name": "hELLO"});
    let answer = ada.post("/v1/vals", &again).await;
    answer.refused(ProblemCode::NameTaken);
    assert_eq!(answer.header("x-should-retry"), "false");
    assert_eq!(
        eve.post("/v1/vals", &again).await.status,
        StatusCode::OK,
        "another user's names are their own"
    );

    ada.delete(&format!("/v1/vals/{}", val.id)).await.nothing();
    assert_eq!(
        ada.post("/v1/vals", &again).await.status,
        StatusCode::OK,
        "the name is free again"
    );
}

#[tokio::test]
async fn a_deleted_val_is_gone_at_once_from_everywhere() {
    let (_app, ada) = ada().await;
    let val = ada.create_val("hello", Privacy::Public).await;
    let path = format!("/v1/vals/{}", val.id);
    ada.delete(&path).await.nothing();
    for path in [
        path.clone(),
        format!("{path}/versions"),
        format!("{path}/versions/0"),
        "/v1/alias/ada/hello".to_owned(),
    ] {
        ada.get(&path).await.refused(ProblemCode::NotFound);
    }
    ada.delete(&path).await.refused(ProblemCode::NotFound);
    for list in ["/v1/vals".to_owned(), format!("/v1/users/{}/vals", ada.id)] {
        assert_eq!(ada.get(&list).await.value()["data"], json!([]), "{list}");
    }
}

#[tokio::test]
async fn a_save_by_name_makes_the_val_or_its_next_version() {
    let (_app, ada) = ada().await;
    let put = async |name: &str, code: &str| {
        ada.put("/v1/vals", &json!({"name": name, "code": code}))
            .await
            .json::<ExtendedVal>()
    };
    let first = put("hello", "1").await;
    assert_eq!((first.version, first.code.as_deref()), (0, Some("1")));
    let second = put("HELLO", "2").await;
    assert_eq!(
        (second.id, second.version, second.code.as_deref()),
        (first.id, 1, Some("2"))
    );
    assert_eq!(
        put("hello", "2").await.version,
        1,
        "the same code is no new version"
    );
    ada.put("/v1/vals", &json!({"code": "1"}))
        .await
        .refused(ProblemCode::Invalid);
}

#[tokio::test]
async fn an_update_changes_what_it_names_and_nothing_else() {
    let (_app, ada) = ada().await;
    let before = ada.create_val("hello", Privacy::Private).await;
    let path = format!("/v1/vals/{}", before.id);
    let read = async || ada.get(&path).await.json::<ExtendedVal>();

    ada.put(&path, &json!({})).await.nothing();
    assert_eq!(read().await, before, "an empty update changes nothing");

    ada.put(
        &path,
        &json!({"name": "goodbye", "privacy": "public", "type": "http"}),
    )
    .await
    .nothing();
    let after = read().await;
    assert_eq!(after.name.as_str(), "goodbye");
    assert_eq!(
        (after.privacy, after.public, after.kind),
        (Privacy::Public, true, ValKind::Http)
    );
    assert_eq!(
        (after.version, &after.code, &after.readme),
        (before.version, &before.code, &before.readme)
    );
    assert_eq!(
        ada.get("/v1/alias/ada/goodbye").await.json::<ExtendedVal>().id,
        before.id
    );
    ada.get("/v1/alias/ada/hello")
        .await
        .refused(ProblemCode::NotFound);

    ada.put(&path, &json!({"readme": "now with a readme"}))
        .await
        .nothing();
    assert_eq!(read().await.readme.as_deref(), Some("now with a readme"));
}

#[tokio::test]
async fn an_update_that_can_not_be_made_changes_nothing() {
    let (_app, ada) = ada().await;
    ada.create_val("taken", Privacy::Private).await;
    let before = ada.create_val("hello", Privacy::Private).await;
    let path = format!("/v1/vals/{}", before.id);
    for (update, code) in [
        (
            json!({"name": "Taken", "privacy": "public"}),
            ProblemCode::NameTaken,
        ),
        (json!({"name": "1", "privacy": "public"}), ProblemCode::Invalid),
        (json!({"privacy": "public", "type": "rpc"}), ProblemCode::Invalid),
        (
            json!({"privacy": "public", "readme": "a".repeat(64_001)}),
            ProblemCode::Invalid,
        ),
    ] {
        ada.put(&path, &update).await.refused(code);
        assert_eq!(ada.get(&path).await.json::<ExtendedVal>(), before);
    }
}

#[tokio::test]
async fn a_schedule_is_kept_and_taken_away() {
    let (_app, ada) = ada().await;
    let new = json!({"code": "1", "type": "interval", "schedule": {"cron": "0 7 * * *", "timezone": "Europe/Berlin"}});
    let val = ada.post("/v1/vals", &new).await.value();
    assert_eq!(val["schedule"]["cron"], "0 7 * * *");
    assert_eq!(val["schedule"]["timezone"], "Europe/Berlin");
    assert_eq!(val["schedule"]["paused"], false);
    let path = format!("/v1/vals/{}", val["id"].as_str().expect("an id"));
    for (schedule, wrong) in [
        (json!({"cron": "0 0 7 * * *"}), "schedule.cron"),
        (json!({"cron": ""}), "schedule.cron"),
        (
            json!({"cron": "* * * * *", "timezone": "nowhere at all"}),
            "schedule.timezone",
        ),
    ] {
        let problem = ada
            .put(&path, &json!({"schedule": schedule}))
            .await
            .refused(ProblemCode::Invalid);
        assert_eq!(problem.details[0].path, wrong);
    }
    ada.put(&path, &json!({"schedule": null})).await.nothing();
    assert_eq!(ada.get(&path).await.value().get("schedule"), None);
}

#[tokio::test]
async fn all_vals_are_read_by_following_the_links() {
    let (app, ada) = ada().await;
    for number in 0..7 {
        ada.create_val(&format!("val{number}"), Privacy::Public).await;
    }
    let mut names = Vec::new();
    let mut next = Some("/v1/vals?limit=2&privacy=public".to_owned());
    while let Some(path) = next {
        let page = app.anonymous().get(&path).await.value();
        let vals = page["data"].as_array().expect("a list").clone();
        names.extend(
            vals.iter()
                .map(|val| val["name"].as_str().expect("a name").to_owned()),
        );
        next = page["links"]["next"].as_str().map(str::to_owned);
        if let Some(next) = &next {
            assert!(
                next.starts_with("http://hamlet.test/v1/vals?") && next.contains("privacy=public"),
                "{next}"
            );
            assert!(next.contains("limit=2") && next.contains("cursor="), "{next}");
        }
    }
    assert_eq!(names, ["val6", "val5", "val4", "val3", "val2", "val1", "val0"]);
    for bad in [
        "limit=0",
        "limit=101",
        "cursor=yesterday",
        "privacy=x",
        "userId=x",
    ] {
        let problem = ada
            .get(&format!("/v1/vals?{bad}"))
            .await
            .refused(ProblemCode::Invalid);
        assert_eq!(problem.details[0].path, bad.split('=').next().expect("a name"));
    }
}

#[tokio::test]
async fn an_id_is_a_uuid() {
    let (_app, ada) = ada().await;
    for (id, code) in [
        ("1", ProblemCode::Malformed),
        ("not-a-uuid", ProblemCode::Malformed),
        ("018f3c7e-0000-7000-8000-00000000000g", ProblemCode::Malformed),
        ("%FF", ProblemCode::Malformed),
        ("018f3c7e-0000-7000-8000-000000000001", ProblemCode::NotFound),
        ("018F3C7E-0000-7000-8000-000000000001", ProblemCode::NotFound),
    ] {
        ada.get(&format!("/v1/vals/{id}")).await.refused(code);
        ada.delete(&format!("/v1/vals/{id}")).await.refused(code);
    }
}
