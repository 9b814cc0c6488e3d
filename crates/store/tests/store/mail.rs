//! Mail that came and mail that goes out: kept on either database.

use bytes::Bytes;
use hamlet_models::{EmailContent, PageQuery, Privacy, RunId, Timestamp, ValId};
use hamlet_store::{Store, StoreError, Turns};
use uuid::Uuid;

use crate::harness::TestStore;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

async fn queued(store: &Store, now: Timestamp) -> usize {
    store
        .list_queued_emails(now, &Turns::of_all(10))
        .await
        .expect("the queue")
        .len()
}

both!(a_message_is_queued_for_each_val_and_claimed_once);
async fn a_message_is_queued_for_each_val_and_claimed_once(store: TestStore) {
    let ada = store.user("ada").await;
    let one = store.val(&ada, "one", Privacy::Private).await.id;
    let other = store.val(&ada, "other", Privacy::Private).await.id;
    let mut incoming = store.begin_email();
    incoming
        .write(Bytes::from("Subject: hi\r\n\r\n"))
        .await
        .expect("written");
    incoming.write(Bytes::from("hello")).await.expect("written");
    incoming.queue(&[one, other]).await.expect("queued");

    let emails = store
        .list_queued_emails(at(0), &Turns::of_all(10))
        .await
        .expect("the queue");
    assert_eq!(emails.len(), 2);
    for email in &emails {
        assert_eq!(
            store.read_email(email).await.expect("a message"),
            "Subject: hi\r\n\r\nhello"
        );
    }
    let claims = (0..8).map(|_| store.claim_email(&emails[0], at(0), at(10)));
    let claims = futures_util::future::join_all(claims).await;
    let won = claims
        .into_iter()
        .filter(|claim| *claim.as_ref().expect("an answer"))
        .count();
    assert_eq!(
        (won, queued(&store, at(9)).await, queued(&store, at(10)).await),
        (1, 1, 2)
    );
    store.return_email(&emails[0], at(20)).await.expect("returned");
    assert_eq!(queued(&store, at(19)).await, 1);
    store.return_emails().await.expect("returned");
    assert_eq!(queued(&store, at(0)).await, 2);
    store.finish_email(&emails[0]).await.expect("finished");
    store.delete_val(emails[1].val_id).await.expect("deleted");
    assert_eq!(queued(&store, at(0)).await, 0);
}

async fn queue(store: &Store, text: &'static str, vals: &[ValId]) -> Result<(), StoreError> {
    let mut incoming = store.begin_email();
    incoming.write(Bytes::from(text)).await.expect("written");
    incoming.queue(vals).await
}

both!(only_so_much_mail_waits_for_an_owner);
async fn only_so_much_mail_waits_for_an_owner(store: TestStore) {
    let (ada, bob) = (store.user("ada").await, store.user("bob").await);
    let val = store.val(&ada, "one", Privacy::Private).await.id;
    let other = store.val(&bob, "one", Privacy::Private).await.id;
    let room = async |bytes| {
        let answer = store.must_have_room_for_email(ada.id, bytes).await;
        answer.map_err(|error| assert!(matches!(error, StoreError::TooMuchMail), "{error}"))
    };
    assert!(room(300_000_000).await.is_ok() && room(300_000_001).await.is_err());
    queue(&store, "0123456789", &vec![val; 999]).await.expect("taken");
    let left = 300_000_000 - 9_990;
    assert!(room(left).await.is_ok() && room(left + 1).await.is_err());

    let too_many = queue(&store, "0123456789", &[other, val, val]).await;
    assert!(matches!(too_many, Err(StoreError::TooMuchMail)));
    let all = Turns::of_all(2_000);
    let waiting = store.list_queued_emails(at(0), &all).await.expect("the queue");
    assert_eq!(waiting.len(), 999, "all or none");
    queue(&store, "0123456789", &[other, val]).await.expect("taken");
    assert!(room(0).await.is_err());
    assert!(queue(&store, "", &[val]).await.is_err());
    queue(&store, "", &[other]).await.expect("another's");
    store.finish_email(&waiting[0]).await.expect("finished");
    assert!(room(0).await.is_ok());
}

both!(a_message_for_a_val_that_is_gone_is_not_taken);
async fn a_message_for_a_val_that_is_gone_is_not_taken(store: TestStore) {
    let ada = store.user("ada").await;
    let val = store.val(&ada, "one", Privacy::Private).await.id;
    let incoming = store.begin_email();
    store.delete_val(val).await.expect("deleted");
    assert!(matches!(
        incoming.queue(&[val]).await,
        Err(StoreError::NotFound(_))
    ));
}

fn content(subject: &str) -> EmailContent {
    EmailContent {
        from: "ada@example.com".into(),
        to: vec!["bob@example.com".into()],
        cc: Vec::new(),
        bcc: Vec::new(),
        subject: subject.into(),
        text: Some("hello".into()),
        html: None,
        attachments: Vec::new(),
    }
}

