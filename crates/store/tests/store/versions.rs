use hamlet_models::{NewVersion, Privacy, ValKind};
use hamlet_store::{StoreError, UserRecord, ValRecord};

use crate::harness::{TestStore, no_val, page};

async fn numbers(store: &TestStore, val: &ValRecord) -> Vec<u32> {
    let versions = store.list_versions(val.id, page(0, 100)).await.expect("a list");
    versions.items.iter().map(|version| version.version).collect()
}

both!(a_save_makes_the_next_version);
async fn a_save_makes_the_next_version(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let new = NewVersion {
        message: Some("better".into()),
        ..NewVersion::of_code("2")
    };
    let saved = store
        .create_version(val.id, ada.id, &new, Some(0))
        .await
        .expect("saved");
    assert!(saved.created);
    assert_eq!(
        (saved.val.version, saved.val.latest, &*saved.val.code),
        (1, 1, "2")
    );
    assert!(saved.val.updated_at >= val.updated_at);
    assert_eq!(saved.val.created_at, val.created_at);
    assert_eq!(store.get_val(val.id).await.expect("the val"), saved.val);
    let store = store.reopened().await;
    assert_eq!(store.get_val(val.id).await.expect("kept"), saved.val);
    assert_eq!(store.find_val("ada", "hello").await.expect("kept"), saved.val);
}

both!(a_save_of_the_same_makes_no_version);
async fn a_save_of_the_same_makes_no_version(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let same = NewVersion {
        name: Some("hello".parse().expect("a name")),
        privacy: Some(Privacy::Private),
        readme: Some(String::new()),
        message: Some("nothing new".into()),
        ..NewVersion::of_code("1")
    };
    let saved = store
        .create_version(val.id, ada.id, &same, None)
        .await
        .expect("an answer");
    assert!(!saved.created);
    assert_eq!((&saved.val, numbers(&store, &val).await), (&val, vec![0]));

    let kind = NewVersion {
        kind: Some(ValKind::Http),
        ..NewVersion::of_code("1")
    };
    let saved = store
        .create_version(val.id, ada.id, &kind, None)
        .await
        .expect("an answer");
    assert!(saved.created, "the same code with another kind is something new");
    assert_eq!((saved.val.kind, saved.val.version), (ValKind::Http, 1));
}

both!(a_save_changes_the_val_too_or_nothing_at_all);
async fn a_save_changes_the_val_too_or_nothing_at_all(store: TestStore) {
    let ada = store.user("ada").await;
    store.val(&ada, "taken", Privacy::Private).await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let new = |name: &str| NewVersion {
        name: Some(name.parse().expect("a name")),
        readme: Some("text".into()),
        privacy: Some(Privacy::Public),
        ..NewVersion::of_code("2")
    };
    let refused = store.create_version(val.id, ada.id, &new("TAKEN"), None).await;
    assert!(matches!(refused, Err(StoreError::NameTaken(name)) if name == "TAKEN"));
    assert_eq!(
        (
            store.get_val(val.id).await.expect("the val"),
            numbers(&store, &val).await
        ),
        (val.clone(), vec![0])
    );

    let after = store
        .create_version(val.id, ada.id, &new("better"), None)
        .await
        .expect("saved")
        .val;
    assert_eq!(
        (after.name.as_str(), after.readme.as_deref()),
        ("better", Some("text"))
    );
    assert_eq!(store.find_val("ada", "better").await.expect("found"), after);
    assert!(matches!(
        store.find_val("ada", "hello").await,
        Err(StoreError::NotFound("val"))
    ));
}

both!(a_save_on_another_version_than_expected_is_refused);
async fn a_save_on_another_version_than_expected_is_refused(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    store.save(&val, "2").await;
    for expected in [0, 2, u32::MAX] {
        let refused = store
            .create_version(val.id, ada.id, &NewVersion::of_code("3"), Some(expected))
            .await;
        assert!(
            matches!(refused, Err(StoreError::VersionMismatch { latest: 1 })),
            "{expected}"
        );
    }
    // Also when it would change nothing: the caller is behind all the same.
    let refused = store
        .create_version(val.id, ada.id, &NewVersion::of_code("2"), Some(0))
        .await;
    assert!(matches!(refused, Err(StoreError::VersionMismatch { latest: 1 })));
    assert_eq!(numbers(&store, &val).await, [1, 0]);
}

