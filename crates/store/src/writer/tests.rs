use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use sea_orm::{DbBackend, Statement};
use tempfile::TempDir;
use tokio::{sync::Semaphore, task::JoinHandle};

use super::*;
use crate::database::SqliteFile;

/// A writer of a file with one table of numbers, a reader beside it, and a gate that holds its jobs up.
struct Fixture {
    writer: Arc<Writer>,
    reader: DatabaseConnection,
    connection: DatabaseConnection,
    gate: Arc<Semaphore>,
    _folder: TempDir,
}

async fn fixture() -> Fixture {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.db");
    let file = SqliteFile {
        path,
        durable: true,
        shrinks: false,
        readers: 1,
    };
    let connection = file.connect_writer().await.expect("a connection");
    connection
        .execute_unprepared("CREATE TABLE t (n TEXT UNIQUE)")
        .await
        .expect("a table");
    Fixture {
        writer: Arc::new(Writer::grouped(connection.clone(), None).expect("a writer")),
        reader: file.connect_readers().await.expect("a connection"),
        connection,
        gate: Arc::new(Semaphore::new(0)),
        _folder: folder,
    }
}

async fn count<D: ConnectionTrait>(db: &D) -> i64 {
    let statement = Statement::from_string(DbBackend::Sqlite, "SELECT count(*) FROM t");
    let row = db
        .query_one_raw(statement)
        .await
        .expect("an answer")
        .expect("a row");
    row.try_get_by_index(0).expect("a number")
}

impl Fixture {
    /// Makes the writer wait inside a job, so that what is asked next is taken together.
    async fn hold(&self) -> JoinHandle<()> {
        let (writer, gate) = (self.writer.clone(), self.gate.clone());
        let begun = Arc::new(Semaphore::new(0));
        let inside = begun.clone();
        let held = tokio::spawn(async move {
            let held = writer.write((gate, inside), |input, _| Box::pin(wait(input)), |()| ());
            held.await.expect("held");
        });
        begun.acquire().await.expect("begun").forget();
        held
    }

    /// Asks for a number to be written; answers how many rows others could see while that was done, for each time.
    fn insert(&self, number: &'static str) -> JoinHandle<(Result<(), StoreError>, Vec<i64>)> {
        let (writer, reader) = (self.writer.clone(), self.reader.clone());
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        tokio::spawn(async move {
            let result = writer
                .write(
                    (number, reader, seen.clone()),
                    |input, tx| Box::pin(insert(input, tx)),
                    |()| (),
                )
                .await;
            let seen = seen.lock().expect("nobody panicked").clone();
            (result, seen)
        })
    }

    /// Lets the writer go on when so many jobs wait.
    async fn release(&self, waiting: usize) {
        while self.waiting() < waiting {
            tokio::task::yield_now().await;
        }
        self.gate.add_permits(1);
    }

    /// How many jobs wait.
    fn waiting(&self) -> usize {
        let Writer::Grouped(jobs) = &*self.writer else {
            unreachable!("it is one")
        };
        jobs.max_capacity() - jobs.capacity()
    }
}

async fn wait((gate, begun): &(Arc<Semaphore>, Arc<Semaphore>)) -> Result<(), StoreError> {
    begun.add_permits(1);
    gate.acquire().await.expect("open").forget();
    Ok(())
}

type Seen = Arc<std::sync::Mutex<Vec<i64>>>;

