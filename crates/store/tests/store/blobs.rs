//! Blobs: rows and bytes stay together.

use std::{
    fs::{self, File},
    path::PathBuf,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use hamlet_models::{BlobKey, UserId};
use hamlet_store::StoreError;

use crate::harness::TestStore;

async fn write(store: &TestStore, user: UserId, key: &str, bytes: &'static str) {
    let mut upload = store.begin_blob(user);
    upload.write(Bytes::from(bytes)).await.expect("written");
    upload
        .keep(&key.parse::<BlobKey>().expect("a key"), 1_000)
        .await
        .expect("kept");
}

fn objects(store: &TestStore, user: UserId) -> Vec<PathBuf> {
    let folder = store.data_dir().join("blobs").join(user.to_string());
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.expect("an object").path()).collect()
}

both!(a_blob_that_is_replaced_or_deleted_leaves_no_bytes);
async fn a_blob_that_is_replaced_or_deleted_leaves_no_bytes(store: TestStore) {
    let user = store.user("ada").await.id;
    write(&store, user, "a", "one").await;
    write(&store, user, "a", "other").await;
    let blobs = store.list_blobs(user, "").await.expect("a list");
    assert_eq!(
        (blobs.len(), blobs[0].size, objects(&store, user).len()),
        (1, 5, 1)
    );
    store.delete_blob(user, &blobs[0].key).await.expect("deleted");
    assert!(objects(&store, user).is_empty());
}

#[tokio::test]
async fn old_bytes_without_a_row_are_swept_and_others_stay() {
    let store = TestStore::on_sqlite().await;
    let user = store.user("ada").await.id;
    write(&store, user, "a", "kept").await;
    let kept = objects(&store, user);
    let folder = kept[0].parent().expect("a folder").to_owned();
    let long_ago = SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
    for name in ["unfinished#1", "018f3c7e-0000-7000-8000-000000000001"] {
        fs::write(folder.join(name), "left").expect("a file");
    }
    assert_eq!(
        store.sweep_blobs().await.expect("a sweep"),
        0,
        "what is young may go on"
    );
    for path in objects(&store, user) {
        File::options()
            .write(true)
            .open(path)
            .and_then(|file| file.set_modified(long_ago))
            .expect("an older file");
    }
    assert_eq!(store.sweep_blobs().await.expect("a sweep"), 2);
    assert_eq!(objects(&store, user), kept);
}

both!(an_account_has_so_much_room_and_no_more);
async fn an_account_has_so_much_room_and_no_more(store: TestStore) {
    let (user, other) = (store.user("ada").await.id, store.user("eve").await.id);
    write(&store, other, "a", "of nobody else's concern").await;
    write(&store, user, "a", "12345").await;
    let keep = async |key: &str, most| {
        let mut upload = store.begin_blob(user);
        upload.write(Bytes::from("123456")).await.expect("written");
        upload.keep(&key.parse::<BlobKey>().expect("a key"), most).await
    };
    assert!(matches!(
        keep("b", 10).await,
        Err(StoreError::Full { most_bytes: 10 })
    ));
    assert_eq!(objects(&store, user).len(), 1, "what is refused leaves nothing");
    keep("a", 10).await.expect("in place of what was there");
    keep("b", 12).await.expect("exactly as much as there is");
}
