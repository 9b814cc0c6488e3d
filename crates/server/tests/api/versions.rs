//! `/v1/vals/{val_id}/versions`.

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use hamlet_models::{ExtendedVal, Page, Privacy, ProblemCode, Version};
use serde_json::{Value, json};

use crate::test_app::{Answer, Client, TestApp};

/// A val with versions, and its address.
async fn saved(codes: &[&str]) -> (TestApp, Client, String) {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let val = ada.create_val("hello", Privacy::Public).await;
    let path = format!("/v1/vals/{}/versions", val.id);
    for code in codes {
        assert_eq!(save(&ada, &path, code).await.status, StatusCode::CREATED);
    }
    (app, ada, path)
}

async fn save(client: &Client, path: &str, code: &str) -> Answer {
    client.post(path, &json!({"code": code})).await
}

async fn numbers(client: &Client, path: &str) -> Vec<u32> {
    let page: Page<Version> = client.get(path).await.json();
    page.data.iter().map(|version| version.version).collect()
}

#[tokio::test]
async fn a_save_makes_a_version_unless_nothing_changed() {
    let (_app, ada, path) = saved(&[]).await;
    let answer = save(&ada, &path, "2").await;
    assert_eq!(
        (answer.status, answer.header("etag")),
        (StatusCode::CREATED, "\"1\"")
    );
    let val: ExtendedVal = answer.json();
    assert_eq!((val.version, val.code.as_deref()), (1, Some("2")));
    let answer = save(&ada, &path, "2").await;
    assert_eq!(
        (answer.status, answer.json::<ExtendedVal>().version),
        (StatusCode::OK, 1)
    );
    assert_eq!(numbers(&ada, &path).await, [1, 0]);
}

#[tokio::test]
async fn a_save_may_change_the_val_with_it() {
    let (_app, ada, path) = saved(&[]).await;
    let save = json!({
        "code": "2", "name": "renamed", "readme": "r", "privacy": "unlisted", "type": "http", "message": "why not",
    });
    let val: ExtendedVal = ada.post(&path, &save).await.json();
    assert_eq!(
        (val.name.as_str(), val.readme.as_deref(), val.kind.as_str()),
        ("renamed", Some("r"), "http")
    );
    assert_eq!(val.privacy, Privacy::Unlisted);
    let page: Page<Version> = ada.get(&path).await.json();
    assert_eq!(page.data[0].message.as_deref(), Some("why not"));
}

#[tokio::test]
async fn bare_code_is_a_version_too() {
    let (_app, ada, path) = saved(&[]).await;
    let answer = ada
        .with("content-type", "text/plain")
        .send(Method::POST, &path, Body::from("2"))
        .await;
    assert_eq!(
        (answer.status, answer.json::<ExtendedVal>().code.as_deref()),
        (StatusCode::CREATED, Some("2"))
    );
}

