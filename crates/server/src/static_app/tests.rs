use super::*;

static ASSETS: &[Asset] = &[
    Asset {
        name: "app-0123456789abcdef.js",
        plain: b"plain",
        brotli: Some(b"br"),
        gzip: Some(b"gz"),
    },
    Asset {
        name: "icon.svg",
        plain: b"<svg/>",
        brotli: None,
        gzip: None,
    },
    Asset {
        name: "index.html",
        plain: b"<script>1</script>",
        brotli: Some(b"brotli page"),
        gzip: None,
    },
];

fn embedded_app() -> StaticApp {
    StaticApp {
        source: Source::Embedded(ASSETS),
    }
}

async fn get(
    app: &StaticApp,
    path: &str,
    asked: &[(header::HeaderName, &str)],
) -> (StatusCode, HeaderMap, String) {
    let headers = asked
        .iter()
        .map(|(name, value)| (name.clone(), value.parse().expect("a header")))
        .collect();
    let response = app.answer(&Method::GET, path, &headers);
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    (
        head.status,
        head.headers,
        String::from_utf8(body.into()).expect("text"),
    )
}

#[tokio::test]
async fn a_file_is_sent_in_the_smallest_form_that_the_client_takes() {
    let app = embedded_app();
    let path = "/app-0123456789abcdef.js";
    for (accepted, body, encoding) in [
        ("gzip, deflate, br", "br", Some("br")),
        ("gzip;q=0.5, br;q=0", "gz", Some("gzip")),
        ("identity", "plain", None),
    ] {
        let (status, headers, text) = get(&app, path, &[(header::ACCEPT_ENCODING, accepted)]).await;
        assert_eq!((status, text.as_str()), (StatusCode::OK, body), "{accepted}");
        let said = headers
            .get(header::CONTENT_ENCODING)
            .map(|encoding| encoding.to_str().expect("text"));
        assert_eq!(said, encoding, "{accepted}");
        assert_eq!(headers[header::CACHE_CONTROL], FOREVER);
        assert!(
            headers[header::VARY]
                .to_str()
                .expect("text")
                .contains("accept-encoding")
        );
        assert_eq!(headers[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
    }
}

#[tokio::test]
async fn every_page_is_the_app_and_is_asked_for_anew() {
    let app = embedded_app();
    for path in ["/", "/index.html", "/v/ada/hello/versions", "/u/ada"] {
        let (status, headers, text) = get(&app, path, &[]).await;
        assert_eq!(
            (status, text.as_str()),
            (StatusCode::OK, "<script>1</script>"),
            "{path}"
        );
        assert_eq!(headers[header::CACHE_CONTROL], "no-cache");
        assert!(
            headers[header::CONTENT_SECURITY_POLICY]
                .to_str()
                .expect("text")
                .contains("'sha256-")
        );
        let etag = headers[header::ETAG].to_str().expect("text");
        let (status, headers, text) = get(&app, path, &[(header::IF_NONE_MATCH, etag)]).await;
        assert_eq!((status, text.as_str()), (StatusCode::NOT_MODIFIED, ""), "{path}");
        assert!(headers.contains_key(header::CONTENT_SECURITY_POLICY));
    }
}

#[tokio::test]
async fn a_compressed_page_has_the_policy_of_the_plain_one() {
    let app = embedded_app();
    let (_, plain, _) = get(&app, "/", &[]).await;
    let (_, packed, text) = get(&app, "/", &[(header::ACCEPT_ENCODING, "br")]).await;
    assert_eq!(text, "brotli page");
    assert_eq!(
        packed[header::CONTENT_SECURITY_POLICY],
        plain[header::CONTENT_SECURITY_POLICY]
    );
}

#[tokio::test]
async fn what_is_gone_and_what_is_no_page_is_not_found() {
    let app = embedded_app();
    for path in [
        "/app-fedcba9876543210.js",
        "/editor/chunk-4ZJZ7XHG.js",
        "/v1/nothing",
        "/v1",
        "/robots.txt",
    ] {
        let (status, headers, text) = get(&app, path, &[]).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(headers[header::CONTENT_TYPE], "application/json", "{path}");
        assert!(text.contains("\"not_found\""), "{path}: {text}");
    }
    let posted = app.answer(&Method::POST, "/", &HeaderMap::new());
    assert_eq!(posted.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_folder_is_served_as_it_is_now_and_nothing_beside_it() {
    let outer = tempfile::tempdir().expect("a folder");
    let folder = outer.path().join("dist");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(outer.path().join("secret.txt"), "secret").expect("a file");
    let app = StaticApp::of_folder(folder.clone());
    let (_, headers, text) = get(&app, "/", &[]).await;
    assert!(
        text.contains("not in this build") && !headers.contains_key(header::CONTENT_SECURITY_POLICY),
        "{text}"
    );

    std::fs::write(folder.join("index.html"), "<p>app").expect("a file");
    std::fs::write(folder.join("icon.svg"), "<svg/>").expect("a file");
    assert_eq!(get(&app, "/new", &[]).await.2, "<p>app");
    let (_, headers, _) = get(&app, "/icon.svg", &[]).await;
    assert_eq!(
        (&headers[header::CONTENT_TYPE], &headers[header::CACHE_CONTROL]),
        (
            &"image/svg+xml".parse().expect("a header"),
            &"no-cache".parse().expect("a header")
        )
    );
    for path in ["/../secret.txt", "/a/../../secret.txt", "//../secret.txt"] {
        assert!(!get(&app, path, &[]).await.2.contains("secret"), "{path}");
    }
}

#[test]
fn only_names_with_a_hash_are_kept_for_ever() {
    for name in [
        "app-0123456789abcdef.js",
        "app-0123456789abcdef_bg.wasm",
        "editor/chunk-4ZJZ7XHG.js",
        "a-0123456789abcdef.css",
    ] {
        assert!(has_hash(name), "{name}");
    }
    for name in [
        "index.html",
        "icon.svg",
        "editor/editor.js",
        "some-word.js",
        "a-12345678.js.txt/x.js",
    ] {
        assert!(!has_hash(name), "{name}");
    }
}

#[test]
fn a_page_is_asked_for_by_its_type() {
    let wants = |accept: &str| {
        wants_page(&HeaderMap::from_iter([(
            header::ACCEPT,
            accept.parse().expect("a header"),
        )]))
    };
    assert!(wants("text/html,application/xhtml+xml,*/*;q=0.8"));
    assert!(!wants("*/*") && !wants("application/typescript") && !wants_page(&HeaderMap::new()));
}
