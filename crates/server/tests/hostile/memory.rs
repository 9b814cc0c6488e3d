//! Acts that would take all memory, of their worker or of the server.

use axum::http::StatusCode;
use hamlet_models::{FullRun, RunStatus, ValKind};

use crate::{
    folders::{LARGE, besieged, suffer_those_of},
    siege::Siege,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_grows_without_end_beside_a_neighbour() {
    let siege = besieged(LARGE).await;
    suffer_those_of(&siege, LARGE).await;
    siege
        .suffers("a heap that grows", async || heap(&siege).await)
        .await;
    siege
        .suffers("buffers that grow", async || buffers(&siege).await)
        .await;
    let one_piece = async || in_one_piece(&siege).await;
    siege.suffers("a gigabyte in one piece", one_piece).await;
    let doubles = async || code_that_doubles(&siege).await;
    siege.suffers("code that doubles", doubles).await;
    siege.over().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_huge_beside_a_neighbour() {
    let siege = Siege::start(&[("HAMLET_MEMORY_MB", "1000")]).await;
    let console = async || huge_line(&siege, "console.log('x'.repeat(1e8));").await;
    siege.suffers("a line of 100 MB", console).await;
    let raw = "const part = new Uint8Array(1e6).fill(97); for (let i = 0; i < 20; i++) Deno.stdout.writeSync(part);";
    siege
        .suffers("a raw line of 20 MB", async || huge_line(&siege, raw).await)
        .await;
    siege.over().await;
}

fn ran_out(run: &FullRun) {
    let error = run.error.as_ref().expect("a reason");
    assert_eq!(run.status, RunStatus::OutOfMemory, "{run:?}");
    assert_eq!(
        error.message,
        "used more than the 64 MB of memory that a run may use"
    );
    let said: Vec<&str> = run.logs.iter().map(|line| line.message.as_str()).collect();
    assert_eq!(
        said,
        ["before"],
        "what the engine says of itself is not the val's"
    );
}

/// As a script, and in a handler whose process others are answered by.
async fn heap(siege: &Siege) {
    let grow = "console.log('before'); const all = []; for (;;) all.push({ more: new Array(100).fill({}) });";
    ran_out(&siege.script(grow).await);
    let code = format!("export default () => {{ {grow} }}");
    let val = siege.val(ValKind::Http, &code).await;
    let (status, page) = siege.mallory.visit(&val, "/").await.expect("an answer");
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    assert!(
        String::from_utf8_lossy(&page).contains("64 MB of memory"),
        "{page:?}"
    );
    ran_out(&siege.latest_run(&val).await);
}

async fn buffers(siege: &Siege) {
    let grow = "console.log('before'); const all = [];
        for (;;) { all.push(new ArrayBuffer(1 << 20)); new Uint8Array(all.at(-1)).fill(1); }";
    ran_out(&siege.script(grow).await);
}

async fn in_one_piece(siege: &Siege) {
    let code = "export default () => { console.log('before'); return new Response(new Uint8Array(2 ** 30).fill(1)); };";
    let val = siege.val(ValKind::Http, code).await;
    let (status, page) = siege.mallory.visit(&val, "/").await.expect("an answer");
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{} bytes", page.len());
    ran_out(&siege.latest_run(&val).await);
}

/// Whoever parses this has terabytes to make of it.
async fn code_that_doubles(siege: &Siege) {
    let members: Vec<String> = (1..40)
        .map(|member| format!("A{member} = A{0} + A{0}", member - 1))
        .collect();
    let code = format!("enum Doubled {{ A0 = 'twice', {} }}", members.join(", "));
    let run = siege.script(&code).await;
    assert_eq!(run.status, RunStatus::Error);
    let error = run.error.as_ref().expect("a reason");
    assert!(error.message.contains("more than 256 MB of memory"), "{error:?}");
}

async fn huge_line(siege: &Siege, print: &str) {
    let run = siege.script(&format!("{print} export default 'after';")).await;
    assert_eq!(run.status, RunStatus::Ok, "{:?}", run.error);
    assert_eq!(run.return_value, Some("after".into()));
    let kept: usize = run.logs.iter().map(|line| line.message.len()).sum();
    assert!(run.truncated.logs && kept < 1_100_000, "{kept} bytes are kept");
    let last = run.logs.last().expect("a line");
    assert!(last.message.contains("cut here"), "{}", last.message);
}