#[tokio::test]
async fn a_listed_version_has_every_field_of_the_contract() {
    let (_app, ada, path) = saved(&["one\ntwo"]).await;
    let page = ada.get(&path).await.value();
    let version = &page["data"][0];
    let val_id = path.split('/').nth(3).expect("an id");
    for (field, expected) in [
        ("val_id", json!(val_id)),
        ("version", json!(1)),
        ("author", json!({"id": ada.id, "username": "ada"})),
        ("message", Value::Null),
        ("size", json!(7)),
        ("linesAdded", json!(2)),
        ("linesRemoved", json!(1)),
    ] {
        assert_eq!(version[field], expected, "{field}");
    }
    assert!(
        version["createdAt"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z'))
    );
}

#[tokio::test]
async fn a_version_keeps_its_code_and_its_time() {
    let (app, ada, path) = saved(&["2", "3"]).await;
    let old: ExtendedVal = app.anonymous().get(&format!("{path}/1")).await.json();
    assert_eq!((old.version, old.code.as_deref()), (1, Some("2")));
    let latest: ExtendedVal = ada.get(&format!("{path}/2")).await.json();
    assert!(old.version_created_at <= latest.version_created_at);
    assert_eq!(old.created_at, latest.created_at);
    let asked: ExtendedVal = ada.get(&format!("{path}/1?limit=20&offset=0")).await.json();
    assert_eq!(asked, old, "what the SDK adds is passed over");
    for (number, code) in [
        ("3", ProblemCode::NotFound),
        ("99999999999999999999", ProblemCode::NotFound),
        ("-1", ProblemCode::Malformed),
        ("+1", ProblemCode::Malformed),
        ("1.0", ProblemCode::Malformed),
        ("one", ProblemCode::Malformed),
    ] {
        ada.get(&format!("{path}/{number}")).await.refused(code);
        ada.delete(&format!("{path}/{number}")).await.refused(code);
    }
}

#[tokio::test]
async fn a_deleted_number_is_never_given_again() {
    let (_app, ada, path) = saved(&["2", "3"]).await;
    let val_path = path.trim_end_matches("/versions");
    ada.delete(&format!("{path}/2")).await.nothing();
    let val: ExtendedVal = ada.get(val_path).await.json();
    assert_eq!(
        (val.version, val.code.as_deref()),
        (1, Some("2")),
        "the highest that remains is the latest"
    );
    assert_eq!(save(&ada, &path, "4").await.json::<ExtendedVal>().version, 3);
    assert_eq!(numbers(&ada, &path).await, [3, 1, 0]);
    ada.get(&format!("{path}/2")).await.refused(ProblemCode::NotFound);
    ada.delete(&format!("{path}/2"))
        .await
        .refused(ProblemCode::NotFound);
}

#[tokio::test]
async fn the_only_version_stays() {
    let (_app, ada, path) = saved(&["2"]).await;
    ada.delete(&format!("{path}/0")).await.nothing();
    let answer = ada.delete(&format!("{path}/1")).await;
    answer.refused(ProblemCode::LastVersion);
    assert_eq!(answer.header("x-should-retry"), "false");
    assert_eq!(numbers(&ada, &path).await, [1]);
}

#[tokio::test]
async fn a_save_over_an_unseen_version_is_refused() {
    let (_app, ada, path) = saved(&["2"]).await;
    for (seen, status) in [
        ("\"0\"", StatusCode::PRECONDITION_FAILED),
        ("\"7\"", StatusCode::PRECONDITION_FAILED),
        ("nonsense", StatusCode::BAD_REQUEST),
        ("\"1\"", StatusCode::CREATED),
        ("*", StatusCode::CREATED),
        ("W/\"3\"", StatusCode::CREATED),
    ] {
        let answer = save(&ada.with("if-match", seen), &path, &format!("saw {seen}")).await;
        assert_eq!(answer.status, status, "{seen}: {}", answer.text());
        if status == StatusCode::PRECONDITION_FAILED {
            let problem = answer.refused(ProblemCode::VersionMismatch);
            assert!(problem.message.contains("version 1"), "{}", problem.message);
        }
    }
    assert_eq!(numbers(&ada, &path).await, [4, 3, 2, 1, 0]);
}

#[tokio::test]
async fn of_two_saves_over_the_same_version_one_is_refused() {
    let (_app, ada, path) = saved(&[]).await;
    let ada = ada.with("if-match", "\"0\"");
    let (one, other) = tokio::join!(save(&ada, &path, "one"), save(&ada, &path, "other"));
    let mut statuses = [one.status, other.status];
    statuses.sort();
    assert_eq!(statuses, [StatusCode::CREATED, StatusCode::PRECONDITION_FAILED]);
    assert_eq!(numbers(&ada, &path).await, [1, 0]);
}

#[tokio::test]
async fn saves_at_once_each_get_a_number_of_their_own() {
    let (_app, ada, path) = saved(&[]).await;
    let saves = (0..20).map(|number| {
        let (ada, path) = (ada.clone(), path.clone());
        async move {
            save(&ada, &path, &format!("code {number}"))
                .await
                .json::<ExtendedVal>()
                .version
        }
    });
    let mut given = futures_util::future::join_all(saves).await;
    given.sort();
    assert_eq!(given, (1..=20).collect::<Vec<_>>());
}

#[tokio::test]
async fn history_is_read_a_page_at_a_time() {
    let (app, ada, path) = saved(&["2", "3", "4", "5"]).await;
    let page: Page<Version> = app
        .anonymous()
        .get(&format!("{path}?limit=2&offset=1"))
        .await
        .json();
    let own = format!("http://hamlet.test{path}");
    assert_eq!(page.links.self_, format!("{own}?limit=2&offset=1"));
    assert_eq!(page.links.prev, Some(format!("{own}?limit=2&offset=0")));
    assert_eq!(page.links.next, Some(format!("{own}?limit=2&offset=3")));
    assert_eq!(
        page.data
            .iter()
            .map(|version| version.version)
            .collect::<Vec<_>>(),
        [3, 2]
    );

    let last: Page<Version> = ada
        .get(page.links.next.as_deref().expect("a next page"))
        .await
        .json();
    assert_eq!(
        last.data
            .iter()
            .map(|version| version.version)
            .collect::<Vec<_>>(),
        [1, 0]
    );
    assert_eq!(last.links.next, None);

    let past: Page<Version> = ada.get(&format!("{path}?offset=100")).await.json();
    assert!(past.data.is_empty() && past.links.next.is_none());
    assert_eq!(past.links.prev, Some(format!("{own}?limit=20&offset=80")));
    let first: Page<Version> = ada.get(&path).await.json();
    assert_eq!((first.links.prev, first.links.next), (None, None));
}

#[tokio::test]
async fn a_save_that_breaks_a_rule_saves_nothing() {
    let (_app, ada, path) = saved(&[]).await;
    ada.create_val("taken", Privacy::Private).await;
    for (body, code) in [
        (json!({"code": ""}), ProblemCode::Invalid),
        (
            json!({"code": "2", "message": "é".repeat(501)}),
            ProblemCode::Invalid,
        ),
        (json!({"code": "2", "type": "express"}), ProblemCode::Invalid),
        (json!({"code": "2", "name": "TAKEN"}), ProblemCode::NameTaken),
    ] {
        ada.post(&path, &body).await.refused(code);
        assert_eq!(numbers(&ada, &path).await, [0], "{body}");
    }
}
