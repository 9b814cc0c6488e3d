//! `/v1/users/{user_id}` and the user's vals.

use hamlet_models::{BasicVal, Page, Privacy, ProblemCode, ValKind};
use serde_json::{Value, json};

use crate::test_app::TestApp;

#[tokio::test]
async fn a_user_has_every_field_of_the_contract_and_no_secret() {
    let app = TestApp::new().await;
    let ada = app.user("Ada").await;
    let user = app
        .anonymous()
        .get(&format!("/v1/users/{}", ada.id))
        .await
        .value();
    let expected = json!({
        "id": ada.id, "username": "Ada", "bio": null, "profileImageUrl": null, "url": "http://hamlet.test/u/Ada",
        "links": {"self": format!("http://hamlet.test/v1/users/{}", ada.id)},
    });
    assert_eq!(user, expected);
    let unknown = "018f3c7e-0000-7000-8000-000000000001";
    for (id, code) in [
        (unknown, ProblemCode::NotFound),
        ("ada", ProblemCode::Malformed),
        ("1", ProblemCode::Malformed),
    ] {
        for path in [format!("/v1/users/{id}"), format!("/v1/users/{id}/vals")] {
            app.anonymous().get(&path).await.refused(code);
        }
    }
}

#[tokio::test]
async fn a_users_vals_are_listed_newest_first() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for name in ["one", "two", "three"] {
        ada.create_val(name, Privacy::Public).await;
    }
    app.user("eve").await.create_val("other", Privacy::Public).await;
    let path = format!("/v1/users/{}/vals", ada.id);
    let page = app.anonymous().get(&path).await;
    let vals: Page<BasicVal> = page.json();
    assert_eq!(
        vals.data.iter().map(|val| val.name.as_str()).collect::<Vec<_>>(),
        ["three", "two", "one"]
    );
    let first = &page.value()["data"][0];
    assert_eq!(first["code"], "export default 1");
    assert!(first.get("readme").is_none(), "lists are of basic vals");

    let empty = app.user("nobody").await;
    let none = app
        .anonymous()
        .get(&format!("/v1/users/{}/vals", empty.id))
        .await
        .value();
    assert_eq!(none["data"], json!([]));
    assert_eq!(none["links"].get("next"), None);
}

#[tokio::test]
async fn filters_choose_by_kind_privacy_and_text() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (name, kind, privacy) in [
        ("weather", ValKind::Http, Privacy::Public),
        ("weatherBot", ValKind::Email, Privacy::Private),
        ("tide_table", ValKind::Http, Privacy::Unlisted),
    ] {
        let new = json!({"code": "1", "name": name, "type": kind, "privacy": privacy});
        ada.post("/v1/vals", &new).await.value();
    }
    for (query, expected) in [
        ("type=http", vec!["tide_table", "weather"]),
        ("type=httpnext", vec!["tide_table", "weather"]),
        ("type=http&privacy=public", vec!["weather"]),
        ("query=WEATHER", vec!["weatherBot", "weather"]),
        ("query=e_t", vec!["tide_table"]),
        ("query=e%25t", vec![]),
        ("query=%27%20OR%201%3D1", vec![]),
        ("type=interval", vec![]),
    ] {
        let page: Page<BasicVal> = ada
            .get(&format!("/v1/users/{}/vals?{query}", ada.id))
            .await
            .json();
        assert_eq!(
            page.data.iter().map(|val| val.name.as_str()).collect::<Vec<_>>(),
            expected,
            "{query}"
        );
    }
    for (bad, word) in [
        ("type=rpc", "script"),
        ("type=x", "interval"),
        ("privacy=x", "unlisted"),
        ("query=a%00b", "NUL"),
    ] {
        let problem = ada
            .get(&format!("/v1/users/{}/vals?{bad}", ada.id))
            .await
            .refused(ProblemCode::Invalid);
        assert_eq!(problem.details[0].path, bad.split('=').next().expect("a name"));
        assert!(problem.message.contains(word), "{}", problem.message);
    }
}

#[tokio::test]
async fn pages_of_vals_meet_without_gap_or_overlap() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let mut expected: Vec<String> = (0..45).map(|number| format!("val{number}")).collect();
    for name in &expected {
        ada.create_val(name, Privacy::Public).await;
    }
    expected.reverse();
    let mut names = Vec::new();
    let mut next = Some(format!("/v1/users/{}/vals", ada.id));
    let mut sizes = Vec::new();
    while let Some(path) = next {
        let page: Page<BasicVal> = ada.get(&path).await.json();
        sizes.push(page.data.len());
        names.extend(page.data.into_iter().map(|val| val.name.to_string()));
        next = page.links.next;
    }
    assert_eq!(names, expected);
    assert_eq!(sizes, [20, 20, 5]);
    let exact: Value = ada
        .get(&format!("/v1/users/{}/vals?limit=45", ada.id))
        .await
        .value();
    assert_eq!(exact["links"].get("next"), None, "a full last page is the last");
}
