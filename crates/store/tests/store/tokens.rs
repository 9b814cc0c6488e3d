use hamlet_models::{NewToken, Scope, ScopeAction, ScopeResource, Scopes, Timestamp, Token};
use hamlet_store::{SecretHash, StoreError, UserRecord, hash_secret};
use uuid::Uuid;

use crate::harness::{TestStore, far_future, long_ago, page};

fn new_token(name: &str) -> NewToken {
    NewToken {
        name: name.parse().expect("a name"),
        scopes: Scopes::all(),
        expires_at: None,
    }
}

async fn token(
    store: &TestStore,
    user: &UserRecord,
    name: &str,
    expires_at: Option<Timestamp>,
) -> (Token, SecretHash) {
    let hash = hash_secret(name);
    let new = NewToken {
        expires_at,
        ..new_token(name)
    };
    (
        store.create_token(user.id, &new, hash).await.expect("a token"),
        hash,
    )
}

both!(a_token_grants_what_it_was_given);
async fn a_token_grants_what_it_was_given(store: TestStore) {
    let ada = store.user("ada").await;
    let read = Scope::new(ScopeResource::Val, ScopeAction::Read);
    let new = NewToken {
        scopes: [read].into_iter().collect(),
        ..new_token("laptop")
    };
    let made = store
        .create_token(ada.id, &new, hash_secret("s"))
        .await
        .expect("a token");
    for _ in 0..2 {
        let grant = store
            .find_token(hash_secret("s"))
            .await
            .expect("an answer")
            .expect("a grant");
        assert_eq!(
            (grant.id, grant.user.id, grant.scopes),
            (made.id, ada.id, new.scopes)
        );
    }
    assert!(
        store
            .find_token(hash_secret("other"))
            .await
            .expect("an answer")
            .is_none()
    );
}

both!(an_expired_token_grants_nothing_but_is_listed);
async fn an_expired_token_grants_nothing_but_is_listed(store: TestStore) {
    let ada = store.user("ada").await;
    let (_, old) = token(&store, &ada, "old", Some(long_ago())).await;
    let (_, good) = token(&store, &ada, "good", Some(far_future())).await;
    assert!(store.find_token(old).await.expect("an answer").is_none());
    assert!(store.find_token(good).await.expect("an answer").is_some());
    assert_eq!(
        store
            .list_tokens(ada.id, page(0, 20))
            .await
            .expect("a list")
            .items
            .len(),
        2
    );
}

both!(a_revoked_token_grants_nothing_at_once);
async fn a_revoked_token_grants_nothing_at_once(store: TestStore) {
    let (ada, eve) = (store.user("ada").await, store.user("eve").await);
    let (by_id, hash) = token(&store, &ada, "a", None).await;
    let (_, by_hash) = token(&store, &ada, "b", None).await;
    assert!(store.find_token(hash).await.expect("an answer").is_some());
    // Another's token is as good as none.
    assert!(matches!(
        store.delete_token(eve.id, by_id.id).await,
        Err(StoreError::NotFound("token"))
    ));
    assert!(store.find_token(hash).await.expect("an answer").is_some());

    store.delete_token(ada.id, by_id.id).await.expect("revoked");
    store.delete_token_by_hash(by_hash).await.expect("revoked");
    assert!(store.find_token(hash).await.expect("an answer").is_none());
    assert!(store.find_token(by_hash).await.expect("an answer").is_none());
    assert!(matches!(
        store.delete_token(ada.id, by_id.id).await,
        Err(StoreError::NotFound("token"))
    ));
    assert!(matches!(
        store.delete_token_by_hash(by_hash).await,
        Err(StoreError::NotFound("token"))
    ));
}

both!(tokens_are_listed_newest_first_and_only_their_owners);
async fn tokens_are_listed_newest_first_and_only_their_owners(store: TestStore) {
    let (ada, eve) = (store.user("ada").await, store.user("eve").await);
    for name in ["one", "two", "three"] {
        token(&store, &ada, name, None).await;
    }
    token(&store, &eve, "eves", None).await;
    let tokens = store.list_tokens(ada.id, page(0, 2)).await.expect("a list");
    let names: Vec<_> = tokens.items.iter().map(|token| token.name.as_str()).collect();
    assert_eq!((names, tokens.more), (vec!["three", "two"], true));
    assert_eq!(
        store
            .list_tokens(ada.id, page(2, 2))
            .await
            .expect("a list")
            .items
            .len(),
        1
    );
}

both!(a_use_is_noted_in_the_background);
async fn a_use_is_noted_in_the_background(store: TestStore) {
    let ada = store.user("ada").await;
    let (made, hash) = token(&store, &ada, "a", None).await;
    assert_eq!(made.last_used_at, None);
    store.find_token(hash).await.expect("an answer").expect("a grant");
    loop {
        let tokens = store.list_tokens(ada.id, page(0, 1)).await.expect("a list");
        if let Some(used) = tokens.items[0].last_used_at {
            assert!(used >= made.created_at);
            break;
        }
        tokio::task::yield_now().await;
    }
}

both!(a_token_is_somebodys);
async fn a_token_is_somebodys(store: TestStore) {
    let nobody = Uuid::now_v7().into();
    let refused = store
        .create_token(nobody, &new_token("a"), hash_secret("a"))
        .await;
    assert!(matches!(refused, Err(StoreError::NotFound("user"))));
}

both!(a_grant_shows_the_user_as_they_are_now);
async fn a_grant_shows_the_user_as_they_are_now(store: TestStore) {
    let ada = store.user("ada").await;
    let (_, hash) = token(&store, &ada, "a", None).await;
    store.find_token(hash).await.expect("an answer").expect("a grant");
    store.rename(ada.id, "lovelace").await.expect("renamed");
    let grant = store.find_token(hash).await.expect("an answer").expect("a grant");
    assert_eq!(grant.user.username.as_str(), "lovelace");
}
