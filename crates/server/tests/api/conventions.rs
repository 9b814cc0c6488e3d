//! What holds on every path: errors, content types, sizes, methods, other origins, paging, headers.

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use hamlet_models::{Privacy, ProblemCode};
use hamlet_server::config::Settings;
use serde_json::json;

use crate::test_app::TestApp;

#[tokio::test]
async fn an_unknown_address_is_not_found_on_every_method() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"] {
        for path in [
            "/v1",
            "/v1/",
            "/v1/nothing",
            "/v1/vals/",
            "/v1/vals/a/b/c/d",
            "/v1/users",
        ] {
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            ada.send(method, path, Body::empty())
                .await
                .refused(ProblemCode::NotFound);
        }
    }
    let head = ada.send(Method::HEAD, "/v1/nothing", Body::empty()).await;
    assert_eq!(head.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let app = TestApp::new().await;
    for (method, path, allowed) in [
        (
            Method::PATCH,
            "/v1/vals",
            ["GET", "HEAD", "POST", "PUT"].as_slice(),
        ),
        (Method::DELETE, "/v1/vals", &["GET", "POST", "PUT"]),
        (
            Method::POST,
            "/v1/vals/018f3c7e-0000-7000-8000-000000000001",
            &["GET", "HEAD", "PUT", "DELETE"],
        ),
        (Method::POST, "/v1/me", &["GET", "PUT"]),
        (Method::PUT, "/v1/session", &["GET", "POST", "DELETE"]),
    ] {
        let answer = app.anonymous().send(method.clone(), path, Body::empty()).await;
        answer.refused(ProblemCode::MethodNotAllowed);
        let allow: Vec<&str> = answer.header("allow").split(',').map(str::trim).collect();
        for name in allowed {
            assert!(allow.contains(name), "{method} {path} allows {allow:?}");
        }
    }
}

#[tokio::test]
async fn head_answers_like_get_without_the_body() {
    let app = TestApp::new().await;
    let val = app.user("ada").await.create_val("hello", Privacy::Public).await;
    for path in [
        format!("/v1/vals/{}", val.id),
        "/v1/vals".into(),
        "/v1/instance".into(),
        "/healthz".into(),
    ] {
        let get = app.anonymous().get(&path).await;
        let head = app.anonymous().send(Method::HEAD, &path, Body::empty()).await;
        assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0), "{path}");
        assert_eq!(
            head.header("content-length"),
            get.body.len().to_string(),
            "{path}"
        );
    }
}

#[tokio::test]
async fn an_empty_body_that_says_json_is_no_body() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await.with("content-type", "application/json");
    let val = ada.create_val("hello", Privacy::Private).await;
    let path = format!("/v1/vals/{}", val.id);
    assert_eq!(ada.get(&path).await.status, StatusCode::OK);
    ada.delete(&path).await.nothing();
    for (method, path) in [
        (Method::POST, "/v1/vals"),
        (Method::PUT, "/v1/vals"),
        (Method::PUT, "/v1/me"),
    ] {
        let problem = ada
            .send(method, path, Body::empty())
            .await
            .refused(ProblemCode::Malformed);
        assert!(
            problem.message.contains("needs a JSON body"),
            "{}",
            problem.message
        );
    }
}

