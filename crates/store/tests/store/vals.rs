use std::collections::HashSet;

use hamlet_models::{NewSchedule, NewVal, Privacy, PutVal, ValFilter, ValKind, ValUpdate};
use hamlet_store::{StoreError, ValScope};
use uuid::Uuid;

use crate::harness::{TestStore, at, new_val, no_val, page};

const EVERYONES: ValScope = ValScope {
    owner: None,
    viewer: None,
};

fn schedule(cron: &str) -> NewSchedule {
    NewSchedule {
        cron: cron.into(),
        timezone: "Europe/Berlin".into(),
        paused: false,
        catch_up: false,
        overlap: false,
    }
}

both!(a_val_is_found_by_id_and_by_name_in_any_case);
async fn a_val_is_found_by_id_and_by_name_in_any_case(store: TestStore) {
    let ada = store.user("Ada").await;
    let new = NewVal {
        readme: Some("# Hello".into()),
        privacy: Some(Privacy::Unlisted),
        kind: Some(ValKind::Http),
        ..new_val("Hello", "export default 1")
    };
    let val = store.create_val(ada.id, &new).await.expect("a val");
    assert_eq!((val.version, val.latest, &*val.code), (0, 0, "export default 1"));
    assert_eq!(
        (val.owner.clone(), val.kind, val.privacy),
        (ada.author(), ValKind::Http, Privacy::Unlisted)
    );
    assert_eq!(
        (val.created_at, val.created_at),
        (val.updated_at, val.version_created_at)
    );

    let store = store.reopened().await;
    for _ in 0..2 {
        assert_eq!(store.get_val(val.id).await.expect("by id"), val);
        assert_eq!(store.find_val("ADA", "hello").await.expect("by name"), val);
        assert_eq!(store.find_val("ada", "HELLO").await.expect("by name"), val);
    }
}

both!(a_val_that_says_nothing_is_a_private_script_with_a_readable_name);
async fn a_val_that_says_nothing_is_a_private_script_with_a_readable_name(store: TestStore) {
    let ada = store.user("ada").await;
    let mut names = HashSet::new();
    for _ in 0..60 {
        let val = store
            .create_val(ada.id, &NewVal::of_code("1"))
            .await
            .expect("a val");
        assert_eq!(
            (val.privacy, val.kind, val.callable),
            (Privacy::Private, ValKind::Script, false)
        );
        assert_eq!((val.readme.as_deref(), val.schedule.as_ref()), (None, None));
        assert!(
            val.name.as_str().starts_with(|c: char| c.is_ascii_lowercase()),
            "{}",
            val.name
        );
        assert!(names.insert(val.name.key()), "{} came twice", val.name);
    }
}

both!(what_is_not_there_is_not_found);
async fn what_is_not_there_is_not_found(store: TestStore) {
    let ada = store.user("ada").await;
    store.val(&ada, "hello", Privacy::Public).await;
    assert!(matches!(
        store.get_val(no_val()).await,
        Err(StoreError::NotFound("val"))
    ));
    for (user, name) in [
        ("ada", "other"),
        ("eve", "hello"),
        ("ada/hello", ""),
        ("ada", "hello\0"),
        ("ada\0", "hello"),
        ("", "hello"),
    ] {
        assert!(
            matches!(store.find_val(user, name).await, Err(StoreError::NotFound("val"))),
            "{user}/{name}"
        );
    }
    let update = store.update_val(no_val(), &ValUpdate::default()).await;
    assert!(matches!(update, Err(StoreError::NotFound("val"))));
    assert!(matches!(
        store.delete_val(no_val()).await,
        Err(StoreError::NotFound("val"))
    ));
    let nobodys = store
        .create_val(Uuid::now_v7().into(), &NewVal::of_code("1"))
        .await;
    assert!(matches!(nobodys, Err(StoreError::NotFound("user"))));
}

both!(a_name_is_taken_per_owner_in_any_case);
async fn a_name_is_taken_per_owner_in_any_case(store: TestStore) {
    let (ada, eve) = (store.user("ada").await, store.user("eve").await);
    store.val(&ada, "hello", Privacy::Public).await;
    let other = store.val(&ada, "other", Privacy::Public).await;
    store.val(&eve, "hello", Privacy::Public).await;
    let refused = store
        .create_val(ada.id, &new_val("HELLO", "2"))
        .await
        .expect_err("taken");
    assert!(
        matches!(&refused, StoreError::NameTaken(name) if name == "HELLO"),
        "{refused}"
    );
    let rename = ValUpdate {
        name: Some("Hello".parse().expect("a name")),
        ..ValUpdate::default()
    };
    assert!(matches!(
        store.update_val(other.id, &rename).await,
        Err(StoreError::NameTaken(_))
    ));
    assert_eq!(
        store.get_val(other.id).await.expect("the val").name.as_str(),
        "other"
    );
    assert_eq!(
        &*store.find_val("ada", "hello").await.expect("the first").code,
        "1"
    );
}

