use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hamlet_models::{NewVersion, Privacy, ValUpdate};
use hamlet_store::StoreError;

use crate::harness::{TestStore, at, new_val, page};

both!(of_two_saves_on_the_same_version_one_wins);
async fn of_two_saves_on_the_same_version_one_wins(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "hello", Privacy::Private).await;
    for round in 0..20 {
        let savers = ["left", "right"].map(|side| {
            let (store, new) = (store.clone(), NewVersion::of_code(format!("{side} {round}")));
            let (val, ada) = (val.id, ada.id);
            tokio::spawn(async move { store.create_version(val, ada, &new, Some(round)).await })
        });
        let mut won = Vec::new();
        for saver in savers {
            match saver.await.expect("no panic") {
                Ok(saved) => won.push(saved.val),
                Err(StoreError::VersionMismatch { latest }) => assert_eq!(latest, round + 1),
                Err(error) => panic!("{error}"),
            }
        }
        let [winner] = won.as_slice() else {
            panic!("{} won", won.len())
        };
        assert_eq!(store.get_val(val.id).await.expect("the val"), *winner);
        assert_eq!(winner.version, round + 1);
    }
}

both!(one_refusal_harms_no_neighbour);
async fn one_refusal_harms_no_neighbour(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "taken", Privacy::Private).await;
    store.save(&val, "2").await;
    // All at once, so that they share transactions: every fourth is refused, in one of two ways.
    let writers: Vec<_> = (0..80_u32)
        .map(|n| {
            let (store, ada, val) = (store.clone(), ada.id, val.id);
            tokio::spawn(async move {
                match n % 8 {
                    0 => store.create_val(ada, &new_val("TAKEN", "1")).await.map(drop),
                    4 => store
                        .create_version(val, ada, &NewVersion::of_code("3"), Some(0))
                        .await
                        .map(drop),
                    _ => store
                        .create_val(ada, &new_val(&format!("v{n}"), "1"))
                        .await
                        .map(drop),
                }
            })
        })
        .collect();
    for (n, writer) in writers.into_iter().enumerate() {
        match (n % 8, writer.await.expect("no panic")) {
            (0, Err(StoreError::NameTaken(_))) | (4, Err(StoreError::VersionMismatch { latest: 1 })) => {}
            (0 | 4, other) => panic!("{n} should have been refused: {other:?}"),
            (_, result) => result.expect("a val"),
        }
    }
    for n in (0..80).filter(|n| n % 4 != 0) {
        store.find_val("ada", &format!("v{n}")).await.expect("kept");
    }
    assert_eq!(
        store
            .list_versions(val.id, page(0, 20))
            .await
            .expect("a list")
            .items
            .len(),
        2
    );
}

both!(of_many_who_want_a_name_one_gets_it);
async fn of_many_who_want_a_name_one_gets_it(store: TestStore) {
    let ada = store.user("ada").await;
    let writers: Vec<_> = (0..16)
        .map(|_| {
            let (store, ada) = (store.clone(), ada.id);
            tokio::spawn(async move { store.create_val(ada, &new_val("hello", "1")).await })
        })
        .collect();
    let mut made = 0;
    for writer in writers {
        match writer.await.expect("no panic") {
            Ok(_) => made += 1,
            Err(error) => assert!(matches!(error, StoreError::NameTaken(_)), "{error}"),
        }
    }
    assert_eq!(made, 1);
}

both!(a_read_is_never_older_than_the_last_answered_write);
async fn a_read_is_never_older_than_the_last_answered_write(store: TestStore) {
    let ada = store.user("ada").await;
    // Long, so that loading it takes its time.
    let new = new_val("hello", &"0123456789".repeat(20_000));
    let id = store.create_val(ada.id, &new).await.expect("a val").id;
    let over = Arc::new(AtomicBool::new(false));
    // Readers that keep loading the val, and a writer that keeps throwing it out of memory for them.
    let mut others = Vec::new();
    for n in 0..4 {
        let (store, over) = (store.clone(), over.clone());
        others.push(tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                if n == 0 {
                    store.set_schedule_ran(id, at(0)).await.expect("noted");
                }
                store.get_val(id).await.expect("the val");
                tokio::task::yield_now().await;
            }
        }));
    }
    for n in 1..=150_u32 {
        let update = ValUpdate {
            readme: Some(n.to_string()),
            ..ValUpdate::default()
        };
        store.update_val(id, &update).await.expect("changed");
        for _ in 0..10 {
            let seen = store.get_val(id).await.expect("the val");
            assert_eq!(seen.readme.as_deref(), Some(n.to_string().as_str()));
            tokio::task::yield_now().await;
        }
    }
    over.store(true, Ordering::Relaxed);
    for other in others {
        other.await.expect("no panic");
    }
}

both!(what_was_deleted_stays_so_however_many_read_it);
async fn what_was_deleted_stays_so_however_many_read_it(store: TestStore) {
    let ada = store.user("ada").await;
    for n in 0..40 {
        let name = format!("v{n}");
        let id = store.val(&ada, &name, Privacy::Private).await.id;
        // Out of memory, so that the readers load it while it is being deleted.
        store.set_schedule_ran(id, at(0)).await.expect("noted");
        let over = Arc::new(AtomicBool::new(false));
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let (store, over) = (store.clone(), over.clone());
                tokio::spawn(async move {
                    while !over.load(Ordering::Relaxed) {
                        // There or not: what matters is what the last of them leave behind.
                        let _ = store.get_val(id).await;
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        store.delete_val(id).await.expect("deleted");
        assert!(matches!(
            store.get_val(id).await,
            Err(StoreError::NotFound("val"))
        ));
        over.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.await.expect("no panic");
        }
        assert!(matches!(
            store.get_val(id).await,
            Err(StoreError::NotFound("val"))
        ));
        assert!(matches!(
            store.find_val("ada", &name).await,
            Err(StoreError::NotFound("val"))
        ));
    }
}