#[tokio::test]
async fn broken_json_is_malformed_and_wrong_values_are_invalid() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await.with("content-type", "application/json");
    for (body, code) in [
        (r#"{"code":"#, ProblemCode::Malformed),
        ("nonsense", ProblemCode::Malformed),
        (r#"{"code":"1"} trailing"#, ProblemCode::Malformed),
        ("{\"code\":\"\u{1}\"}", ProblemCode::Malformed),
        ("[]", ProblemCode::Invalid),
        ("null", ProblemCode::Invalid),
        ("7", ProblemCode::Invalid),
        (r#"{"code":null}"#, ProblemCode::Invalid),
        (r#"{"code":"1","schedule":{"cron":7}}"#, ProblemCode::Invalid),
    ] {
        let problem = ada
            .send(Method::POST, "/v1/vals", Body::from(body))
            .await
            .refused(code);
        assert_eq!(
            problem.details.is_empty(),
            code == ProblemCode::Malformed,
            "{body}: {problem:?}"
        );
        if code == ProblemCode::Invalid {
            assert!(
                !problem.message.contains("line 1"),
                "the path says where: {problem:?}"
            );
        }
    }
    let deep = ada
        .send(
            Method::POST,
            "/v1/vals",
            Body::from(r#"{"code":"1","schedule":{"cron":7}}"#),
        )
        .await;
    assert_eq!(deep.problem().details[0].path, "schedule.cron");
    let invalid_utf8 = ada
        .send(Method::POST, "/v1/vals", Body::from(&b"{\"code\":\"\xff\"}"[..]))
        .await;
    invalid_utf8.refused(ProblemCode::Malformed);
    let bare = ada.with("content-type", "text/plain");
    bare.send(Method::POST, "/v1/vals", Body::from(&b"\xff"[..]))
        .await
        .refused(ProblemCode::Invalid);
}

#[tokio::test]
async fn a_content_type_that_is_not_read_is_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = r#"{"code":"1","name":"x"}"#;
    for (content_type, method, path, taken) in [
        ("application/xml", Method::POST, "/v1/vals", false),
        (
            "application/x-www-form-urlencoded",
            Method::POST,
            "/v1/vals",
            false,
        ),
        ("multipart/form-data; boundary=x", Method::POST, "/v1/vals", false),
        (
            "application/json; charset=latin1",
            Method::POST,
            "/v1/vals",
            false,
        ),
        ("text/plain", Method::PUT, "/v1/vals", false),
        ("text/plain", Method::POST, "/v1/session", false),
        ("application/json; charset=utf-8", Method::POST, "/v1/vals", true),
        ("APPLICATION/JSON", Method::PUT, "/v1/vals", true),
        ("application/vnd.api+json", Method::PUT, "/v1/vals", true),
    ] {
        let answer = ada
            .with("content-type", content_type)
            .send(method, path, Body::from(body))
            .await;
        if taken {
            assert_eq!(answer.status, StatusCode::OK, "{content_type}: {}", answer.text());
        } else {
            answer.refused(ProblemCode::UnsupportedMediaType);
        }
    }
    assert_eq!(
        ada.send(Method::PUT, "/v1/vals", Body::from(body)).await.status,
        StatusCode::OK,
        "none said"
    );
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await.with("content-type", "application/json");
    for (method, path, bytes) in [
        (Method::POST, "/v1/vals", 4 << 20),
        (Method::PUT, "/v1/vals", 4 << 20),
        (Method::PUT, "/v1/me", 1 << 20),
        (Method::POST, "/v1/session", 1 << 20),
    ] {
        let body = vec![b' '; bytes + 1];
        let answer = ada.send(method.clone(), path, Body::from(body.clone())).await;
        answer.refused(ProblemCode::TooLarge);
        // Without a length to see beforehand, too.
        let chunks = body
            .chunks(65_536)
            .map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec()))
            .collect::<Vec<_>>();
        let stream = Body::from_stream(futures_util::stream::iter(chunks));
        ada.send(method, path, stream)
            .await
            .refused(ProblemCode::TooLarge);
    }
}

#[tokio::test]
async fn pages_have_limits_and_carry_their_filters() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for number in 0..5 {
        ada.create_val(&format!("val{number}"), Privacy::Public).await;
    }
    let path = format!("/v1/users/{}/vals", ada.id);
    for bad in [
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=x",
        "limit=",
        "offset=-1",
        "offset=1.5",
        "limit=1&limit=2",
    ] {
        let problem = ada
            .get(&format!("{path}?{bad}"))
            .await
            .refused(ProblemCode::Invalid);
        assert_eq!(problem.details.len(), 1, "{bad}: {problem:?}");
    }
    for good in [
        "limit=1",
        "limit=100",
        "offset=0",
        "offset=9223372036854775807",
        "unknown=1",
    ] {
        assert_eq!(
            ada.get(&format!("{path}?{good}")).await.status,
            StatusCode::OK,
            "{good}"
        );
    }
    let page = ada
        .get(&format!(
            "{path}?limit=2&offset=2&type=script&privacy=public&query=va%20l%26"
        ))
        .await
        .value();
    assert_eq!(page["data"], json!([]));
    let page = ada
        .get(&format!(
            "{path}?limit=2&offset=2&type=script&privacy=public&query=VAL"
        ))
        .await
        .value();
    assert_eq!(page["data"].as_array().map(Vec::len), Some(2));
    for (link, offset) in [("self", 2), ("prev", 0), ("next", 4)] {
        let link = page["links"][link].as_str().expect("a link");
        assert_eq!(
            link,
            format!("http://hamlet.test{path}?limit=2&offset={offset}&type=script&privacy=public&query=VAL")
        );
        assert_eq!(ada.get(link).await.status, StatusCode::OK, "{link}");
    }
}

