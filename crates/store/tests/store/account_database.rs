//! The database of an account: what they answer, and what can't be done from inside them.

use std::time::Duration;

use hamlet_models::{SqlMode, SqlResult, SqlStatement};
use hamlet_store::{AccountDatabase, SqlError, SqlLimits};
use serde_json::{Value, json};

struct Fixture {
    database: AccountDatabase,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self::with_limits(SqlLimits::default())
    }

    fn with_limits(limits: SqlLimits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let database = AccountDatabase::open(&folder.path().join("own.db"), limits, || ());
        Self {
            database: database.expect("a database"),
            folder,
        }
    }

    fn run(&self, sql: &str, args: Value) -> Result<SqlResult, SqlError> {
        let statement = SqlStatement::WithArgs {
            sql: sql.into(),
            args: serde_json::from_value(args).expect("arguments"),
        };
        self.database.execute(&statement, SqlMode::Deferred)
    }

    fn batch(&self, statements: &[&str], mode: SqlMode) -> Result<Vec<SqlResult>, SqlError> {
        let statements: Vec<_> = statements
            .iter()
            .map(|&sql| SqlStatement::Bare(sql.into()))
            .collect();
        self.database.batch(&statements, mode)
    }

    fn refused(&self, sql: &str) -> String {
        self.run(sql, json!([])).expect_err(sql).to_string()
    }
}

#[test]
fn rows_come_back_as_lists_with_names_and_declared_types() {
    let db = Fixture::new();
    db.run(
        "create table notes (id integer primary key, body text, data blob)",
        json!([]),
    )
    .expect("a table");
    let made = db
        .run(
            "insert into notes (body, data) values (?, ?)",
            json!(["hi", {"base64": "AAE="}]),
        )
        .expect("a row");
    assert_eq!((made.rows_affected, made.last_insert_rowid), (1, Some(1)));
    let found = db.run(
        "select id, body, data, 1 from notes where body = :body",
        json!({"body": "hi"}),
    );
    let found = found.expect("rows");
    assert_eq!(found.columns[..3], ["id", "body", "data"]);
    assert_eq!(found.column_types, ["INTEGER", "TEXT", "BLOB", ""]);
    assert_eq!(
        found.rows,
        [vec![json!(1), json!("hi"), json!({"base64": "AAE="}), json!(1)]]
    );
    assert_eq!(found.rows_affected, 0);
}

#[test]
fn whole_numbers_that_a_double_cannot_hold_are_texts() {
    let db = Fixture::new();
    let found = db
        .run("select 9007199254740991, 9007199254740992, 1.5, null", json!([]))
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

#[test]
fn a_batch_is_done_whole_or_not_at_all() {
    let db = Fixture::new();
    let done = db.batch(
        &["create table t (a unique)", "insert into t values (1)"],
        SqlMode::Write,
    );
    assert_eq!(done.expect("both")[1].rows_affected, 1);
    let failed = db.batch(
        &["insert into t values (2)", "insert into t values (1)"],
        SqlMode::Deferred,
    );
    assert!(failed.expect_err("a conflict").to_string().contains("UNIQUE"));
    let rows = db.run("select a from t", json!([])).expect("rows").rows;
    assert_eq!(
        rows,
        [vec![json!(1)]],
        "the first insert of the failed batch must not stay"
    );
}

#[test]
fn a_batch_that_reads_cannot_write_and_leaves_writing_to_the_next() {
    let db = Fixture::new();
    db.run("create table t (a)", json!([])).expect("a table");
    let refused = db.batch(&["insert into t values (1)"], SqlMode::Read);
    assert!(matches!(refused, Err(SqlError::ReadOnly)));
    let statement = || SqlStatement::Bare("pragma user_version = 7".to_owned());
    let refused = db.database.execute(&statement(), SqlMode::Read);
    assert!(matches!(refused, Err(SqlError::ReadOnly)));
    db.run("insert into t values (1)", json!([]))
        .expect("writing works again");
}

#[test]
fn there_is_no_way_out_of_the_account_s_file() {
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
        db.refused(&sql);
    }
    let escape = ["insert into t values (1)", "commit", "insert into t values (2)"];
    db.run("create table t (a)", json!([])).expect("a table");
    assert!(db.batch(&escape, SqlMode::Write).is_err());
    assert!(
        db.run("select * from t", json!([]))
            .expect("rows")
            .rows
            .is_empty()
    );
    assert!(!outside.exists());
}

#[test]
fn a_value_a_statement_and_an_answer_have_a_largest_size() {
    let db = Fixture::new();
    db.refused("select zeroblob(100000000)");
    db.refused(&format!("select '{}'", "a".repeat(2_000_000)));
    let many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
                select zeroblob(1000) from n";
    assert!(db.refused(many).contains("add a limit"));

    // Names come with every statement, however few rows there are.
    let name = "a".repeat(500_000);
    db.run(&format!("create table t ({name})"), json!([]))
        .expect("a table");
    let refused = db.batch(&["select * from t"; 100], SqlMode::Read);
    let sentence = refused.expect_err("more names than fit").to_string();
    assert!(sentence.contains("add a limit"), "{sentence}");
}

#[test]
fn parameters_that_do_not_fit_are_named() {
    let db = Fixture::new();
    let refused = |args| db.run("select :a, ?2", args).expect_err("refused").to_string();
    assert!(refused(json!([1])).contains("2 parameters"));
    assert!(refused(json!({"b": 1})).contains(":a"));
    assert!(refused(json!([[], 1])).contains("a parameter is"));
}

#[test]
fn a_text_holds_one_statement_however_many_there_are() {
    let db = Fixture::new();
    assert!(db.refused("").contains("no statement"));
    assert!(db.refused("-- nothing").contains("no statement"));
    for count in [2, 100_000] {
        assert!(db.refused(&"select 1;".repeat(count)).contains("batch"));
    }
    db.run("select 1; -- and no more", json!([]))
        .expect("one statement");
}

#[test]
fn an_endless_statement_is_stopped() {
    let db = Fixture::with_limits(SqlLimits {
        time: Duration::ZERO,
        ..SqlLimits::default()
    });
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    let stopped = db.refused(endless);
    assert!(stopped.contains("ran longer than the 0 s"), "{stopped}");
}

#[test]
fn what_is_too_large_for_a_value_or_a_statement_says_how_large_it_may_be() {
    let db = Fixture::new();
    for large in [
        "select zeroblob(17000000)",
        &format!("select 1{}", " ".repeat(2_000_000)),
    ] {
        let refused = db.refused(large);
        assert!(
            refused.contains("a value has at most 16 MB") && refused.contains("a statement 1 MB"),
            "{refused}"
        );
    }
}

#[test]
fn a_database_grows_to_its_largest_size_and_says_so() {
    let db = Fixture::with_limits(SqlLimits {
        database_bytes: 2 << 20,
        ..SqlLimits::default()
    });
    db.run("create table t (a)", json!([])).expect("a table");
    let large = "insert into t values (zeroblob(1500000))";
    db.run(large, json!([])).expect("a row");
    let refused = db.refused(large);
    assert!(refused.contains("at most 2 MB"), "{refused}");
    db.run("delete from t", json!([])).expect("no row");
    db.run(large, json!([])).expect("room again");
}
