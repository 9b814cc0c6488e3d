use hamlet_store::{StoreError, hash_secret};
use uuid::Uuid;

use crate::harness::{TestStore, far_future, long_ago};

both!(a_session_is_its_users_until_it_is_ended);
async fn a_session_is_its_users_until_it_is_ended(store: TestStore) {
    let ada = store.user("ada").await;
    let hash = hash_secret("s");
    store
        .create_session(ada.id, hash, far_future())
        .await
        .expect("a session");
    for _ in 0..2 {
        let user = store
            .find_session(hash)
            .await
            .expect("an answer")
            .expect("a user");
        assert_eq!(user.id, ada.id);
    }
    let store = store.reopened().await;
    assert!(store.find_session(hash).await.expect("an answer").is_some());
    store.delete_session(hash).await.expect("ended");
    assert!(store.find_session(hash).await.expect("an answer").is_none());
    store.delete_session(hash).await.expect("ended already");
}

both!(a_session_that_is_over_is_nobodys);
async fn a_session_that_is_over_is_nobodys(store: TestStore) {
    let ada = store.user("ada").await;
    store
        .create_session(ada.id, hash_secret("old"), long_ago())
        .await
        .expect("a session");
    assert!(
        store
            .find_session(hash_secret("old"))
            .await
            .expect("an answer")
            .is_none()
    );
    assert!(
        store
            .find_session(hash_secret("never"))
            .await
            .expect("an answer")
            .is_none()
    );
}

both!(all_sessions_of_a_user_end_at_once);
async fn all_sessions_of_a_user_end_at_once(store: TestStore) {
    let (ada, eve) = (store.user("ada").await, store.user("eve").await);
    for secret in ["a", "b"] {
        store
            .create_session(ada.id, hash_secret(secret), far_future())
            .await
            .expect("a session");
        assert!(
            store
                .find_session(hash_secret(secret))
                .await
                .expect("an answer")
                .is_some()
        );
    }
    store
        .create_session(eve.id, hash_secret("e"), far_future())
        .await
        .expect("a session");
    store.delete_sessions(ada.id).await.expect("ended");
    for secret in ["a", "b"] {
        assert!(
            store
                .find_session(hash_secret(secret))
                .await
                .expect("an answer")
                .is_none()
        );
    }
    assert!(
        store
            .find_session(hash_secret("e"))
            .await
            .expect("an answer")
            .is_some()
    );
}

both!(a_link_signs_in_once);
async fn a_link_signs_in_once(store: TestStore) {
    let ada = store.user("ada").await;
    store
        .create_sign_in_link(ada.id, hash_secret("l"), far_future())
        .await
        .expect("a link");
    assert_eq!(
        store
            .take_sign_in_link(hash_secret("other"))
            .await
            .expect("an answer"),
        None
    );
    assert_eq!(
        store
            .take_sign_in_link(hash_secret("l"))
            .await
            .expect("an answer"),
        Some(ada.id)
    );
    assert_eq!(
        store
            .take_sign_in_link(hash_secret("l"))
            .await
            .expect("an answer"),
        None
    );
}

both!(of_many_who_take_a_link_one_is_told);
async fn of_many_who_take_a_link_one_is_told(store: TestStore) {
    let ada = store.user("ada").await;
    store
        .create_sign_in_link(ada.id, hash_secret("l"), far_future())
        .await
        .expect("a link");
    let takers: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                store
                    .take_sign_in_link(hash_secret("l"))
                    .await
                    .expect("an answer")
            })
        })
        .collect();
    let mut told = 0;
    for taker in takers {
        told += usize::from(taker.await.expect("no panic").is_some());
    }
    assert_eq!(told, 1);
}

both!(a_link_that_is_over_signs_nobody_in);
async fn a_link_that_is_over_signs_nobody_in(store: TestStore) {
    let ada = store.user("ada").await;
    store
        .create_sign_in_link(ada.id, hash_secret("l"), long_ago())
        .await
        .expect("a link");
    assert_eq!(
        store
            .take_sign_in_link(hash_secret("l"))
            .await
            .expect("an answer"),
        None
    );
}

both!(sessions_and_links_are_somebodys);
async fn sessions_and_links_are_somebodys(store: TestStore) {
    let nobody = Uuid::now_v7().into();
    let session = store.create_session(nobody, hash_secret("a"), far_future()).await;
    assert!(matches!(session, Err(StoreError::NotFound("user"))));
    let link = store
        .create_sign_in_link(nobody, hash_secret("a"), far_future())
        .await;
    assert!(matches!(link, Err(StoreError::NotFound("user"))));
}
