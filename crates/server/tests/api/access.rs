//! Who may see and who may change what: every caller against every privacy, on every route that names a val.

use axum::{body::Body, http::Method};
use hamlet_models::{ExtendedVal, Privacy, ProblemCode, Scope, Scopes};

use crate::test_app::{Client, TestApp};

/// Every route that names a val, with a body that it would take.
fn routes(val: &ExtendedVal) -> Vec<(Method, String, &'static str, Kind)> {
    let path = format!("/v1/vals/{}", val.id);
    let alias = format!("/v1/alias/ada/{}", val.name);
    vec![
        (Method::GET, path.clone(), "", Kind::Read),
        (Method::GET, alias, "", Kind::Read),
        (Method::GET, format!("{path}/versions"), "", Kind::Read),
        (Method::GET, format!("{path}/versions/0"), "", Kind::Read),
        (Method::PUT, path.clone(), "{}", Kind::Change),
        (
            Method::POST,
            format!("{path}/versions"),
            r#"{"code":"export default 1"}"#,
            Kind::Change,
        ),
        (Method::DELETE, format!("{path}/versions/7"), "", Kind::Change),
    ]
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Read,
    Change,
}

async fn ask(client: &Client, route: &(Method, String, &'static str, Kind)) -> crate::test_app::Answer {
    let client = client.with("content-type", "application/json");
    client.send(route.0.clone(), &route.1, Body::from(route.2)).await
}

#[tokio::test]
async fn everyone_sees_and_changes_what_they_may_and_no_more() {
    use ProblemCode::{BadToken, NotFound, NotOwner, SignedOut};
    let app = TestApp::new().await;
    let (ada, eve, nobody) = (app.user("ada").await, app.user("eve").await, app.anonymous());
    let liar = nobody.with_token("hmlt_no-such-token");

    for privacy in Privacy::ALL {
        let val = ada.create_val(privacy.as_str(), privacy).await;
        let hidden = privacy == Privacy::Private;
        for route in routes(&val) {
            let (method, path, _, kind) = &route;
            let read = *kind == Kind::Read;
            let expected = [
                (
                    "ada",
                    &ada,
                    if path.ends_with("/7") {
                        Some(NotFound)
                    } else {
                        None
                    },
                ),
                (
                    "eve",
                    &eve,
                    match (hidden, read) {
                        (true, _) => Some(NotFound),
                        (false, true) => None,
                        (false, false) => Some(NotOwner),
                    },
                ),
                (
                    "nobody",
                    &nobody,
                    match (hidden, read) {
                        (_, false) => Some(SignedOut),
                        (true, true) => Some(NotFound),
                        (false, true) => None,
                    },
                ),
                ("liar", &liar, Some(BadToken)),
            ];
            for (name, client, refused) in expected {
                let answer = ask(client, &route).await;
                let got = (!answer.status.is_success()).then(|| answer.problem().code);
                assert_eq!(
                    got,
                    refused,
                    "{name} {method} {path} of a {} val",
                    privacy.as_str()
                );
            }
        }
    }
}

#[tokio::test]
async fn what_may_not_be_seen_answers_like_what_is_not_there() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let hidden = ada.create_val("secret", Privacy::Private).await;
    let mut missing = hidden.clone();
    missing.val.id = "018f3c7e-0000-7000-8000-00000000dead".parse().expect("an id");
    missing.val.name = "missing".parse().expect("a name");

    for (there, not_there) in routes(&hidden).iter().zip(&routes(&missing)) {
        let (one, other) = (ask(&eve, there).await, ask(&eve, not_there).await);
        assert_eq!(
            (one.status, one.body),
            (other.status, other.body),
            "{} {}",
            there.0,
            there.1
        );
    }
}

#[tokio::test]
async fn only_its_owner_deletes_a_val() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    for (privacy, code) in [
        (Privacy::Public, ProblemCode::NotOwner),
        (Privacy::Unlisted, ProblemCode::NotOwner),
        (Privacy::Private, ProblemCode::NotFound),
    ] {
        let val = ada.create_val(privacy.as_str(), privacy).await;
        let path = format!("/v1/vals/{}", val.id);
        eve.delete(&path).await.refused(code);
        app.anonymous()
            .delete(&path)
            .await
            .refused(ProblemCode::SignedOut);
        assert_eq!(
            ada.get(&path).await.json::<ExtendedVal>().id,
            val.id,
            "it is still there"
        );
        ada.delete(&path).await.nothing();
    }
}

