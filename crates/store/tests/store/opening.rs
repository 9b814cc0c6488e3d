use std::os::unix::fs::PermissionsExt;

use hamlet_models::{MeUpdate, NewToken, Privacy, Scopes};
use hamlet_store::{NewUser, Store, StoreConfig, StoreError, StoreRole, hash_secret};

use crate::harness::{TestStore, page};

both!(a_store_answers_until_it_is_closed);
async fn a_store_answers_until_it_is_closed(store: TestStore) {
    let ada = store.user("ada").await;
    store.ping().await.expect("an answer");
    store.close().await.expect("closed");
    store.close().await.expect("closed already");
    assert!(store.ping().await.is_err());
    assert!(store.get_user(ada.id).await.is_err());
    assert!(store.set_password_hash(ada.id, "x".into()).await.is_err());
}

both!(what_waits_when_the_store_closes_is_written);
async fn what_waits_when_the_store_closes_is_written(store: TestStore) {
    let ada = store.user("ada").await;
    let (asked, mut asking) = tokio::sync::mpsc::unbounded_channel();
    let writers: Vec<_> = (0..20)
        .map(|n| {
            let (store, asked) = (store.clone(), asked.clone());
            tokio::spawn(async move {
                asked.send(()).expect("the test listens");
                store
                    .create_val(ada.id, &crate::harness::new_val(&format!("v{n}"), "1"))
                    .await
            })
        })
        .collect();
    for _ in &writers {
        asking.recv().await.expect("each asks");
    }
    let store = store.reopened().await;
    for writer in writers {
        // Written or refused, but nothing that was acknowledged is missing.
        if let Ok(val) = writer.await.expect("no panic") {
            assert_eq!(store.get_val(val.id).await.expect("kept"), val);
        }
    }
}

#[tokio::test]
async fn a_folder_has_one_server() {
    let store = TestStore::on_sqlite().await;
    let refused = store.second_server().await.err().expect("refused");
    assert!(
        matches!(&refused, StoreError::InUse(folder) if folder == store.data_dir()),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("another server is running"),
        "{refused}"
    );
    store.ping().await.expect("the first goes on");
    store.close().await.expect("closed");
    let second = store.second_server().await.expect("the folder is free");
    second.close().await.expect("closed");
}

#[tokio::test]
async fn the_folder_is_made_for_its_owner_alone() {
    let store = TestStore::on_sqlite().await;
    let mode = store
        .data_dir()
        .metadata()
        .expect("the folder")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[tokio::test]
async fn a_closed_store_is_two_databases_and_what_stands_beside_them() {
    let folder = TestStore::on_sqlite().await.into_folder().await;
    let files = std::fs::read_dir(folder.path().join("data")).expect("the folder");
    let mut names: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "blobs",
            "hamlet.db",
            "migration.lock",
            "outside-changes",
            "runs.db",
            "server.lock"
        ]
    );
}

#[tokio::test]
async fn a_folder_that_can_not_be_made_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let config = StoreConfig {
        data_dir: file.join("data"),
        database_url: None,
        bucket: None,
        role: StoreRole::Server,
    };
    assert!(matches!(Store::open(&config).await, Err(StoreError::Io(_))));
}

both!(the_server_sees_what_the_command_line_did_at_once);
async fn the_server_sees_what_the_command_line_did_at_once(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Public).await;
    let tool = store.tool().await;
    let new = NewToken {
        name: "cli".parse().expect("a name"),
        scopes: Scopes::all(),
        expires_at: None,
    };
    for round in 0..20 {
        let hash = hash_secret(&format!("secret {round}"));
        assert!(store.find_token(hash).await.expect("an answer").is_none());
        tool.create_token(ada.id, &new, hash).await.expect("a token");
        assert!(store.find_token(hash).await.expect("an answer").is_some());
        tool.delete_token_by_hash(hash).await.expect("revoked");
        assert!(store.find_token(hash).await.expect("an answer").is_none());

        let bio = Some(Some(format!("round {round}")));
        tool.update_user(
            ada.id,
            &MeUpdate {
                bio: bio.clone(),
                ..MeUpdate::default()
            },
        )
        .await
        .expect("changed");
        assert_eq!(Some(store.get_user(ada.id).await.expect("ada").bio.clone()), bio);
    }
    let update = MeUpdate {
        username: Some("lovelace".parse().expect("a name")),
        ..MeUpdate::default()
    };
    tool.update_user(ada.id, &update).await.expect("renamed");
    assert_eq!(
        store
            .get_val(val.id)
            .await
            .expect("the val")
            .owner
            .username
            .as_str(),
        "lovelace"
    );
    tool.close().await.expect("closed");
    store.user("grace").await;
}

both!(server_and_command_line_write_beside_each_other);
async fn server_and_command_line_write_beside_each_other(store: TestStore) {
    let tool = store.tool().await;
    let new = |name: String| NewUser {
        username: name.parse().expect("a name"),
        admin: false,
        password_hash: None,
    };
    let ours = {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..40 {
                store
                    .create_user(&new(format!("server{n}")))
                    .await
                    .expect("a user");
            }
        })
    };
    for n in 0..40 {
        tool.create_user(&new(format!("tool{n}"))).await.expect("a user");
    }
    ours.await.expect("no panic");
    let users = store.list_users(page(0, 100)).await.expect("a list");
    assert_eq!((users.items.len(), users.more), (80, false));
}

both!(many_open_a_new_store_at_once);
async fn many_open_a_new_store_at_once(store: TestStore) {
    // The tables are there already, so this is about waiting in turn and finding nothing to do.
    let tools = tokio::join!(store.tool(), store.tool(), store.tool());
    for tool in [tools.0, tools.1, tools.2] {
        tool.ping().await.expect("an answer");
        tool.close().await.expect("closed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_are_made_once_however_many_begin() {
    let folder = tempfile::tempdir().expect("a folder");
    let data_dir = folder.path().join("data");
    let openers: Vec<_> = (0..4)
        .map(|_| {
            let config = StoreConfig {
                data_dir: data_dir.clone(),
                database_url: None,
                bucket: None,
                role: StoreRole::Tool,
            };
            tokio::spawn(async move { Store::open(&config).await })
        })
        .collect();
    for opener in openers {
        let store = opener.await.expect("no panic").expect("a store");
        store.ping().await.expect("an answer");
    }
}
