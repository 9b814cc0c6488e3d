//! The pages of a val's history and of one version.

use hamlet_app::components::compare_picker::Compared;
use hamlet_models::{
    ExtendedVal, Page, PageLinks, ProblemCode, RunStatus, ValId, ValKind, Version, VersionNumber,
};
use leptos::prelude::document;
use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{
    code::without_bundle,
    fixtures::{ada, ago, extended, id, me, page, page_with_next, run, val},
    harness::{
        address, button, find, find_all, find_named, has_text, link, mount_app, query, query_named, until,
        until_text,
    },
    server::Server,
};

const ADDRESS: &str = "/v/ada/hello/versions";
const VERSIONS: &str = "/v1/vals/018f3c7e-0000-7000-8000-000000000001/versions";

fn version(number: VersionNumber, message: Option<&str>) -> Version {
    Version {
        val_id: id::<ValId>(1),
        version: number,
        created_at: ago(3_600 - 60 * i64::from(number)),
        author: Some(ada()),
        message: message.map(str::to_owned),
        size: 1_234,
        lines_added: 12,
        lines_removed: 3,
    }
}

/// Version 2 was deleted, 3 is the latest.
fn history() -> Page<Version> {
    page(vec![
        version(3, Some("Say it louder")),
        version(1, None),
        version(0, Some("Begin")),
    ])
}

fn as_of(number: VersionNumber, code: &str) -> ExtendedVal {
    let mut val = val(1, "hello", ValKind::Http);
    val.version = number;
    val.code = Some(code.to_owned());
    extended(val)
}

/// A visitor's view of Ada's val, its code in plain fields.
fn public() -> Server {
    without_bundle();
    let server = Server::start();
    server.on("GET /v1/alias/ada/hello", 200, &as_of(3, "three"));
    server.on(&format!("GET {VERSIONS}"), 200, &history());
    for (number, code) in [(0, "nought"), (1, "one"), (3, "three")] {
        server.on(&format!("GET {VERSIONS}/{number}"), 200, &as_of(number, code));
    }
    server
}

/// The same, with Ada signed in.
fn server() -> Server {
    let server = public();
    server.on("GET /v1/session", 200, &me());
    server
}

#[wasm_bindgen_test]
async fn the_history_tells_what_each_save_was() {
    let _server = server();
    let (root, _mounted) = mount_app(ADDRESS);
    until("rows", || find_all(&root, ".version-list__row").len() == 3).await;
    let rows = find_all(&root, ".version-list__row");
    for part in ["Say it louder", "+12", "−3", "1.2 kB", "ada", "latest"] {
        assert!(
            rows[0].inner_text().contains(part),
            "no {part} in {}",
            rows[0].inner_text()
        );
    }
    assert!(rows[1].inner_text().contains("No message") && !rows[1].inner_text().contains("latest"));
    assert!(
        query_named(&rows[0], "button", "Restore version 3").is_none(),
        "the latest is what it is"
    );
    assert!(query_named(&rows[1], "button", "Restore version 1").is_some());
    find(&rows[1], "a").click();
    until("the version", || address() == "/v/ada/hello/versions/1").await;
}

#[wasm_bindgen_test]
async fn a_visitor_may_compare_and_nothing_else() {
    let _server = public();
    let (root, _mounted) = mount_app(ADDRESS);
    until("rows", || find_all(&root, ".version-list__row").len() == 3).await;
    assert_eq!(find_all(&root, ".version-list__row input").len(), 3);
    assert!(query(&root, ".version-list__row button").is_none());
    assert!(query_named(&root, "a", "Runs").is_none());
}

#[wasm_bindgen_test]
fn a_third_choice_takes_the_place_of_the_first() {
    let choose = |versions: &[VersionNumber]| {
        versions
            .iter()
            .fold(Compared::Nothing, |chosen, &version| chosen.toggled(version))
    };
    assert_eq!(choose(&[7, 3]), Compared::Two(3, 7));
    assert_eq!(choose(&[3, 7, 9]), Compared::Two(7, 9));
    assert_eq!(choose(&[3, 7, 3]), Compared::One(7));
    assert_eq!(choose(&[3, 3]), Compared::Nothing);
    for text in ["3", "3..7", "7..3"] {
        assert_eq!(text.parse::<Compared>().expect("a choice").to_string(), text);
    }
    for text in ["", "..", "3..", "a..b", "-1"] {
        assert!(text.parse::<Compared>().is_err(), "{text}");
    }
}