both!(an_outbox_is_newest_first_and_knows_the_runs);
async fn an_outbox_is_newest_first_and_knows_the_runs(store: TestStore) {
    let ada = store.user("ada").await.id;
    let run = RunId(Uuid::now_v7());
    for (subject, run) in [("one", Some(run)), ("two", None), ("three", Some(run))] {
        let message = format!("Subject: {subject}").into_bytes();
        store
            .keep_email(ada, run, &content(subject), message, None)
            .await
            .expect("kept");
    }
    let subjects = |emails: &[hamlet_models::OutboxEmail]| -> Vec<String> {
        emails.iter().map(|email| email.content.subject.clone()).collect()
    };
    let page = store
        .list_outbox(ada, PageQuery { offset: 0, limit: 2 })
        .await
        .expect("a page");
    assert_eq!(
        (subjects(&page.items), page.more),
        (vec!["three".to_owned(), "two".to_owned()], true)
    );
    let of_run = store.list_emails_of_run(ada, run).await.expect("a list");
    assert_eq!(subjects(&of_run), ["one", "three"]);
    let id = page.items[0].id;
    assert_eq!(
        store.get_email(ada, id).await.expect("a message"),
        "Subject: three"
    );
    store.delete_email(ada, id).await.expect("deleted");
    assert!(matches!(
        store.delete_email(ada, id).await,
        Err(StoreError::NotFound(_))
    ));
    assert_eq!(store.sweep_blobs().await.expect("a sweep"), 0);
}

fn after(time: Timestamp, minutes: i64) -> Timestamp {
    at(time.as_millis() + minutes * 60_000)
}

both!(what_waits_is_claimed_once_a_try_and_leaves_the_outbox_when_sent);
async fn what_waits_is_claimed_once_a_try_and_leaves_the_outbox_when_sent(store: TestStore) {
    let ada = store.user("ada").await.id;
    let run = RunId(Uuid::now_v7());
    for failure in [None, Some("connection refused")] {
        let subject = failure.unwrap_or("no relay");
        store
            .keep_email(ada, Some(run), &content(subject), b"late".to_vec(), failure)
            .await
            .expect("kept");
    }
    let all = PageQuery { offset: 0, limit: 9 };
    let kept = store.list_outbox(ada, all).await.expect("a page").items;
    let first = kept[0].next_attempt_at.expect("a time");
    let early = at(first.as_millis() - 1);
    assert!(store.list_due_emails(early, 9).await.expect("a list").is_empty());
    let due = store.list_due_emails(first, 9).await.expect("a list");
    let [email] = due.as_slice() else {
        panic!("the one that a relay did not take: {due:?}")
    };
    assert_eq!((email.id, email.user_id), (kept[0].id, ada));
    let read = store.read_waiting_email(email).await.expect("a message");
    assert_eq!(read, (kept[0].content.clone(), Bytes::from("late")));
    let claims = (0..8).map(|_| store.claim_due_email(email, first));
    let claims = futures_util::future::join_all(claims).await;
    let won = claims
        .into_iter()
        .filter(|claim| *claim.as_ref().expect("an answer"));
    assert_eq!(won.count(), 1);
    store
        .note_failed_email(email, "451 later", false)
        .await
        .expect("noted");
    let tried = store.list_outbox(ada, all).await.expect("a page").items.remove(0);
    assert_eq!(
        (tried.failure.as_deref(), tried.next_attempt_at),
        (Some("451 later"), Some(after(first, 5)))
    );

    store.finish_waiting_email(email).await.expect("sent");
    assert_eq!(
        store.list_outbox(ada, all).await.expect("a page").items,
        kept[1..],
        "what no relay was asked to take stays"
    );
    let of_run = store.list_emails_of_run(ada, run).await.expect("a list");
    let sent = of_run
        .iter()
        .find(|sent| sent.id == kept[0].id)
        .expect("it is told");
    assert!(sent.sent_at.is_some() && sent.failure.is_none() && sent.next_attempt_at.is_none());
    let much_later = after(first, 24 * 60);
    assert!(
        store
            .list_due_emails(much_later, 9)
            .await
            .expect("a list")
            .is_empty()
    );
    assert!(!store.claim_due_email(email, much_later).await.expect("an answer"));
}

both!(what_was_sent_is_known_by_its_run_and_waits_in_no_outbox);
async fn what_was_sent_is_known_by_its_run_and_waits_in_no_outbox(store: TestStore) {
    let ada = store.user("ada").await.id;
    let run = RunId(Uuid::now_v7());
    store
        .note_sent_email(ada, Some(run), &content("sent"))
        .await
        .expect("noted");
    store
        .keep_email(
            ada,
            Some(run),
            &content("late"),
            b"late".to_vec(),
            Some("connection refused"),
        )
        .await
        .expect("kept");
    let of_run = store.list_emails_of_run(ada, run).await.expect("a list");
    let told: Vec<_> = of_run
        .iter()
        .map(|email| {
            (
                email.content.subject.as_str(),
                email.sent_at.is_some(),
                email.failure.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [("sent", true, None), ("late", false, Some("connection refused"))]
    );
    let outbox = store
        .list_outbox(ada, PageQuery { offset: 0, limit: 9 })
        .await
        .expect("a page");
    assert_eq!(outbox.items, of_run[1..]);
    assert_eq!(of_run[1].next_attempt_at, Some(after(of_run[1].created_at, 1)));
    for gone in [
        store.get_email(ada, of_run[0].id).await.map(drop),
        store.delete_email(ada, of_run[0].id).await,
    ] {
        assert!(matches!(gone, Err(StoreError::NotFound(_))));
    }
    assert_eq!(store.list_emails_of_run(ada, run).await.expect("a list").len(), 2);
}
