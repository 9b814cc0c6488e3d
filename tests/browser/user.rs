//! A user's page.

use hamlet_app::pages::user::UserPage;
use hamlet_models::{BasicVal, ProblemCode, RunStatus, User, UserId, ValKind};
use leptos::prelude::*;
use leptos_router::{
    components::{FlatRoutes, Route},
    path,
};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::HtmlElement;

use crate::{
    fixtures::{ada, ada_user, id, me, page, page_with_next, val, val_that_ran},
    harness::{
        Mounted, address, find, find_all, has_text, link, mount_at, query, query_named, until, until_text,
    },
    server::Server,
};

fn vals_of_ada() -> String {
    format!("GET /v1/users/{}/vals", ada().id)
}

fn server_with(vals: Vec<BasicVal>) -> Server {
    let server = Server::start();
    server.on("GET /v1/alias/ada", 200, &ada_user());
    server.on(&vals_of_ada(), 200, &page(vals));
    server
}

fn mount_user(address: &str) -> (HtmlElement, Mounted) {
    mount_at(address, || {
        view! {
            <FlatRoutes fallback=|| "elsewhere">
                <Route path=path!("/u/:username") view=|| view! { <UserPage /> } />
            </FlatRoutes>
        }
    })
}

#[wasm_bindgen_test]
async fn a_user_has_a_name_a_bio_and_vals() {
    let _server = server_with(vec![
        val(1, "hello", ValKind::Http),
        val(2, "tool", ValKind::Script),
    ]);
    let (root, _mounted) = mount_user("/u/ada");
    until_text(&root, "hello").await;
    assert_eq!(find(&root, "h1").inner_text(), "ada");
    assert!(has_text(&root, "machines that are not there yet"));
    assert_eq!(find_all(&root, ".rows li").len(), 2);
    assert!(
        query_named(&root, "a", "Edit profile").is_none(),
        "a visitor edits nothing"
    );
    assert!(
        query_named(&root, "a", "private").is_none(),
        "a visitor sees public vals alone"
    );
    until("the title", || document().title() == "ada · Hamlet").await;
}

#[wasm_bindgen_test]
async fn the_filters_are_in_the_address_and_in_the_question() {
    let server = server_with(vec![val(1, "hello", ValKind::Http)]);
    server.on("GET /v1/session", 200, &me());
    let (root, _mounted) = mount_user("/u/ada?offset=30");
    until_text(&root, "hello").await;
    assert_eq!(
        server
            .seen(&vals_of_ada())
            .last()
            .map(|seen| seen.line.contains("offset=30")),
        Some(true)
    );
    link(&root, "HTTP").click();
    until("the kind", || address() == "/u/ada?type=http").await;
    until("the question", || {
        !server.seen(&format!("{}?type=http", vals_of_ada())).is_empty()
    })
    .await;
    until("the owner's filter", || {
        query_named(&root, "a", "private").is_some()
    })
    .await;
    link(&root, "private").click();
    until("both", || {
        !server
            .seen(&format!("{}?type=http&privacy=private", vals_of_ada()))
            .is_empty()
    })
    .await;
    assert_eq!(
        link(&root, "HTTP").get_attribute("aria-current").as_deref(),
        Some("true")
    );
    assert_eq!(link(&root, "script").get_attribute("aria-current"), None);
}

#[wasm_bindgen_test]
async fn the_owner_edits_and_sees_outcomes() {
    let server = server_with(vec![val_that_ran(1, "hello", ValKind::Http, RunStatus::Timeout)]);
    server.on("GET /v1/session", 200, &me());
    let (root, _mounted) = mount_user("/u/ada");
    until_text(&root, "timed out").await;
    until("the button", || query_named(&root, "a", "Edit profile").is_some()).await;
}

#[wasm_bindgen_test]
async fn a_long_list_has_pages() {
    let server = server_with(vec![]);
    server.on(
        &vals_of_ada(),
        200,
        &page_with_next(vec![val(1, "hello", ValKind::Http)]),
    );
    let (root, _mounted) = mount_user("/u/ada?type=http");
    until("the pager", || query(&root, "a[rel=next]").is_some()).await;
    let next = find(&root, "a[rel=next]").get_attribute("href").expect("a link");
    assert!(next.contains("type=http") && next.contains("offset=30"), "{next}");
}

#[wasm_bindgen_test]
async fn no_vals_says_whether_a_filter_hides_them() {
    let _server = server_with(vec![]);
    let (root, _mounted) = mount_user("/u/ada");
    until_text(&root, "No vals yet").await;
    drop(_mounted);
    let (root, _mounted) = mount_user("/u/ada?type=email");
    until_text(&root, "No vals of this kind").await;
}

#[wasm_bindgen_test]
async fn a_user_who_is_not_there_is_not_found() {
    let server = Server::start();
    server.refuse("GET /v1/alias/eve", ProblemCode::NotFound, "no such user");
    let (root, _mounted) = mount_user("/u/eve");
    until_text(&root, "Nothing here").await;
    assert_eq!(find(&root, "h1").inner_text(), "Nothing here");
    assert!(query(&root, ".rows").is_none());
}

#[wasm_bindgen_test]
async fn from_one_user_to_another_the_filters_stay_behind() {
    let server = server_with(vec![val(1, "hello", ValKind::Http)]);
    let eve = User {
        id: id::<UserId>(9),
        username: Some("eve".parse().expect("a username")),
        ..ada_user()
    };
    let vals_of_eve = format!("GET /v1/users/{}/vals", eve.id);
    server.on("GET /v1/alias/eve", 200, &eve);
    server.on(&vals_of_eve, 200, &page(vec![val(2, "world", ValKind::Http)]));
    let (root, _mounted) = mount_at("/u/ada?type=http", || {
        view! {
            <a href="/u/eve">"Eve"</a>
            <FlatRoutes fallback=|| "elsewhere">
                <Route path=path!("/u/:username") view=|| view! { <UserPage /> } />
            </FlatRoutes>
        }
    });
    until_text(&root, "hello").await;
    link(&root, "Eve").click();
    until_text(&root, "world").await;
    let seen = server.seen(&vals_of_eve);
    assert!(seen.iter().all(|seen| !seen.line.contains("type=")), "{seen:?}");
    assert_eq!(
        link(&root, "any kind").get_attribute("aria-current").as_deref(),
        Some("true")
    );
}