#[wasm_bindgen_test]
async fn two_that_are_ticked_are_compared_in_the_address() {
    let _server = public();
    let (root, _mounted) = mount_app(ADDRESS);
    until("rows", || find_all(&root, ".version-list__row").len() == 3).await;
    find_named(&root, "input", "Compare version 3").click();
    until_text(&root, "is chosen").await;
    assert_eq!(address(), "/v/ada/hello/versions?compare=3");
    find_named(&root, "input", "Compare version 1").click();
    until("two", || address() == "/v/ada/hello/versions?compare=1..3").await;
    until_text(&root, "Version 1 → version 3").await;
    until("focus on what changed", || {
        let title = query(&root, ".compare__title");
        title.is_some_and(|title| document().active_element().as_ref() == Some(title.as_ref()))
    })
    .await;
    let inline = link(&root, "Inline").get_attribute("href");
    assert_eq!(
        inline.as_deref(),
        Some("/v/ada/hello/versions?compare=1..3&view=unified")
    );
    until("both texts", || {
        let texts: Vec<String> = find_all(&root, ".compare pre")
            .iter()
            .map(|text| text.inner_text())
            .collect();
        texts == ["one", "three"]
    })
    .await;
    link(&root, "Swap").click();
    until("the other order", || {
        address() == "/v/ada/hello/versions?compare=3..1"
    })
    .await;
    link(&root, "Stop comparing").click();
    until("nothing", || address() == ADDRESS).await;
    assert!(!has_text(&root, "→ version"));
}

#[wasm_bindgen_test]
async fn a_comparison_with_what_is_gone_says_which() {
    let _server = public();
    let (root, _mounted) = mount_app("/v/ada/hello/versions?compare=2..3");
    until_text(&root, "There is no version 2").await;
    assert!(query(&root, ".code-compare").is_none());
}

#[wasm_bindgen_test]
async fn texts_that_are_the_same_have_no_changes_to_show() {
    let server = public();
    server.on(&format!("GET {VERSIONS}/1"), 200, &as_of(1, "three"));
    let (root, _mounted) = mount_app("/v/ada/hello/versions?compare=1..3");
    until_text(&root, "Versions 1 and 3 have the same code").await;
}

#[wasm_bindgen_test]
async fn restoring_makes_a_new_version_and_says_so() {
    let server = server();
    server.on(&format!("POST {VERSIONS}"), 201, &as_of(4, "one"));
    let (root, _mounted) = mount_app(ADDRESS);
    until("the button", || {
        query_named(&root, "button", "Restore version 1").is_some()
    })
    .await;
    let restored = [
        version(4, Some("Restore version 1")),
        version(3, None),
        version(1, None),
    ];
    server.on(&format!("GET {VERSIONS}"), 200, &page(restored.to_vec()));
    button(&root, "Restore version 1").click();
    until_text(&root, "is new: it has the code of version 1").await;
    assert_eq!(
        link(&root, "Version 4").get_attribute("href").as_deref(),
        Some("/v/ada/hello/versions/4")
    );
    let sent = &server.seen(&format!("POST {VERSIONS}"))[0];
    assert_eq!(
        sent.json(),
        json!({"code": "one", "message": "Restore version 1"})
    );
    assert_eq!(
        sent.if_match.as_deref(),
        Some("\"3\""),
        "a newer version must not be overwritten"
    );
    until_text(&find(&root, ".version-list"), "Restore version 1").await;
}

#[wasm_bindgen_test]
async fn restoring_what_the_latest_has_too_makes_nothing() {
    let server = server();
    server.on(&format!("POST {VERSIONS}"), 200, &as_of(3, "three"));
    let (root, _mounted) = mount_app(ADDRESS);
    until("the button", || {
        query_named(&root, "button", "Restore version 1").is_some()
    })
    .await;
    button(&root, "Restore version 1").click();
    until_text(&root, "no new version was made").await;
    assert!(!has_text(&root, "is new"));
}