async fn insert(
    (number, reader, seen): &(&'static str, DatabaseConnection, Seen),
    tx: &DatabaseTransaction,
) -> Result<(), StoreError> {
    let visible = count(reader).await;
    seen.lock().expect("nobody panicked").push(visible);
    match *number {
        "refuse" => {
            tx.execute_unprepared("INSERT INTO t VALUES ('half')").await?;
            Err(StoreError::NotFound("number"))
        }
        "panic" => panic!("as the test wants"),
        number => {
            tx.execute_unprepared(&format!("INSERT INTO t VALUES ('{number}')"))
                .await?;
            Ok(())
        }
    }
}

#[tokio::test]
async fn what_waits_together_is_committed_at_once() {
    let fixture = fixture().await;
    let held = fixture.hold().await;
    let jobs: Vec<_> = ["1", "2", "3", "4", "5"]
        .map(|number| fixture.insert(number))
        .into();
    fixture.release(jobs.len()).await;
    held.await.expect("no panic");
    for job in jobs {
        let (result, seen) = job.await.expect("no panic");
        result.expect("written");
        assert_eq!(seen, [0], "done once, and before any of them was committed");
    }
    assert_eq!(count(&fixture.reader).await, 5);
}

#[tokio::test]
async fn a_job_that_fails_is_done_alone_and_the_others_together() {
    for bad in ["refuse", "1"] {
        let fixture = fixture().await;
        let held = fixture.hold().await;
        let jobs: Vec<_> = ["1", "2", bad, "3"].map(|number| fixture.insert(number)).into();
        fixture.release(jobs.len()).await;
        held.await.expect("no panic");
        let mut answers = Vec::new();
        for job in jobs {
            answers.push(job.await.expect("no panic"));
        }
        let (failed, seen) = answers.remove(2);
        failed.expect_err("it failed");
        assert_eq!(
            seen,
            [0, 3],
            "{bad}: tried with the others, then alone when they were committed"
        );
        for (result, seen) in answers {
            result.expect("written");
            assert!(seen.iter().all(|visible| *visible == 0), "{bad}: {seen:?}");
        }
        // Nothing is left of what the refused job did first.
        assert_eq!(count(&fixture.reader).await, 3, "{bad}");
    }
}

#[tokio::test]
async fn a_panic_ends_its_batch_and_not_the_writer() {
    let fixture = fixture().await;
    let (result, _) = fixture.insert("panic").await.expect("the caller goes on");
    assert!(matches!(result, Err(StoreError::Closed)));
    fixture.insert("1").await.expect("no panic").0.expect("written");
    assert_eq!(count(&fixture.reader).await, 1);
}

#[tokio::test]
async fn a_full_disk_fails_what_has_no_room_and_nothing_after_it() {
    let fixture = fixture().await;
    fixture.insert("1").await.expect("no panic").0.expect("written");
    fixture
        .connection
        .execute_unprepared("PRAGMA max_page_count = 4")
        .await
        .expect("a small disk");
    let big: &'static str = Box::leak("x".repeat(100_000).into_boxed_str());
    let (result, _) = fixture.insert(big).await.expect("no panic");
    assert!(matches!(result, Err(StoreError::Database(_))), "{result:?}");
    assert_eq!(count(&fixture.reader).await, 1);
    // SQLite has ended that transaction by itself, which the driver doesn't know: a new connection, with the room
    // that every new one has, takes the place of the old.
    fixture.insert(big).await.expect("no panic").0.expect("written");
    assert_eq!(count(&fixture.reader).await, 2);
}

#[tokio::test]
async fn commits_are_told_in_their_order_before_the_answer() {
    let fixture = fixture().await;
    let told = Arc::new(AtomicUsize::new(0));
    for n in 0..10 {
        let ours = told.clone();
        let written = fixture.writer.write(
            n,
            |n, _| Box::pin(async move { Ok(*n) }),
            move |n| {
                assert_eq!(ours.fetch_add(1, Ordering::SeqCst), *n);
            },
        );
        assert_eq!(written.await.expect("written"), n);
        assert_eq!(told.load(Ordering::SeqCst), n + 1);
    }
}

/// The inputs of each time that the work was done.
type Done = Arc<std::sync::Mutex<Vec<Vec<&'static str>>>>;

impl Fixture {
    /// Asks for a number to be written in the same statement as others.
    fn insert_shared(
        &self,
        number: &'static str,
        done: &Done,
    ) -> JoinHandle<Result<&'static str, StoreError>> {
        let (writer, done) = (self.writer.clone(), done.clone());
        tokio::spawn(async move {
            writer
                .write_shared(
                    (number, done),
                    |inputs, tx| Box::pin(insert_all(inputs, tx)),
                    |_| (),
                )
                .await
        })
    }
}

async fn insert_all(inputs: &[(&'static str, Done)], tx: &DatabaseTransaction) -> Results<&'static str> {
    let numbers: Vec<_> = inputs.iter().map(|(number, _)| *number).collect();
    let kept: Vec<_> = numbers.iter().filter(|number| **number != "refuse").collect();
    inputs[0].1.lock().expect("nobody panicked").push(numbers.clone());
    let values: Vec<_> = kept.iter().map(|number| format!("('{number}')")).collect();
    tx.execute_unprepared(&format!("INSERT INTO t VALUES {}", values.join(", ")))
        .await?;
    let result = |number| match number {
        "refuse" => Err(StoreError::NotFound("number")),
        number => Ok(number),
    };
    Ok(numbers.into_iter().map(result).collect())
}

#[tokio::test]
async fn jobs_that_share_statements_are_done_in_one_and_answered_each() {
    let fixture = fixture().await;
    let done = Done::default();
    let held = fixture.hold().await;
    let numbers = ["1", "2", "refuse", "3"];
    let mut jobs = Vec::new();
    for (n, number) in numbers.into_iter().enumerate() {
        jobs.push(fixture.insert_shared(number, &done));
        // In this order.
        while fixture.waiting() <= n {
            tokio::task::yield_now().await;
        }
    }
    let other = fixture.insert("4");
    fixture.release(jobs.len() + 1).await;
    held.await.expect("no panic");
    for (job, number) in jobs.into_iter().zip(numbers) {
        match job.await.expect("no panic") {
            Ok(written) => assert_eq!(written, number),
            Err(error) => assert!(matches!((number, error), ("refuse", StoreError::NotFound(_)))),
        }
    }
    other.await.expect("no panic").0.expect("written");
    assert_eq!(*done.lock().expect("nobody panicked"), [numbers]);
    assert_eq!(count(&fixture.reader).await, 4);
}

#[tokio::test]
async fn what_fails_for_many_is_done_for_each_alone() {
    let fixture = fixture().await;
    let done = Done::default();
    let held = fixture.hold().await;
    let jobs = ["1", "2", "2"].map(|number| fixture.insert_shared(number, &done));
    fixture.release(jobs.len()).await;
    held.await.expect("no panic");
    let mut written = Vec::new();
    for job in jobs {
        written.extend(job.await.expect("no panic").ok());
    }
    assert_eq!(written, ["1", "2"]);
    let lengths: Vec<_> = done
        .lock()
        .expect("nobody panicked")
        .iter()
        .map(Vec::len)
        .collect();
    assert_eq!(lengths, [3, 1, 1, 1]);
    assert_eq!(count(&fixture.reader).await, 2);
}
