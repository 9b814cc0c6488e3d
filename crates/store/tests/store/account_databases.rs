//! The databases of accounts: what they answer, and what can't be done from inside them.

use hamlet_models::{SqlMode, SqlResult, SqlStatement, UserId};
use hamlet_store::{AccountDatabases, SqlError};
use serde_json::{Value, json};

struct Fixture {
    databases: AccountDatabases,
    user: UserId,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let databases = AccountDatabases::new(folder.path().join("sqlite"));
        Self {
            databases,
            user: UserId::from(uuid::Uuid::now_v7()),
            folder,
        }
    }

    async fn run(&self, sql: &str, args: Value) -> Result<SqlResult, SqlError> {
        let args = serde_json::from_value(args).expect("arguments");
        self.databases
            .execute(
                self.user,
                SqlStatement::WithArgs {
                    sql: sql.into(),
                    args,
                },
                SqlMode::Deferred,
            )
            .await
    }

    async fn batch(&self, statements: &[&str], mode: SqlMode) -> Result<Vec<SqlResult>, SqlError> {
        let statements = statements
            .iter()
            .map(|&sql| SqlStatement::Bare(sql.into()))
            .collect();
        self.databases.batch(self.user, statements, mode).await
    }

    async fn refused(&self, sql: &str) -> String {
        self.run(sql, json!([])).await.expect_err(sql).to_string()
    }
}

#[tokio::test]
async fn rows_come_back_as_lists_with_names_and_declared_types() {
    let db = Fixture::new();
    db.run(
        "create table notes (id integer primary key, body text, data blob)",
        json!([]),
    )
    .await
    .expect("a table");
    let made = db
        .run(
            "insert into notes (body, data) values (?, ?)",
            json!(["hi", {"base64": "AAE="}]),
        )
        .await
        .expect("a row");
    assert_eq!((made.rows_affected, made.last_insert_rowid), (1, Some(1)));
    let found = db
        .run(
            "select id, body, data, 1 from notes where body = :body",
            json!({"body": "hi"}),
        )
        .await;
    let found = found.expect("rows");
    assert_eq!(found.columns[..3], ["id", "body", "data"]);
    assert_eq!(found.column_types, ["INTEGER", "TEXT", "BLOB", ""]);
    assert_eq!(
        found.rows,
        [vec![json!(1), json!("hi"), json!({"base64": "AAE="}), json!(1)]]
    );
    assert_eq!(found.rows_affected, 0);
}

#[tokio::test]
async fn whole_numbers_that_a_double_cannot_hold_are_texts() {
    let db = Fixture::new();
    let found = db
        .run("select 9007199254740991, 9007199254740992, 1.5, null", json!([]))
        .await
        .expect("a row");
    assert_eq!(
        found.rows[0],
        [
            json!(9_007_199_254_740_991_i64),
            json!("9007199254740992"),
            json!(1.5),
            Value::Null
        ]
    );
}

#[tokio::test]
async fn each_account_sees_its_own_database_alone() {
    let mut db = Fixture::new();
    db.run("create table mine (a)", json!([])).await.expect("a table");
    db.user = UserId::from(uuid::Uuid::now_v7());
    assert!(db.refused("select * from mine").await.contains("no such table"));
}

#[tokio::test]
async fn a_batch_is_done_whole_or_not_at_all() {
    let db = Fixture::new();
    let done = db
        .batch(
            &["create table t (a unique)", "insert into t values (1)"],
            SqlMode::Write,
        )
        .await;
    assert_eq!(done.expect("both")[1].rows_affected, 1);
    let failed = db
        .batch(
            &["insert into t values (2)", "insert into t values (1)"],
            SqlMode::Deferred,
        )
        .await;
    assert!(failed.expect_err("a conflict").to_string().contains("UNIQUE"));
    let rows = db.run("select a from t", json!([])).await.expect("rows").rows;
    assert_eq!(
        rows,
        [vec![json!(1)]],
        "the first insert of the failed batch must not stay"
    );
}