#[wasm_bindgen_test]
async fn restoring_never_overwrites_what_came_meanwhile() {
    let server = server();
    server.refuse(
        &format!("POST {VERSIONS}"),
        ProblemCode::VersionMismatch,
        "the latest version is 4",
    );
    let (root, _mounted) = mount_app(ADDRESS);
    until("the button", || {
        query_named(&root, "button", "Restore version 1").is_some()
    })
    .await;
    button(&root, "Restore version 1").click();
    until_text(&root, "nothing was restored").await;
    server.on(
        "GET /v1/vals/018f3c7e-0000-7000-8000-000000000001",
        200,
        &as_of(4, "four"),
    );
    button(&root, "Show it").click();
    until_text(&root, "v4, saved").await;
    assert!(!has_text(&root, "nothing was restored"));
}

#[wasm_bindgen_test]
async fn deleting_asks_first() {
    let server = server();
    let delete = format!("DELETE {VERSIONS}/1");
    server.on_empty(&delete, 204);
    server.on(
        "GET /v1/vals/018f3c7e-0000-7000-8000-000000000001",
        200,
        &as_of(3, "three"),
    );
    let (root, _mounted) = mount_app(ADDRESS);
    until("the button", || {
        query_named(&root, "button", "Delete version 1").is_some()
    })
    .await;
    button(&root, "Delete version 1").click();
    until_text(&root, "Delete version 1?").await;
    assert!(!has_text(&root, "It is the latest"));
    button(&root, "Cancel").click();
    assert!(server.seen(&delete).is_empty());
    button(&root, "Delete version 1").click();
    until_text(&root, "Delete version 1?").await;
    server.on(
        &format!("GET {VERSIONS}"),
        200,
        &page(vec![version(3, None), version(0, None)]),
    );
    button(&root, "Delete the version").click();
    until_text(&root, "Version 1 is deleted.").await;
    until("the row to go", || {
        find_all(&root, ".version-list__row").len() == 2
    })
    .await;
}

#[wasm_bindgen_test]
async fn a_deletion_that_fails_says_why_and_can_be_tried_again() {
    let server = server();
    server.refuse(
        &format!("DELETE {VERSIONS}/3"),
        ProblemCode::Unavailable,
        "the database can't be reached",
    );
    let (root, _mounted) = mount_app(ADDRESS);
    until("the button", || {
        query_named(&root, "button", "Delete version 3").is_some()
    })
    .await;
    button(&root, "Delete version 3").click();
    until_text(&root, "It is the latest").await;
    button(&root, "Delete the version").click();
    until_text(&root, "The database can't be reached.").await;
    assert!(has_text(&root, "Delete version 3?") && !has_text(&root, "is deleted"));
}

#[wasm_bindgen_test]
async fn the_only_version_is_kept_and_why_is_told() {
    let server = server();
    server.on(&format!("GET {VERSIONS}"), 200, &page(vec![version(3, None)]));
    let (root, _mounted) = mount_app(ADDRESS);
    until("the button", || {
        query_named(&root, "button", "Delete version 3").is_some()
    })
    .await;
    button(&root, "Delete version 3").click();
    until_text(&root, "A val keeps at least one version").await;
    assert!(query_named(&root, "button", "Delete the version").is_none());
    assert_eq!(
        link(&root, "Open the val’s settings")
            .get_attribute("href")
            .as_deref(),
        Some("/v/ada/hello/settings")
    );
    assert!(server.seen("DELETE").is_empty());
}

#[wasm_bindgen_test]
async fn a_long_history_has_pages() {
    let server = public();
    server.on(
        &format!("GET {VERSIONS}"),
        200,
        &page_with_next(vec![version(3, None)]),
    );
    server.on(
        &format!("GET {VERSIONS}?offset=30&limit=30"),
        200,
        &Page {
            data: vec![version(0, Some("Begin"))],
            links: PageLinks::default(),
        },
    );
    let (root, _mounted) = mount_app(ADDRESS);
    until("the pager", || query_named(&root, "a", "Older").is_some()).await;
    link(&root, "Older").click();
    until_text(&root, "Begin").await;
    assert_eq!(address(), "/v/ada/hello/versions?offset=30");
}