both!(an_older_version_is_read_with_its_code);
async fn an_older_version_is_read_with_its_code(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let latest = store.save(&val, "2").await;
    let first = store.get_version(val.id, 0).await.expect("version 0");
    assert_eq!((first.version, first.latest, &*first.code), (0, 1, "1"));
    assert_eq!(
        (first.version_created_at, first.updated_at),
        (val.version_created_at, latest.updated_at)
    );
    assert_eq!(store.get_version(val.id, 1).await.expect("version 1"), latest);
    for missing in [2, u32::MAX] {
        assert!(matches!(
            store.get_version(val.id, missing).await,
            Err(StoreError::NotFound("version"))
        ));
    }
    assert!(matches!(
        store.get_version(no_val(), 0).await,
        Err(StoreError::NotFound("val"))
    ));
    let nowhere = store
        .create_version(no_val(), ada.id, &NewVersion::of_code("1"), None)
        .await;
    assert!(matches!(nowhere, Err(StoreError::NotFound("val"))));
}

both!(versions_are_listed_newest_first_with_what_they_changed);
async fn versions_are_listed_newest_first_with_what_they_changed(store: TestStore) {
    let ada = store.user("ada").await;
    let eve: UserRecord = store.user("eve").await;
    let val = store
        .create_val(ada.id, &crate::harness::new_val("hello", "a\nb\nc\n"))
        .await
        .expect("a val");
    let new = NewVersion {
        message: Some("swap".into()),
        ..NewVersion::of_code("a\nX\nc\nd\n")
    };
    store
        .create_version(val.id, eve.id, &new, None)
        .await
        .expect("saved");
    let versions = store
        .list_versions(val.id, page(0, 20))
        .await
        .expect("a list")
        .items;
    let [second, first] = versions.as_slice() else {
        panic!("two versions: {versions:?}")
    };
    assert_eq!(
        (second.version, second.message.as_deref(), second.size),
        (1, Some("swap"), 8)
    );
    assert_eq!(
        (second.lines_added, second.lines_removed, second.author.clone()),
        (2, 1, Some(eve.author()))
    );
    assert_eq!(
        (first.version, first.message.as_deref(), first.size),
        (0, None, 6)
    );
    assert_eq!(
        (first.lines_added, first.lines_removed, first.author.clone()),
        (3, 0, Some(ada.author()))
    );
    assert_eq!((first.val_id, first.created_at), (val.id, val.created_at));

    let page = store.list_versions(val.id, page(0, 1)).await.expect("a list");
    assert_eq!((page.items.len(), page.more), (1, true));
    assert!(
        store
            .list_versions(no_val(), crate::harness::page(0, 20))
            .await
            .expect("a list")
            .items
            .is_empty()
    );
}

both!(a_deleted_number_is_never_given_again);
async fn a_deleted_number_is_never_given_again(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    for code in ["2", "3"] {
        store.save(&val, code).await;
    }
    store.delete_version(val.id, 2).await.expect("deleted");
    let now = store.get_val(val.id).await.expect("the val");
    assert_eq!((now.version, now.latest, &*now.code), (1, 1, "2"));
    assert_eq!(store.save(&val, "4").await.version, 3);
    assert_eq!(numbers(&store, &val).await, [3, 1, 0]);

    store.delete_version(val.id, 0).await.expect("deleted");
    assert_eq!(store.get_val(val.id).await.expect("the val").latest, 3);
    assert!(matches!(
        store.delete_version(val.id, 0).await,
        Err(StoreError::NotFound("version"))
    ));
    let store = store.reopened().await;
    assert_eq!(store.get_val(val.id).await.expect("kept").version, 3);
}

both!(the_only_version_can_not_be_deleted);
async fn the_only_version_can_not_be_deleted(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    assert!(matches!(
        store.delete_version(val.id, 0).await,
        Err(StoreError::LastVersion)
    ));
    assert!(matches!(
        store.delete_version(val.id, 7).await,
        Err(StoreError::NotFound("version"))
    ));
    assert!(matches!(
        store.delete_version(no_val(), 0).await,
        Err(StoreError::NotFound("val"))
    ));
    assert_eq!(store.get_val(val.id).await.expect("the val"), val);
}

both!(code_of_any_size_and_script_is_kept_as_it_is);
async fn code_of_any_size_and_script_is_kept_as_it_is(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let long = "é\r\n\u{1f600}".repeat(60_000);
    let saved = store.save(&val, &long).await;
    assert_eq!(*saved.code, *long);
    let store = store.reopened().await;
    assert_eq!(*store.get_val(val.id).await.expect("kept").code, *long);
    assert_eq!(&*store.get_version(val.id, 0).await.expect("kept").code, "1");
}