#[tokio::test]
async fn a_batch_that_reads_cannot_write_and_leaves_writing_to_the_next() {
    let db = Fixture::new();
    db.run("create table t (a)", json!([])).await.expect("a table");
    let refused = db.batch(&["insert into t values (1)"], SqlMode::Read).await;
    assert!(matches!(refused, Err(SqlError::ReadOnly)));
    let statement = || SqlStatement::Bare("pragma user_version = 7".to_owned());
    let refused = db.databases.execute(db.user, statement(), SqlMode::Read).await;
    assert!(matches!(refused, Err(SqlError::ReadOnly)));
    db.run("insert into t values (1)", json!([]))
        .await
        .expect("writing works again");
}

#[tokio::test]
async fn there_is_no_way_out_of_the_account_s_file() {
    let db = Fixture::new();
    let outside = db.folder.path().join("outside.db");
    for sql in [
        format!("attach database '{}' as other", outside.display()),
        format!("vacuum into '{}'", outside.display()),
        "select load_extension('x')".to_owned(),
        "pragma journal_mode = off".to_owned(),
        "pragma max_page_count = 1000000000".to_owned(),
        "pragma temp_store_directory = '/tmp'".to_owned(),
        "pragma writable_schema = on".to_owned(),
        "begin".to_owned(),
        "savepoint a".to_owned(),
        "create temp table spill (a)".to_owned(),
        "select * from pragma_max_page_count(1000000000)".to_owned(),
    ] {
        db.refused(&sql).await;
    }
    let escape = ["insert into t values (1)", "commit", "insert into t values (2)"];
    db.run("create table t (a)", json!([])).await.expect("a table");
    assert!(db.batch(&escape, SqlMode::Write).await.is_err());
    assert!(
        db.run("select * from t", json!([]))
            .await
            .expect("rows")
            .rows
            .is_empty()
    );
    assert!(!outside.exists());
}

#[tokio::test]
async fn a_value_a_statement_and_an_answer_have_a_largest_size() {
    let db = Fixture::new();
    db.refused("select zeroblob(100000000)").await;
    db.refused(&format!("select '{}'", "a".repeat(2_000_000))).await;
    let many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
                select zeroblob(1000) from n";
    assert!(db.refused(many).await.contains("add a limit"));

    // Names come with every statement, however few rows there are.
    let name = "a".repeat(500_000);
    db.run(&format!("create table t ({name})"), json!([]))
        .await
        .expect("a table");
    let refused = db.batch(&["select * from t"; 100], SqlMode::Read).await;
    let sentence = refused.expect_err("more names than fit").to_string();
    assert!(sentence.contains("add a limit"), "{sentence}");
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_named() {
    let db = Fixture::new();
    let refused = |args| async {
        db.run("select :a, ?2", args)
            .await
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(json!([1])).await.contains("2 parameters"));
    assert!(refused(json!({"b": 1})).await.contains(":a"));
    assert!(refused(json!([[], 1])).await.contains("a parameter is"));
}

#[tokio::test]
async fn a_text_holds_one_statement_however_many_there_are() {
    let db = Fixture::new();
    assert!(db.refused("").await.contains("no statement"));
    assert!(db.refused("-- nothing").await.contains("no statement"));
    for count in [2, 100_000] {
        assert!(db.refused(&"select 1;".repeat(count)).await.contains("batch"));
    }
    db.run("select 1; -- and no more", json!([]))
        .await
        .expect("one statement");
}

#[tokio::test]
async fn calls_of_one_account_come_one_after_the_other() {
    let db = Fixture::new();
    db.run("create table t (n)", json!([])).await.expect("a table");
    db.run("insert into t values (0)", json!([]))
        .await
        .expect("a row");
    let adds = (0..20).map(|_| db.batch(&["update t set n = n + 1", "select n from t"], SqlMode::Deferred));
    for added in futures_util::future::join_all(adds).await {
        added.expect("a sum");
    }
    assert_eq!(
        db.run("select n from t", json!([])).await.expect("a row").rows,
        [[json!(20)]]
    );
}
