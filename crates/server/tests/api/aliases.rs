//! `/v1/alias/…`.

use hamlet_models::{ExtendedVal, Privacy, ProblemCode, User};

use crate::test_app::TestApp;

#[tokio::test]
async fn names_are_found_whatever_their_case_and_with_an_at() {
    let app = TestApp::new().await;
    let ada = app.user("Ada-L").await;
    let val = ada.create_val("helloWorld", Privacy::Unlisted).await;
    for username in ["Ada-L", "ada-l", "@ADA-L", "%40ada-l"] {
        let user: User = app.anonymous().get(&format!("/v1/alias/{username}")).await.json();
        assert_eq!(user.id, ada.id, "{username}");
        for name in ["helloWorld", "HELLOWORLD"] {
            let found: ExtendedVal = app
                .anonymous()
                .get(&format!("/v1/alias/{username}/{name}"))
                .await
                .json();
            assert_eq!(found.id, val.id, "{username}/{name}");
        }
    }
}

#[tokio::test]
async fn a_name_that_is_not_there_is_not_found() {
    let app = TestApp::new().await;
    app.user("ada").await;
    for path in [
        "/v1/alias/nobody",
        "/v1/alias/@@ada",
        "/v1/alias/%20",
        "/v1/alias/ada%00",
        "/v1/alias/ada/nothing",
        "/v1/alias/nobody/nothing",
        "/v1/alias/ada/%27",
        "/v1/alias/ada/a/b",
    ] {
        app.anonymous().get(path).await.refused(ProblemCode::NotFound);
    }
}