#[tokio::test]
async fn an_unlisted_val_is_in_no_list_but_its_owners() {
    let app = TestApp::new().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    for privacy in Privacy::ALL {
        ada.create_val(privacy.as_str(), privacy).await;
    }
    for path in [
        format!("/v1/users/{}/vals", ada.id),
        format!("/v1/vals?userId={}", ada.id),
        "/v1/vals".into(),
    ] {
        for (client, expected) in [
            (&ada, vec!["private", "unlisted", "public"]),
            (&eve, vec!["public"]),
            (&app.anonymous(), vec!["public"]),
        ] {
            let page = client.get(&path).await.value();
            let names: Vec<_> = page["data"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|val| val["name"].as_str().expect("a name"))
                .collect();
            assert_eq!(names, expected, "{path}");
        }
    }
    let asked = eve
        .get(&format!("/v1/users/{}/vals?privacy=private", ada.id))
        .await
        .value();
    assert_eq!(asked["data"], serde_json::json!([]), "a filter opens nothing");
}

#[tokio::test]
async fn a_bad_token_is_refused_on_every_path() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let val = ada.create_val("open", Privacy::Public).await;
    let public = format!("/v1/vals/{}", val.id);
    for path in [
        public.as_str(),
        "/v1/vals",
        "/v1/no/such/path",
        "/v1/instance",
        "/healthz",
        "/v1/openapi.json",
    ] {
        for header in [
            "Bearer hmlt_unknown",
            "Bearer ",
            "Bearer",
            "Basic YTpi",
            "hmlt_unknown",
            "",
            "Bearer hmlt_a.b",
        ] {
            let answer = app.anonymous().with("authorization", header).get(path).await;
            answer.refused(ProblemCode::BadToken);
        }
    }
}

#[tokio::test]
async fn a_token_does_what_its_scopes_say() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let val = ada.create_val("open", Privacy::Public).await;
    let path = format!("/v1/vals/{}", val.id);
    let versions = format!("{path}/versions");
    let user = format!("/v1/users/{}", ada.id);
    let cases = [
        (Method::GET, path.as_str(), "", "val:read"),
        (Method::GET, "/v1/vals", "", "val:read"),
        (Method::GET, &versions, "", "val:read"),
        (Method::GET, "/v1/alias/ada/open", "", "val:read"),
        (Method::PUT, &path, "{}", "val:write"),
        (Method::POST, &versions, r#"{"code":"2"}"#, "val:write"),
        (Method::POST, "/v1/vals", r#"{"code":"2"}"#, "val:write"),
        (
            Method::PUT,
            "/v1/vals",
            r#"{"name":"open","code":"2"}"#,
            "val:write",
        ),
        (Method::GET, &user, "", "user:read"),
        (Method::GET, "/v1/alias/ada", "", "user:read"),
        (Method::GET, "/v1/me", "", "user:read"),
        (Method::GET, "/v1/me/tokens", "", "user:read"),
        (Method::PUT, "/v1/me", "{}", "user:write"),
        (
            Method::POST,
            "/v1/me/tokens",
            r#"{"name":"x","scopes":[]}"#,
            "user:write",
        ),
    ];
    for (method, path, body, scope) in cases {
        let scope: Scope = scope.parse().expect("a scope");
        for (scopes, allowed) in [
            ([scope].into_iter().collect::<Scopes>(), true),
            (Scopes::all().without(&[scope]), false),
        ] {
            let client = app
                .token(&ada, scopes)
                .await
                .with("content-type", "application/json");
            let answer = client.send(method.clone(), path, Body::from(body)).await;
            if allowed {
                assert!(
                    answer.status.is_success(),
                    "{method} {path} with {scope}: {}",
                    answer.text()
                );
            } else {
                let problem = answer.refused(ProblemCode::MissingScope);
                assert!(
                    problem.message.contains(&scope.to_string()),
                    "{}",
                    problem.message
                );
            }
        }
    }
}