both!(an_update_changes_what_it_names_and_nothing_else);
async fn an_update_changes_what_it_names_and_nothing_else(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    let update = ValUpdate {
        readme: Some("text".into()),
        privacy: Some(Privacy::Public),
        callable: Some(true),
        ..ValUpdate::default()
    };
    let after = store.update_val(val.id, &update).await.expect("changed");
    assert_eq!(
        (after.readme.as_deref(), after.privacy, after.callable),
        (Some("text"), Privacy::Public, true)
    );
    assert_eq!(
        (&after.name, after.kind, &after.code, after.latest),
        (&val.name, val.kind, &val.code, 0)
    );
    assert!(after.updated_at >= val.updated_at);

    let same = store.update_val(val.id, &update).await.expect("unchanged");
    assert_eq!(
        same, after,
        "what changes nothing leaves the time of the last change"
    );
    let update = ValUpdate {
        readme: Some(String::new()),
        ..ValUpdate::default()
    };
    let bare = store.update_val(val.id, &update).await.expect("changed");
    assert_eq!(bare.readme, None);
    assert_eq!(store.reopened().await.get_val(val.id).await.expect("kept"), bare);
}

both!(a_renamed_val_is_found_by_its_new_name_alone);
async fn a_renamed_val_is_found_by_its_new_name_alone(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Public).await;
    store.find_val("ada", "hello").await.expect("found");
    let update = ValUpdate {
        name: Some("goodbye".parse().expect("a name")),
        ..ValUpdate::default()
    };
    store.update_val(val.id, &update).await.expect("renamed");
    assert!(matches!(
        store.find_val("ada", "hello").await,
        Err(StoreError::NotFound("val"))
    ));
    assert_eq!(store.find_val("ada", "Goodbye").await.expect("found").id, val.id);
    let other = store.val(&ada, "hello", Privacy::Public).await;
    assert_eq!(store.find_val("ada", "hello").await.expect("found").id, other.id);
}

both!(a_renamed_owner_is_on_every_val_at_once);
async fn a_renamed_owner_is_on_every_val_at_once(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Public).await;
    store.find_val("ada", "hello").await.expect("found");
    store.rename(ada.id, "lovelace").await.expect("renamed");
    assert_eq!(
        store
            .get_val(val.id)
            .await
            .expect("found")
            .owner
            .username
            .as_str(),
        "lovelace"
    );
    assert!(matches!(
        store.find_val("ada", "hello").await,
        Err(StoreError::NotFound("val"))
    ));
    assert_eq!(
        store.find_val("lovelace", "hello").await.expect("found").id,
        val.id
    );
}

both!(a_schedule_is_shown_for_scheduled_vals_only);
async fn a_schedule_is_shown_for_scheduled_vals_only(store: TestStore) {
    let ada = store.user("ada").await;
    let new = NewVal {
        kind: Some(ValKind::Interval),
        schedule: Some(schedule("0 7 * * *")),
        ..new_val("cron", "1")
    };
    let val = store.create_val(ada.id, &new).await.expect("a val");
    let shown = val.schedule.clone().expect("a schedule");
    assert_eq!(
        (shown.cron.as_str(), shown.timezone.as_str()),
        ("0 7 * * *", "Europe/Berlin")
    );
    assert_eq!((shown.paused, shown.last_run_at), (false, None));

    store.set_schedule_ran(val.id, at(5)).await.expect("noted");
    assert_eq!(
        store
            .get_val(val.id)
            .await
            .expect("the val")
            .schedule
            .clone()
            .expect("one")
            .last_run_at,
        Some(at(5))
    );
    let kind = |kind| ValUpdate {
        kind: Some(kind),
        ..ValUpdate::default()
    };
    assert_eq!(
        store
            .update_val(val.id, &kind(ValKind::Script))
            .await
            .expect("changed")
            .schedule,
        None
    );
    assert!(
        store
            .update_val(val.id, &kind(ValKind::Interval))
            .await
            .expect("changed")
            .schedule
            .clone()
            .is_some()
    );
    let paused = ValUpdate {
        schedule: Some(Some(NewSchedule {
            paused: true,
            ..schedule("0 8 * * *")
        })),
        ..ValUpdate::default()
    };
    let shown = store
        .update_val(val.id, &paused)
        .await
        .expect("changed")
        .schedule
        .clone()
        .expect("one");
    assert_eq!(
        (shown.cron.as_str(), shown.paused, shown.last_run_at),
        ("0 8 * * *", true, Some(at(5)))
    );
    let none = ValUpdate {
        schedule: Some(None),
        ..ValUpdate::default()
    };
    assert_eq!(
        store.update_val(val.id, &none).await.expect("changed").schedule,
        None
    );
    assert!(matches!(
        store.set_schedule_ran(no_val(), at(0)).await,
        Err(StoreError::NotFound("val"))
    ));
}