#[tokio::test]
async fn links_are_where_the_client_is_or_where_the_setting_says() {
    let app = TestApp::new().await;
    let user = app.user("ada").await;
    let path = format!("/v1/users/{}", user.id);
    for (host, base) in [
        ("vals.example.com", Some("http://vals.example.com")),
        ("127.0.0.1:8787", Some("http://127.0.0.1:8787")),
        ("[::1]:8787", Some("http://[::1]:8787")),
        ("evil\"><script>", None),
        ("user@host", None),
        ("host/path", None),
    ] {
        let answer = user.with("host", host).get(&path).await;
        match base {
            Some(base) => assert_eq!(answer.value()["url"], format!("{base}/u/ada")),
            None => assert_eq!(
                answer.refused(ProblemCode::Malformed).code,
                ProblemCode::Malformed
            ),
        }
    }
    let settings = Settings {
        base_url: Some("https://vals.example.com/".into()),
        ..Settings::default()
    };
    let app = TestApp::with_settings(settings).await;
    let user = app.user("ada").await;
    let answer = user.get(&format!("/v1/users/{}", user.id)).await.value();
    assert_eq!(
        answer["links"]["self"],
        format!("https://vals.example.com/v1/users/{}", user.id)
    );
}

#[tokio::test]
async fn any_site_may_use_the_interface_with_a_token() {
    let app = TestApp::new().await;
    let site = app.anonymous().with("origin", "https://elsewhere.example");
    let preflight = site
        .with("access-control-request-method", "POST")
        .with(
            "access-control-request-headers",
            "authorization,content-type,x-stainless-lang,x-stainless-os",
        )
        .with("authorization", "Bearer hmlt_unknown");
    for path in ["/v1/vals", "/v1/no/such/path"] {
        let answer = preflight.send(Method::OPTIONS, path, Body::empty()).await;
        answer.nothing();
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert_eq!(
            answer.header("access-control-allow-credentials"),
            "",
            "cookies stay at home"
        );
        let headers = answer.header("access-control-allow-headers");
        for name in [
            "authorization",
            "content-type",
            "x-stainless-lang",
            "x-stainless-os",
        ] {
            assert!(headers.contains(name), "{headers}");
        }
        for method in ["GET", "POST", "PUT", "DELETE"] {
            assert!(answer.header("access-control-allow-methods").contains(method));
        }
    }
    for path in ["/v1/vals", "/v1/no/such/path", "/v1/me"] {
        assert_eq!(
            site.get(path).await.header("access-control-allow-origin"),
            "*",
            "{path}"
        );
    }
    assert!(
        site.get("/v1/vals")
            .await
            .header("access-control-expose-headers")
            .contains("etag")
    );
}

#[tokio::test]
async fn every_answer_has_the_headers_that_keep_browsers_safe() {
    let app = TestApp::new().await;
    for path in ["/v1/vals", "/v1/nothing", "/healthz", "/docs", "/v1/openapi.json"] {
        let answer = app.anonymous().get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
    }
}

#[tokio::test]
async fn a_missing_token_is_told_how_to_send_one() {
    let app = TestApp::new().await;
    let answer = app.anonymous().get("/v1/me").await;
    let problem = answer.refused(ProblemCode::SignedOut);
    assert!(
        problem.message.contains("Authorization: Bearer"),
        "{}",
        problem.message
    );
    assert_eq!(answer.header("www-authenticate"), "Bearer");
}