#[wasm_bindgen_test]
async fn a_history_that_can_not_be_had_says_why() {
    let server = public();
    server.refuse(
        &format!("GET {VERSIONS}"),
        ProblemCode::Internal,
        "something went wrong on our side",
    );
    let (root, _mounted) = mount_app(ADDRESS);
    until_text(&root, "Something went wrong on our side.").await;
    server.on(&format!("GET {VERSIONS}"), 200, &history());
    button(&root, "Retry").click();
    until("rows", || find_all(&root, ".version-list__row").len() == 3).await;
}

#[wasm_bindgen_test]
async fn one_version_shows_its_code_and_its_neighbours() {
    let _server = public();
    let (root, _mounted) = mount_app("/v/ada/hello/versions/1");
    until("the code", || query(&root, ".code-reader__code").is_some()).await;
    assert_eq!(
        find(&root, "[role=region]")
            .get_attribute("aria-label")
            .as_deref(),
        Some("Code of version 1")
    );
    until("the facts", || has_text(&root, "1.2 kB")).await;
    let href = |name: &str| link(&root, name).get_attribute("href").unwrap_or_default();
    assert_eq!(href("← v0"), "/v/ada/hello/versions/0");
    assert_eq!(href("v3 →"), "/v/ada/hello/versions/3");
    assert_eq!(
        href("Compare with previous"),
        "/v/ada/hello/versions?compare=0..1"
    );
    assert_eq!(href("Compare with latest"), "/v/ada/hello/versions?compare=1..3");
    for name in ["Run this version", "Restore", "Delete"] {
        assert!(
            query_named(&root, "button", name).is_none(),
            "{name} is its owner's"
        );
    }
}

#[wasm_bindgen_test]
async fn the_latest_version_has_nothing_to_restore() {
    let _server = server();
    let (root, _mounted) = mount_app("/v/ada/hello/versions/3");
    until("the buttons", || query_named(&root, "button", "Delete").is_some()).await;
    assert!(query_named(&root, "button", "Restore").is_none());
    assert!(query_named(&root, "a", "Compare with latest").is_none());
}

#[wasm_bindgen_test]
async fn one_version_can_be_run() {
    let server = server();
    let start = "POST /v1/vals/018f3c7e-0000-7000-8000-000000000001/runs";
    server.on(start, 202, &run(8, "hello", RunStatus::Queued));
    let (root, _mounted) = mount_app("/v/ada/hello/versions/1");
    until("the button", || {
        query_named(&root, "button", "Run this version").is_some()
    })
    .await;
    button(&root, "Run this version").click();
    until("the run", || {
        address() == "/runs/018f3c7e-0000-7000-8000-000000000008"
    })
    .await;
    assert_eq!(server.seen(start)[0].json(), json!({"version": 1}));
}

#[wasm_bindgen_test]
async fn a_version_that_is_deleted_is_left_for_the_history() {
    let server = server();
    server.on_empty(&format!("DELETE {VERSIONS}/1"), 204);
    server.on(
        "GET /v1/vals/018f3c7e-0000-7000-8000-000000000001",
        200,
        &as_of(3, "three"),
    );
    let (root, _mounted) = mount_app("/v/ada/hello/versions/1");
    until("the facts", || has_text(&root, "1.2 kB")).await;
    until("the button", || query_named(&root, "button", "Delete").is_some()).await;
    button(&root, "Delete").click();
    until_text(&root, "Delete version 1?").await;
    button(&root, "Delete the version").click();
    until("the history", || address() == ADDRESS).await;
}

#[wasm_bindgen_test]
async fn a_version_that_never_was_says_so() {
    let _server = public();
    for number in ["2", "first"] {
        let (root, _mounted) = mount_app(&format!("/v/ada/hello/versions/{number}"));
        until_text(&root, &format!("There is no version {number}")).await;
        assert_eq!(
            link(&root, "Show all versions").get_attribute("href").as_deref(),
            Some(ADDRESS)
        );
        assert!(query(&root, "textarea").is_none());
    }
}