both!(a_put_makes_a_val_or_saves_a_version_of_it);
async fn a_put_makes_a_val_or_saves_a_version_of_it(store: TestStore) {
    let ada = store.user("ada").await;
    let put = |code: &str| PutVal {
        name: "Hello".parse().expect("a name"),
        code: code.into(),
    };
    let first = store.put_val(ada.id, &put("1\n")).await.expect("made");
    assert_eq!((first.version, first.privacy), (0, Privacy::Private));
    let second = store.put_val(ada.id, &put("1\n2\n")).await.expect("saved");
    assert_eq!(
        (second.id, second.version, &*second.code),
        (first.id, 1, "1\n2\n")
    );
    let third = store
        .put_val(ada.id, &put("1\n2\n"))
        .await
        .expect("nothing to save");
    assert_eq!(third.version, 1);
    assert_eq!(store.get_val(first.id).await.expect("the val"), third);
    let versions = store.list_versions(first.id, page(0, 20)).await.expect("a list");
    assert_eq!((versions.items.len(), versions.items[0].lines_added), (2, 1));
}

both!(a_deleted_val_is_gone_and_its_name_is_free);
async fn a_deleted_val_is_gone_and_its_name_is_free(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Public).await;
    store.find_val("ada", "hello").await.expect("found");
    store.delete_val(val.id).await.expect("deleted");
    assert!(matches!(
        store.get_val(val.id).await,
        Err(StoreError::NotFound("val"))
    ));
    assert!(matches!(
        store.find_val("ada", "hello").await,
        Err(StoreError::NotFound("val"))
    ));
    assert!(matches!(
        store.get_version(val.id, 0).await,
        Err(StoreError::NotFound("val"))
    ));
    assert!(matches!(
        store.delete_val(val.id).await,
        Err(StoreError::NotFound("val"))
    ));
    assert!(
        store
            .list_versions(val.id, page(0, 20))
            .await
            .expect("a list")
            .items
            .is_empty()
    );
    assert!(store.names(EVERYONES, &ValFilter::default()).await.is_empty());
    store.val(&ada, "hello", Privacy::Public).await;
}

both!(a_list_shows_strangers_only_what_is_public);
async fn a_list_shows_strangers_only_what_is_public(store: TestStore) {
    let (ada, eve) = (store.user("ada").await, store.user("eve").await);
    for privacy in Privacy::ALL {
        store.val(&ada, privacy.as_str(), privacy).await;
        store
            .val(&eve, &format!("eves_{}", privacy.as_str()), privacy)
            .await;
    }
    let scope = |owner: Option<&_>, viewer: Option<&_>| {
        let id = |user: &hamlet_store::UserRecord| user.id;
        ValScope {
            owner: owner.map(id),
            viewer: viewer.map(id),
        }
    };
    for (scope, expected) in [
        (
            scope(Some(&ada), Some(&ada)),
            vec!["private", "unlisted", "public"],
        ),
        (scope(Some(&ada), Some(&eve)), vec!["public"]),
        (scope(Some(&ada), None), vec!["public"]),
        (scope(None, None), vec!["eves_public", "public"]),
        (
            scope(None, Some(&ada)),
            vec!["private", "unlisted", "eves_public", "public"],
        ),
    ] {
        assert_eq!(
            store.names(scope, &ValFilter::default()).await,
            expected,
            "{scope:?}"
        );
        let before = store
            .list_vals_before(&scope, &ValFilter::default(), None, 100)
            .await
            .expect("a list");
        let names: Vec<_> = before.items.iter().map(|val| val.name.as_str()).collect();
        assert_eq!(names, expected, "{scope:?}");
    }
    let of_eve = ValFilter {
        user_id: Some(eve.id),
        ..ValFilter::default()
    };
    assert_eq!(
        store.names(scope(None, Some(&ada)), &of_eve).await,
        ["eves_public"]
    );
    assert!(
        store
            .names(scope(Some(&ada), Some(&ada)), &of_eve)
            .await
            .is_empty()
    );
    let private = ValFilter {
        privacy: Some(Privacy::Private),
        ..ValFilter::default()
    };
    assert_eq!(store.names(scope(None, Some(&ada)), &private).await, ["private"]);
    assert!(
        store
            .names(scope(Some(&ada), Some(&eve)), &private)
            .await
            .is_empty()
    );
}

