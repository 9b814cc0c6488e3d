//! What versions' imports were locked to.

use hamlet_models::{NewVersion, Privacy};
use hamlet_store::LockRecord;

use crate::harness::TestStore;

fn lock(text: &str, complete: bool) -> LockRecord {
    LockRecord {
        text: text.into(),
        complete,
    }
}

both!(a_complete_lock_is_kept_with_its_version_and_never_changes);
async fn a_complete_lock_is_kept_with_its_version_and_never_changes(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "one", Privacy::Private).await.id;
    assert_eq!(store.version_lock(val, 0).await.expect("no lock"), None);

    let partial = lock("a", false);
    let kept = store.keep_version_lock(val, 0, partial.clone()).await;
    assert_eq!(kept.expect("kept"), partial);
    let whole = lock("b", true);
    let kept = store.keep_version_lock(val, 0, whole.clone()).await;
    assert_eq!(kept.expect("kept"), whole);
    for late in [lock("c", true), lock("d", false)] {
        let kept = store.keep_version_lock(val, 0, late).await;
        assert_eq!(kept.expect("the one in force"), whole);
    }
    assert_eq!(store.version_lock(val, 0).await.expect("a lock"), Some(whole));
}

both!(a_lock_goes_with_its_version);
async fn a_lock_goes_with_its_version(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "one", Privacy::Private).await.id;
    let new = NewVersion::of_code("export default 2;");
    store
        .create_version(val, ada.id, &new, None)
        .await
        .expect("saved");
    for version in [0, 1] {
        let kept = store.keep_version_lock(val, version, lock("a", true)).await;
        kept.expect("kept");
    }
    store.delete_version(val, 0).await.expect("deleted");
    assert_eq!(store.version_lock(val, 0).await.expect("none"), None);
    let late = lock("late", true);
    let answered = store.keep_version_lock(val, 0, late.clone()).await;
    assert_eq!(
        answered.expect("an answer"),
        late,
        "for whoever has to run it yet"
    );
    assert_eq!(store.version_lock(val, 0).await.expect("none"), None);
    store.delete_val(val).await.expect("deleted");
    assert_eq!(store.version_lock(val, 1).await.expect("none"), None);
}
