//! Secrets: kept as they come, sealed.

use hamlet_models::{Privacy, SecretName};
use hamlet_store::StoreError;

use crate::harness::TestStore;

both!(a_secret_is_set_changed_and_limited);
async fn a_secret_is_set_changed_and_limited(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "one", Privacy::Private).await.id;
    let name: SecretName = "KEY".parse().expect("a name");
    assert!(matches!(
        store.set_secret(ada.id, &name, None, Some(None)).await,
        Err(StoreError::NotFound(_))
    ));
    store
        .set_secret(ada.id, &name, Some(vec![1, 2]), None)
        .await
        .expect("set");
    store
        .set_secret(ada.id, &name, None, Some(Some(vec![val])))
        .await
        .expect("limited");
    let secrets = store.list_secrets(ada.id).await.expect("secrets");
    assert_eq!((secrets.len(), secrets[0].sealed.as_slice()), (1, &[1, 2][..]));
    assert!(secrets[0].is_for(Some(val)) && !secrets[0].is_for(None));
    store
        .set_secret(ada.id, &name, Some(vec![3]), Some(None))
        .await
        .expect("set");
    let secrets = store.list_secrets(ada.id).await.expect("secrets");
    assert!(
        secrets[0].sealed == [3] && secrets[0].is_for(None),
        "what is kept in memory is new too"
    );
    store.delete_secret(ada.id, &name).await.expect("deleted");
    assert!(store.list_secrets(ada.id).await.expect("secrets").is_empty());
    for number in 0..200 {
        let name = format!("KEY_{number}").parse().expect("a name");
        store
            .set_secret(ada.id, &name, Some(vec![1]), None)
            .await
            .expect("set");
    }
    let refused = store.set_secret(ada.id, &name, Some(vec![1]), None).await;
    assert!(matches!(refused, Err(StoreError::TooMany { most: 200, .. })));
}