both!(a_list_can_be_narrowed_by_kind_and_name);
async fn a_list_can_be_narrowed_by_kind_and_name(store: TestStore) {
    let ada = store.user("ada").await;
    for (name, kind) in [
        ("my_page", ValKind::Http),
        ("MyPages", ValKind::Http),
        ("myXpage", ValKind::Email),
    ] {
        let new = NewVal {
            kind: Some(kind),
            ..new_val(name, "1")
        };
        store.create_val(ada.id, &new).await.expect("a val");
    }
    let own = ValScope {
        owner: Some(ada.id),
        viewer: Some(ada.id),
    };
    let kind = ValFilter {
        kind: Some(ValKind::Http),
        ..ValFilter::default()
    };
    assert_eq!(store.names(own, &kind).await, ["MyPages", "my_page"]);
    let query = |text: &str| ValFilter {
        query: Some(text.into()),
        ..ValFilter::default()
    };
    assert_eq!(
        store.names(own, &query(" PAGE")).await,
        ["myXpage", "MyPages", "my_page"]
    );
    // What LIKE takes for a wildcard is but a character here.
    assert_eq!(store.names(own, &query("my_page")).await, ["my_page"]);
    for nothing in ["\0", "%", "\\", "pag_", "nope"] {
        assert!(store.names(own, &query(nothing)).await.is_empty(), "{nothing}");
    }
    assert_eq!(store.names(own, &query("  ")).await.len(), 3);
}

both!(pages_join_up_without_gaps_or_repeats);
async fn pages_join_up_without_gaps_or_repeats(store: TestStore) {
    let (ada, eve) = (store.user("ada").await, store.user("eve").await);
    for n in 0..12 {
        let privacy = if n % 3 == 0 {
            Privacy::Private
        } else {
            Privacy::Public
        };
        store
            .val(if n % 2 == 0 { &ada } else { &eve }, &format!("v{n}"), privacy)
            .await;
    }
    for scope in [
        EVERYONES,
        ValScope {
            owner: None,
            viewer: Some(ada.id),
        },
    ] {
        let all = store.names(scope, &ValFilter::default()).await;
        assert!(all.len() >= 8);
        for limit in [1, 3, 5] {
            let (mut seen, mut offset) = (Vec::new(), 0);
            loop {
                let slice = store
                    .list_vals(&scope, &ValFilter::default(), page(offset, limit))
                    .await
                    .expect("a page");
                offset += slice.items.len() as u64;
                seen.extend(slice.items.iter().map(|val| val.name.to_string()));
                if !slice.more {
                    break;
                }
                assert_eq!(slice.items.len() as u64, limit);
            }
            assert_eq!(seen, all, "by {limit}");
        }
        let past = store
            .list_vals(&scope, &ValFilter::default(), page(1_000_000, 20))
            .await
            .expect("a page");
        assert!(past.items.is_empty() && !past.more);
    }
}

both!(a_cursor_reaches_every_val_also_of_one_millisecond);
async fn a_cursor_reaches_every_val_also_of_one_millisecond(store: TestStore) {
    let ada = store.user("ada").await;
    let own = ValScope {
        owner: Some(ada.id),
        viewer: Some(ada.id),
    };
    let made: Vec<_> = (0..40)
        .map(|_| {
            let (store, ada) = (store.clone(), ada.id);
            tokio::spawn(async move {
                store
                    .create_val(ada, &NewVal::of_code("1"))
                    .await
                    .expect("a val")
                    .id
            })
        })
        .collect();
    let mut ids = HashSet::new();
    for val in made {
        ids.insert(val.await.expect("no panic"));
    }
    for limit in [1, 7, 100] {
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let slice = store
                .list_vals_before(&own, &ValFilter::default(), cursor, limit)
                .await
                .expect("a slice");
            cursor = slice.items.last().map(|val| val.created_at);
            seen.extend(slice.items.iter().map(|val| (val.created_at, val.id)));
            if !slice.more {
                break;
            }
            assert!(!slice.items.is_empty(), "there is more, so there is some");
        }
        assert!(
            seen.windows(2).all(|pair| pair[0] > pair[1]),
            "newest first, none twice"
        );
        assert_eq!(
            seen.into_iter().map(|(_, id)| id).collect::<HashSet<_>>(),
            ids,
            "by {limit}"
        );
    }
}
