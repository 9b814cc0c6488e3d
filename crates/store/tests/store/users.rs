use hamlet_models::MeUpdate;
use hamlet_store::{NewUser, StoreError};
use uuid::Uuid;

use crate::harness::{TestStore, page};

both!(a_user_is_found_by_id_and_by_name_in_any_case);
async fn a_user_is_found_by_id_and_by_name_in_any_case(store: TestStore) {
    assert!(!store.has_users().await.expect("an answer"));
    let ada = store.user("Ada").await;
    assert!(store.has_users().await.expect("an answer"));
    assert_eq!(*store.get_user(ada.id).await.expect("by id"), ada);
    for name in ["Ada", "ada", "ADA"] {
        assert_eq!(*store.find_user(name).await.expect("by name"), ada);
    }
    let store = store.reopened().await;
    assert_eq!(*store.get_user(ada.id).await.expect("by id"), ada);
    assert_eq!(*store.find_user("aDA").await.expect("by name"), ada);
}

both!(who_is_not_there_is_not_found);
async fn who_is_not_there_is_not_found(store: TestStore) {
    store.user("ada").await;
    let nobody = Uuid::now_v7().into();
    assert!(matches!(
        store.get_user(nobody).await,
        Err(StoreError::NotFound("user"))
    ));
    // The Kelvin sign: its lower case is a plain k, but nobody is called by it.
    store.user("kim").await;
    for name in ["", "adal", "ada\0", "\u{212a}im"] {
        assert!(
            matches!(store.find_user(name).await, Err(StoreError::NotFound("user"))),
            "{name}"
        );
    }
    let update = MeUpdate {
        bio: Some(None),
        ..MeUpdate::default()
    };
    assert!(matches!(
        store.update_user(nobody, &update).await,
        Err(StoreError::NotFound("user"))
    ));
    let hash = store.set_password_hash(nobody, "x".into()).await;
    assert!(matches!(hash, Err(StoreError::NotFound("user"))));
}

both!(a_username_is_taken_in_any_case);
async fn a_username_is_taken_in_any_case(store: TestStore) {
    store.user("ada").await;
    let again = NewUser {
        username: "ADA".parse().expect("a name"),
        admin: true,
        password_hash: None,
    };
    let refused = store.create_user(&again).await.expect_err("taken");
    assert!(
        matches!(&refused, StoreError::NameTaken(name) if name == "ADA"),
        "{refused}"
    );
    let eve = store.user("eve").await;
    assert!(matches!(
        store.rename(eve.id, "Ada").await,
        Err(StoreError::NameTaken(_))
    ));
    assert_eq!(
        store.get_user(eve.id).await.expect("eve").username.as_str(),
        "eve"
    );
    // One's own name in another case is free.
    assert_eq!(
        store
            .rename(eve.id, "Eve")
            .await
            .expect("renamed")
            .username
            .as_str(),
        "Eve"
    );
}

both!(an_update_changes_what_it_names_and_nothing_else);
async fn an_update_changes_what_it_names_and_nothing_else(store: TestStore) {
    let ada = store.user("ada").await;
    let update = MeUpdate {
        bio: Some(Some("counts".into())),
        email: Some(Some("ada@example.com".into())),
        ..MeUpdate::default()
    };
    store.update_user(ada.id, &update).await.expect("changed");
    let update = MeUpdate {
        email: Some(None),
        ..MeUpdate::default()
    };
    let after = store.update_user(ada.id, &update).await.expect("changed");
    assert_eq!(
        (after.bio.as_deref(), after.email.as_deref()),
        (Some("counts"), None)
    );
    assert_eq!(
        store
            .update_user(ada.id, &MeUpdate::default())
            .await
            .expect("unchanged"),
        after
    );
    let store = store.reopened().await;
    assert_eq!(store.get_user(ada.id).await.expect("kept"), after);
}

both!(an_old_name_leads_nowhere_and_is_free_again);
async fn an_old_name_leads_nowhere_and_is_free_again(store: TestStore) {
    let ada = store.user("ada").await;
    store.find_user("ada").await.expect("found");
    store.rename(ada.id, "lovelace").await.expect("renamed");
    assert!(matches!(
        store.find_user("ada").await,
        Err(StoreError::NotFound("user"))
    ));
    assert_eq!(store.find_user("Lovelace").await.expect("found").id, ada.id);
    let other = store.user("ada").await;
    assert_eq!(store.find_user("ada").await.expect("found").id, other.id);
}

both!(a_password_can_be_set_and_is_in_no_log);
async fn a_password_can_be_set_and_is_in_no_log(store: TestStore) {
    let ada = store.user("ada").await;
    store
        .set_password_hash(ada.id, "argon-secret".into())
        .await
        .expect("set");
    let ada = store.get_user(ada.id).await.expect("ada");
    assert_eq!(ada.password_hash.as_deref(), Some("argon-secret"));
    assert!(!format!("{ada:?}").contains("argon-secret"));
}

both!(users_are_listed_newest_first);
async fn users_are_listed_newest_first(store: TestStore) {
    for name in ["ada", "bob", "eve"] {
        store.user(name).await;
    }
    let first = store.list_users(page(0, 2)).await.expect("a list");
    let names: Vec<_> = first.items.iter().map(|user| user.username.as_str()).collect();
    assert_eq!((names, first.more), (vec!["eve", "bob"], true));
    let last = store.list_users(page(2, 2)).await.expect("a list");
    assert_eq!((last.items.len(), last.more), (1, false));
}
