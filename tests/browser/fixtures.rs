//! Made-up values.

use hamlet_models::{
    Author, BaseRun, BasicVal, ExtendedVal, LastRun, Me, Page, PageLinks, Privacy, RunError, RunId,
    RunStatus, Timestamp, Trigger, User, UserId, UserLinks, ValId, ValKind, ValLinks,
};
use serde_json::json;

/// An id that ends with this number.
pub(crate) fn id<T: std::str::FromStr>(number: u32) -> T
where
    T::Err: std::fmt::Debug,
{
    format!("018f3c7e-0000-7000-8000-{number:012}")
        .parse()
        .expect("an id")
}

/// The time this many seconds ago.
pub(crate) fn ago(seconds: i64) -> Timestamp {
    Timestamp::from_millis(hamlet_app::hooks::clock::now() - 1_000 * seconds)
}

/// The author of everything.
pub(crate) fn ada() -> Author {
    Author {
        id: id::<UserId>(1),
        username: "ada".parse().expect("a username"),
    }
}

/// Ada, as everyone sees her.
pub(crate) fn ada_user() -> User {
    User {
        id: ada().id,
        username: Some(ada().username),
        bio: Some("Writes programs for machines that are not there yet.".into()),
        profile_image_url: None,
        url: "http://localhost/u/ada".into(),
        links: UserLinks {
            self_: "http://localhost/v1/users/1".into(),
        },
    }
}

/// Ada, signed in.
pub(crate) fn me() -> Me {
    Me {
        user: ada_user(),
        email: None,
        tier: None,
        admin: true,
        has_password: true,
    }
}

/// A val of Ada's.
pub(crate) fn val(number: u32, name: &str, kind: ValKind) -> BasicVal {
    BasicVal {
        id: id::<ValId>(number),
        name: name.parse().expect("a name"),
        version: 3,
        code: Some("export default () => new Response(\"hi\");\n".into()),
        public: true,
        privacy: Privacy::Public,
        kind,
        created_at: ago(7_200),
        updated_at: ago(120),
        author: Some(ada()),
        url: format!("http://localhost/v/ada/{name}"),
        links: ValLinks {
            self_: format!("http://localhost/v1/vals/{number}"),
            versions: format!("http://localhost/v1/vals/{number}/versions"),
            module: format!("http://localhost/v/ada/{name}?v=3"),
            email: None,
            endpoint: (kind == ValKind::Http).then(|| format!("http://ada-{name}.localhost:8787/")),
        },
        last_run: None,
    }
}

/// The same with a last run.
pub(crate) fn val_that_ran(number: u32, name: &str, kind: ValKind, status: RunStatus) -> BasicVal {
    let last_run = LastRun {
        id: id::<RunId>(number),
        status,
        run_start_at: ago(60),
        duration_ms: Some(12.0),
    };
    BasicVal {
        last_run: Some(last_run),
        ..val(number, name, kind)
    }
}

/// A val with everything there is to say of it.
pub(crate) fn extended(val: BasicVal) -> ExtendedVal {
    ExtendedVal {
        readme: None,
        like_count: 0,
        reference_count: 0,
        version_created_at: val.updated_at,
        callable: false,
        grants: Default::default(),
        schedule: None,
        warnings: Vec::new(),
        val,
    }
}

/// A run of Ada's val.
pub(crate) fn run(number: u32, name: &str, status: RunStatus) -> BaseRun {
    let error = status.is_failure().then(|| RunError {
        name: "TypeError".into(),
        message: "x is not a function".into(),
        stack: format!(
            "TypeError: x is not a function\n    at default (http://localhost/v/ada/{name}?v=3:2:3)"
        ),
    });
    BaseRun {
        id: id::<RunId>(number),
        error,
        parent_id: None,
        run_start_at: ago(60),
        run_end_at: status.is_over().then(|| ago(59)),
        author: Some(ada()),
        name: Some(name.parse().expect("a name")),
        version: Some(3),
        val_id: Some(id::<ValId>(1)),
        status,
        trigger: Trigger::Http,
        duration_ms: status.is_over().then_some(132.0),
        cpu_ms: Some(4.0),
        memory_bytes: Some(40_000_000),
        request: None,
        replay_of: None,
    }
}

/// A list that fits one page.
pub(crate) fn page<T>(data: Vec<T>) -> Page<T> {
    Page {
        data,
        links: PageLinks::default(),
    }
}

/// A page of a list that goes on.
pub(crate) fn page_with_next<T>(data: Vec<T>) -> Page<T> {
    Page {
        data,
        links: PageLinks {
            next: Some("http://localhost/next".into()),
            ..PageLinks::default()
        },
    }
}

/// What there is to know of the instance.
pub(crate) fn instance() -> serde_json::Value {
    json!({
        "version": "0.1.0", "denoVersion": "2.9.6", "valsDomain": "localhost:8787",
        "limits": {
            "wallSeconds": 60, "cpuSeconds": 30, "memoryMb": 256, "requestBodyMb": 10, "logKb": 256, "valueKb": 64,
            "userRuns": 10, "instanceRuns": 50, "warmSeconds": 10, "waitSeconds": 10, "callBytes": 4_194_304,
            "answerKb": 5_000, "filesMb": 512, "files": 10_000, "importedVals": 1_000, "secrets": 200,
            "keepRunsDays": 30, "keepRunsMb": 2_000, "blobsMb": 1_000,
            "sql": {
                "seconds": 11, "memoryMb": 256, "statements": 1_000, "callBytes": 33_554_432, "statementMb": 1,
                "valueMb": 16, "answerMb": 16, "databaseMb": 1_024,
            },
            "email": {
                "addressesPerHour": 100, "addresses": 50, "messageBytes": 41_943_040, "incomingMb": 30,
                "incomingVals": 20, "waiting": 1_000, "waitingMb": 300,
            },
        },
    })
}
