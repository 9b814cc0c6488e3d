//! Acts that look for what only the neighbour may know: the value of its secret, and the code of its private val.

use std::{fs, path::Path};

use axum::http::Method;
use hamlet_models::{BaseRun, Page, Privacy, RunStatus, ValKind};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    footprint::{children, told_of},
    siege::{LOOK_AGAIN, Siege},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_looks_for_others_secrets_beside_a_neighbour() {
    let siege = Siege::start(&[]).await;
    let ada = &siege.neighbour.account;
    let shown = "export default () => 'shown';";
    let opens = "export * from 'https://esm.town/v/ada/hidden';";
    for (name, code) in [("shown", shown), ("opens", opens)] {
        let made = ada.make(name, ValKind::Script, Privacy::Public, code).await;
        made.expect("a val");
    }
    siege.suffers("a search", async || searches(&siege).await).await;
    siege
        .suffers("imports that are saved", async || imports(&siege).await)
        .await;
    siege
        .suffers("a look from outside", async || shows_nothing(&siege).await)
        .await;
    is_nowhere_in(&siege, &siege.server.data_dir.join("cache"));
    is_nowhere_in(&siege, &siege.server.data_dir.join("work/bootstrap"));
    siege.over().await;
}

/// Whether this text tells what the neighbour alone may know.
fn tells(siege: &Siege, text: &[u8]) -> bool {
    let known = [&siege.neighbour.secret, &siege.neighbour.marker];
    known
        .iter()
        .any(|known| text.windows(known.len()).any(|part| part == known.as_bytes()))
}

async fn searches(siege: &Siege) {
    let ada = &siege.neighbour.account;
    let runs: Page<BaseRun> = ada.get("/v1/me/runs?limit=100").await.expect("its runs");
    // It has printed the secret.
    let is_tick = |run: &&BaseRun| {
        run.status == RunStatus::Ok && run.name.as_ref().is_some_and(|name| name.as_str() == "clock")
    };
    let tick = runs.data.iter().find(is_tick).expect("a tick");
    let worker = siege.neighbour.worker();
    let backwards = |text: &str| text.chars().rev().collect::<String>();
    let aims = json!({
        "needles": [backwards(&siege.neighbour.secret), backwards(&siege.neighbour.marker)],
        "hidden": siege.neighbour.hidden.val.id,
        "run": tick.id,
        "victim": {"pid": worker.pid, "folder": worker.folder},
        "server": siege.server.id,
        "data": siege.server.data_dir,
    });
    let set = siege.mallory.set_secret("AIMS", &aims.to_string()).await;
    set.expect("a secret");
    let run = siege.script(include_str!("vals/search.ts")).await;
    assert_eq!(run.status, RunStatus::Ok, "{:?} {:?}", run.error, run.logs);
    let told = serde_json::to_vec(&run).expect("JSON");
    assert!(!tells(siege, &told), "{run:?}");
    let seen = run.return_value.expect("what it saw");
    assert_eq!(seen["found"], json!([seen["own"]]), "it finds its own file alone");
    let looked_well = seen["looked"].as_u64() > Some(200) && seen["answered"].as_u64() > Some(5);
    assert!(looked_well && seen["shown"] == true, "{seen}");
}

/// What is imported without being asked for at run time, by each kind of name.
async fn imports(siege: &Siege) {
    for import in [
        "export * from 'https://esm.town/v/ada/hidden';".to_owned(),
        "export * from 'https://esm.town/v/ada/hidden?v=0';".to_owned(),
        "export * from 'https://esm.town/v/ada/opens';".to_owned(),
        format!(
            "import * as all from '{}/v/ada/hidden'; export default all;",
            siege.server.url
        ),
        "import text from 'https://esm.town/v/ada/hidden' with { type: 'text' }; export default text;"
            .to_owned(),
    ] {
        let val = siege.val(ValKind::Script, &import).await;
        let run = siege.mallory.run(&val, &json!({})).await.expect("a run");
        assert_eq!(
            (run.status, &run.return_value),
            (RunStatus::Error, &None),
            "{import}: {run:?}"
        );
        let told = json!([val.warnings, run]).to_string();
        assert!(!tells(siege, told.as_bytes()), "{told}");
        let code = json!({"code": import});
        let answer = siege.mallory.call(Method::POST, "/v1/eval", &code).await;
        let (status, answer) = answer.expect("an answer");
        assert!(
            status.is_client_error() && !tells(siege, &answer),
            "{status} {answer:?}"
        );
    }
}

/// What any user of the machine is shown of the server's processes, while the neighbour's vals have their secret.
async fn shows_nothing(siege: &Siege) {
    let before = siege.neighbour.loads.progress();
    let mut looks = 0;
    while !siege.neighbour.loads.went_on_since(&before) {
        let workers = [children(siege.server.id), told_of(&siege.server.data_dir)].concat();
        for pid in workers.into_iter().chain([siege.server.id]) {
            for what in ["cmdline", "environ"] {
                // It may be gone.
                let shown = fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
                looks += usize::from(!shown.is_empty());
                let text = String::from_utf8_lossy(&shown);
                assert!(!tells(siege, &shown), "{what} of {pid}: {text}");
            }
        }
        sleep(LOOK_AGAIN).await;
    }
    assert!(looks > 20, "{looks} looks");
}

/// What all workers may read holds nothing of private vals.
fn is_nowhere_in(siege: &Siege, folder: &Path) {
    let mut folders = vec![folder.to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                files += 1;
                assert!(!tells(siege, &bytes), "{}", path.display());
            }
        }
    }
    assert!(files > 0, "there is something in {}", folder.display());
}
