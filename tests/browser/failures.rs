//! Each failure has words and a way on of its own.

use hamlet_app::{
    api::error::ClientError,
    components::{confirm::ConfirmByName, failure::LoadFailed},
};
use hamlet_models::{Problem, ProblemCode};
use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{
    harness::{
        button, fill, find, has_text, link, mount, mount_app, mount_at, query_named, tick, until_text,
    },
    server::Server,
};

fn refused(code: ProblemCode, message: &str) -> ClientError {
    ClientError::Refused {
        status: code.status(),
        problem: Problem::new(code, message),
    }
}

#[wasm_bindgen_test]
async fn each_failure_has_its_own_words() {
    let _server = Server::start();
    for (error, title, words) in [
        (
            ClientError::Offline,
            "Can’t reach the server",
            "comes back by itself",
        ),
        (
            ClientError::Unreadable,
            "This could not be loaded",
            "reload the page",
        ),
        (ClientError::signed_out(), "Sign in to see this", "signed in"),
        (
            ClientError::not_found(),
            "Nothing here",
            "private to someone else",
        ),
        (
            refused(ProblemCode::NotOwner, "only ada may see its runs"),
            "You may not see this",
            "Only ada may see its runs.",
        ),
        (
            refused(ProblemCode::Internal, "it broke"),
            "The server failed",
            "It broke.",
        ),
    ] {
        let (root, _mounted) = mount_at(
            "/v/ada/hello",
            move || view! { <LoadFailed error on_retry=|()| () /> },
        );
        assert_eq!(find(&root, "h1").inner_text(), title);
        assert!(has_text(&root, words), "{words} in {}", root.inner_text());
    }
}

#[wasm_bindgen_test]
async fn only_what_may_pass_is_tried_again() {
    let _server = Server::start();
    let tries = RwSignal::new(0);
    let (root, _mounted) = mount_at("/", move || {
        view! { <LoadFailed error=ClientError::Offline on_retry=move |()| tries.update(|tries| *tries += 1) /> }
    });
    button(&root, "Retry").click();
    assert_eq!(tries.get_untracked(), 1);
    let (root, _mounted) = mount_at("/v/ada/hello", || {
        view! { <LoadFailed error=ClientError::signed_out() on_retry=|()| () /> }
    });
    assert!(query_named(&root, "button", "Retry").is_none());
    assert_eq!(
        link(&root, "Sign in").get_attribute("href").as_deref(),
        Some("/login?next=%2Fv%2Fada%2Fhello")
    );
}

#[wasm_bindgen_test]
async fn a_deletion_wants_the_name_typed_and_shows_why_it_failed() {
    let (open, error) = (RwSignal::new(true), RwSignal::new(None));
    let confirmed = RwSignal::new(0);
    let on_confirm = Callback::new(move |()| confirmed.update(|times| *times += 1));
    let (root, _mounted) = mount(move || {
        view! {
            <ConfirmByName open title="Delete hello?" name="hello" verb="Delete the val" busy=false error on_confirm>
                <p>"Its 12 versions go with it."</p>
            </ConfirmByName>
        }
    });
    until_text(&root, "Its 12 versions").await;
    let delete = button(&root, "Delete the val");
    for (typed, may) in [("", false), ("hell", false), ("Hello", false), ("hello", true)] {
        fill(&root, "Type hello to confirm", typed);
        tick().await;
        assert_eq!(!delete.has_attribute("disabled"), may, "{typed:?}");
    }
    delete.click();
    assert_eq!(confirmed.get_untracked(), 1);
    error.set(Some(ClientError::Offline));
    until_text(&root, "Can’t reach the server.").await;
    assert!(open.get_untracked());
}

#[wasm_bindgen_test]
async fn an_answer_that_is_not_ours_is_told_in_words() {
    let server = Server::start();
    server.on_text("GET /v1/alias/ada", 502, "<html>Bad gateway</html>");
    let (root, _mounted) = mount_app("/u/ada");
    until_text(&root, "The server is not there at the moment.").await;
    assert!(!has_text(&root, "html"));
    server.on_text("GET /v1/alias/ada", 200, "<html>Some other program</html>");
    button(&root, "Retry").click();
    until_text(&root, "The server’s answer can’t be read.").await;
}
